#include "engine/generation.h"

#include "sampling/softmax.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <utility>

namespace engine {

namespace {

/// What samplers need to know of the model, which must outlive them.
sampling::Vocabulary vocabulary_of(const llama::Model& model) {
    return {.size = model.info().vocabulary_size,
            .ends = model.end_tokens(),
            .append_piece = [&model](base::Token token, std::string& bytes) {
                model.append_piece(token, bytes, true);
            }};
}

/// With `ignore_eos`, no token that ends a reply is ever chosen.
sampling::Sampling sampling_of(const GenerationRequest& request) {
    sampling::Sampling sampling = request.sampling;
    if (request.ignore_eos) sampling.min_tokens = std::numeric_limits<int32_t>::max();
    return sampling;
}

} // namespace

Generation::Generation(const llama::Model& model, GenerationRequest request)
    : model_(model),
      request_(std::move(request)),
      sampler_(vocabulary_of(model), sampling_of(request_), request_.prompt, request_.constraint),
      stream_(request_.stops),
      thought_(request_.thought),
      dropped_(request_.dropped) {}

void Generation::start(int32_t cached, Clock::time_point now) {
    if (started_ != Clock::time_point{}) return;
    started_ = now;
    cached_ = cached;
}

std::optional<Generation::Sampled> Generation::sample(float* logits, sampling::Candidates& candidates,
                                                      grammar::WorkShare& share, Clock::time_point now) {
    if (slow_ != nullptr) return slow_->token ? std::optional(take_slow_token(now)) : std::nullopt;
    try {
        return note(choose(logits, candidates, &share), logits, candidates, now);
    } catch (const grammar::ShareUsedUp&) {
        begin_slowly({logits, static_cast<size_t>(model_.info().vocabulary_size)});
        return std::nullopt;
    }
}

/// The token that ends a thought, if it has to be ended, otherwise a sampled one.
base::Token Generation::choose(float* logits, sampling::Candidates& candidates, grammar::WorkShare* share) {
    if (const std::optional<base::Token> next = thought_.next()) {
        if (sampler_.take(*next, share)) return *next;
        thought_.give_up();
    }
    return sampler_.sample(logits, candidates, share);
}

bool Generation::is_sampled_among(size_t likeliest, size_t tokens) const {
    if (thought_.may_close_within(tokens)) return false;
    if (slow_ != nullptr || request_.logprobs >= 0 || request_.prompt_logprobs >= 0) return false;
    const std::optional<size_t> needed = sampler_.likeliest_needed(tokens);
    return needed && *needed + model_.suppressed().size() <= likeliest;
}

Generation::Sampled Generation::sample_among(sampling::Candidates& candidates, Clock::time_point now) {
    std::erase_if(candidates.list, [this](const sampling::Candidate& candidate) {
        return std::ranges::find(model_.suppressed(), candidate.token) != model_.suppressed().end();
    });
    return note(sampler_.sample_among_likeliest(candidates), nullptr, candidates, now);
}

void Generation::begin_slowly(std::span<const float> logits) {
    slow_ = std::make_unique<Slow>();
    slow_->logits.assign(logits.begin(), logits.end());
    slow_->sampling.emplace([this](grammar::WorkShare& share) {
        return choose(slow_->logits.data(), slow_->candidates, &share);
    });
}

bool Generation::resume(size_t& steps) {
    if (!slow_->sampling->resume(steps)) return false;
    slow_->token = slow_->sampling->token();
    return true;
}

Generation::Sampled Generation::take_slow_token(Clock::time_point now) {
    const std::unique_ptr<Slow> slow = std::move(slow_);
    return note(*slow->token, slow->logits.data(), slow->candidates, now);
}

Generation::Sampled Generation::note(base::Token token, const float* logits, sampling::Candidates& candidates,
                                     Clock::time_point now) {
    if (generated_ == 0) first_token_ = now;
    generated_ += 1;
    text_tokens_ += 1;
    if (thought_.is_followed()) {
        piece_.clear();
        model_.append_piece(token, piece_, true);
        thought_.note(piece_);
    }
    if (request_.logprobs >= 0) note_logprobs(token, logits, candidates);
    return {.token = token, .is_last = take(token)};
}

/// Turns a token into text. True if the generation ends with it.
bool Generation::take(base::Token token) {
    if (sampler_.continuation() == sampling::Continuation::blocked) {
        // The grammar allows nothing more. Reported like a limit, so that nobody takes the text for complete.
        reason_ = FinishReason::length;
        stream_.finish(text_);
        return true;
    }
    if (model_.is_end_of_generation(token)) {
        stream_.finish(text_);
        return true;
    }
    piece_.clear();
    append_piece(token, piece_);
    if (generated_ <= request_.sampling.min_tokens) stream_.pass(piece_, text_);
    else if (stream_.push(piece_, text_)) return true;
    const bool is_complete = sampler_.continuation() == sampling::Continuation::complete;
    if (!is_complete && generated_ < request_.tokens_max) return false;
    if (!is_complete) reason_ = FinishReason::length;
    stream_.finish(text_);
    return true;
}

void Generation::count_drafts(int32_t drafted, int32_t accepted) {
    drafted_ += drafted;
    accepted_ += accepted;
}

/// Tokens that end the text are not part of it, but count where the prompt's tokens do.
void Generation::note_logprobs(base::Token token, const float* logits, sampling::Candidates& candidates) {
    const bool is_of_text =
        !model_.is_end_of_generation(token) && sampler_.continuation() != sampling::Continuation::blocked;
    const bool has_prompt = request_.prompt_logprobs >= 0;
    if (is_of_text || has_prompt)
        text_logprobs_.push_back(logprobs_of(token, logits, request_.logprobs, candidates, has_prompt));
}

/// The log probabilities of a token and of the `top` likeliest ones. Special tokens have no bytes unless `writes_special`.
TokenLogprobs Generation::logprobs_of(base::Token token, const float* logits, int32_t top,
                                      sampling::Candidates& candidates, bool writes_special) const {
    const std::span all(logits, static_cast<size_t>(model_.info().vocabulary_size));
    TokenLogprobs noted{.chosen = {}, .top = {}};
    for (const auto& [one, logprob] : sampling::logprobs_of(all, token, top, candidates)) {
        TokenLogprob told{.id = one, .bytes = {}, .logprob = logprob};
        if (writes_special) model_.append_piece(one, told.bytes, true);
        else append_piece(one, told.bytes);
        noted.top.push_back(std::move(told));
    }
    noted.chosen = std::move(noted.top.front());
    noted.top.erase(noted.top.begin());
    return noted;
}

/// A preempted request computes its prompt again, and perhaps the start of its reply with it.
void Generation::note_prompt(int32_t position, const float* logits, sampling::Candidates& candidates) {
    if (position != prompt_noted_) return;
    prompt_noted_ += 1;
    if (position == 0) {
        prompt_logprobs_.push_back(
            {.chosen = {.id = request_.prompt[0], .bytes = {}, .logprob = std::nanf("")}, .top = {}});
        model_.append_piece(request_.prompt[0], prompt_logprobs_.back().chosen.bytes, true);
    }
    const auto next = static_cast<size_t>(position) + 1;
    if (next >= request_.prompt.size()) return;
    prompt_logprobs_.push_back(
        logprobs_of(request_.prompt[next], logits, request_.prompt_logprobs, candidates, true));
}

std::optional<PromptEvent> Generation::take_prompt(int32_t computed, Clock::time_point now) {
    if (!request_.reports_prompt && request_.prompt_logprobs < 0) return std::nullopt;
    const auto tokens = static_cast<int32_t>(request_.prompt.size());
    computed = std::min(computed, tokens);
    if (computed <= prompt_reported_) return std::nullopt;
    prompt_reported_ = computed;
    return PromptEvent{.id = request_.id,
                       .tokens = tokens,
                       .cached = cached_,
                       .computed = computed,
                       .ms = milliseconds(started_, now),
                       .logprobs = std::exchange(prompt_logprobs_, {})};
}

void Generation::append_piece(base::Token token, std::string& bytes) const {
    if (request_.constraint != nullptr) {
        const auto& spelled = request_.constraint->spelled;
        const auto found = std::ranges::find(spelled, token, &grammar::SpelledToken::token);
        if (found != spelled.end()) {
            bytes += found->text;
            return;
        }
    }
    model_.append_piece(token, bytes);
}

std::optional<TextEvent> Generation::take_text(bool is_last) {
    const bool takes_rest = is_last && request_.prompt_logprobs >= 0 && !text_logprobs_.empty();
    if (text_.empty() && !takes_rest) return std::nullopt;
    TextEvent event{.id = request_.id, .text = {}, .tokens = text_tokens_, .logprobs = {}};
    event.text.swap(text_);
    event.logprobs.swap(text_logprobs_);
    text_tokens_ = 0;
    return event;
}

FinishEvent Generation::finish(Clock::time_point now, std::optional<FinishReason> reason) const {
    const bool is_started = started_ != Clock::time_point{};
    const bool has_token = generated_ > 0;
    return {.id = request_.id,
            .reason = reason.value_or(reason_),
            .stop = stream_.stop(),
            .prompt_tokens = static_cast<int32_t>(request_.prompt.size()),
            .cached_tokens = cached_,
            .completion_tokens = generated_,
            .reasoning_tokens = thought_.tokens(),
            .dropped_tokens = dropped_,
            .drafted_tokens = drafted_,
            .accepted_tokens = accepted_,
            .queue_ms = milliseconds(request_.submitted, is_started ? started_ : now),
            .prompt_ms = is_started ? milliseconds(started_, has_token ? first_token_ : now) : 0,
            .predicted_ms = has_token ? milliseconds(first_token_, now) : 0};
}

base::Error not_computed(base::Code code) {
    if (code == base::Code::out_of_memory) {
        return {
            .code = code,
            .message =
                "There is not enough memory to compute this request now. Try again later, or load the model "
                "with a shorter context or fewer parallel requests."};
    }
    return {.code = code, .message = "The model could not compute this request."};
}

base::Error not_computed(const std::exception& error) {
    const bool is_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
    return not_computed(is_memory ? base::Code::out_of_memory : base::Code::engine_failed);
}

} // namespace engine
