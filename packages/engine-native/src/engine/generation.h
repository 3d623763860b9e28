// One generation in flight: its sampler, its text, its times. The scheduler has its tokens and its slot; this class has the rest.
// Engine thread only.
#pragma once

#include "base/fields.h"
#include "base/types.h"
#include "engine/events.h"
#include "engine/slow_sampling.h"
#include "engine/text_stream.h"
#include "engine/thought.h"
#include "grammar/constraint.h"
#include "llama/context/context_params.h"
#include "llama/model/model.h"
#include "llama/vision/vision.h"
#include "sampling/sampler.h"
#include "sched/context_shift.h"
#include "sched/request.h"

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace engine {

/// A request as the caller gives it.
struct Submission {
    std::string client;
    int32_t priority = 0;
    std::vector<base::Token> prompt;
    sampling::Sampling sampling;
    /// Maximum number of tokens to generate; below 1 means as many as fit_context() allows.
    int32_t tokens_max;
    std::vector<std::string> stops;
    bool ignore_eos;
    /// Whether to use the prefix cache and leave the sequence there.
    bool uses_cache;
    /// The images in the prompt (base/types.h), including those in a part that was cut.
    llama::ImageParts images = {};
    /// Null: any text.
    std::shared_ptr<const grammar::Constraint> constraint = nullptr;
    /// How many of the likeliest tokens to report with each token; -1 reports no probabilities.
    int32_t logprobs = -1;
    /// One for each of the model's adapters, or none at all.
    std::vector<float> adapter_scales = {};
    /// What the reply will probably repeat: it is drafted from, and changes nothing about the reply.
    std::vector<base::Token> prediction = {};
    /// Whether to report how much of the prompt is computed.
    bool reports_prompt = false;
    /// How many of the likeliest tokens to report with each token of the prompt; -1 reports no probabilities. Without images, and
    /// without the prefix cache. The reply's log probabilities then include the token that ends it.
    int32_t prompt_logprobs = -1;
    /// Names the text for Engine::change_slot(), once the request has ended; -1 for no name.
    int32_t id_slot = -1;
    /// sched::Request::cache_salt; see is_salt().
    std::string cache_salt = {};
    ThoughtRules thought = {};
};

constexpr auto fields_of(const Submission*) {
    return base::rows(
        base::field("client", &Submission::client),
        base::field("priority", &Submission::priority, {.min = sched::kBackground, .max = 1}),
        base::field("tokens", &Submission::prompt), base::field("sampling", &Submission::sampling),
        base::field("maxTokens", &Submission::tokens_max, {.min = -1}),
        base::field("stops", &Submission::stops), base::field("ignoreEos", &Submission::ignore_eos),
        base::field("cachePrompt", &Submission::uses_cache), base::field("images", &Submission::images),
        base::field("constraint", &Submission::constraint, {.may_be_null = true}),
        base::field("logprobs", &Submission::logprobs, {.min = -1, .max = 20}),
        base::field("adapterScales", &Submission::adapter_scales),
        base::field("prediction", &Submission::prediction),
        base::field("reportsPrompt", &Submission::reports_prompt),
        base::field("promptLogprobs", &Submission::prompt_logprobs, {.min = -1, .max = 20}),
        base::field("idSlot", &Submission::id_slot, {.min = -1, .max = llama::kSlotsMax}),
        base::field("cacheSalt", &Submission::cache_salt), base::field("thought", &Submission::thought));
}

/// A request as it enters the engine: checked, with tokens_max at least 1.
struct GenerationRequest : Submission {
    base::RequestId id = 0;
    /// What may be dropped when the context is full; if absent, prompt and tokens_max together fit the context.
    std::optional<sched::ChatTurns> turns = std::nullopt;
    /// Tokens that were cut out of the prompt because it did not fit.
    int32_t dropped = 0;
    Clock::time_point submitted = Clock::now();
};

class Generation {
public:
    Generation(const llama::Model& model, GenerationRequest request);

    /// Its first token is about to be computed; `cached` tokens were in the prefix cache. A restart after a preemption changes
    /// nothing.
    void start(int32_t cached, Clock::time_point now);

    std::span<const float> adapter_scales() const { return request_.adapter_scales; }

    /// Its oldest chat turns were dropped, `tokens` in all, because it had filled the context.
    void count_dropped(int32_t tokens) { dropped_ += tokens; }
    /// `tokens` of its tokens were swapped in instead of being computed.
    void count_swapped_in(int32_t tokens) { cached_ += tokens; }

    struct Sampled {
        base::Token token;
        /// The generation ends with it.
        bool is_last;
    };
    /// Samples the token after these logits. Nothing if its grammar takes more than `share`: then sampling is slow, and resume()
    /// continues it from a copy of the logits.
    std::optional<Sampled> sample(float* logits, sampling::Candidates& candidates, grammar::WorkShare& share,
                                  Clock::time_point now);

    /// Whether sample_among() can choose the next `tokens` tokens if it gets `likeliest` of them.
    bool is_sampled_among(size_t likeliest, size_t tokens) const;
    /// Samples the token that sample() would, from the list of candidates.
    Sampled sample_among(sampling::Candidates& candidates, Clock::time_point now);

    /// Continues slow sampling for at most `steps`, and subtracts the steps used. True once the token is sampled; throws what
    /// sampling throws.
    bool resume(size_t& steps);

    /// The token, once resume() has returned true. sample() returns it too, if the logits were computed again meanwhile.
    Sampled take_slow_token(Clock::time_point now);

    /// Ends its thought, from the next token on, if it has one.
    void end_thought() { thought_.end(); }

    /// Counts the drafts that a step computed and accepted.
    void count_drafts(int32_t drafted, int32_t accepted);

    /// Notes the log probability of the prompt's token after `position`, from the logits of the token there. The first token has
    /// none: it gets NaN.
    void note_prompt(int32_t position, const float* logits, sampling::Candidates& candidates);

    /// Reports that `computed` tokens of it are computed, if that is news to be reported.
    std::optional<PromptEvent> take_prompt(int32_t computed, Clock::time_point now);

    /// The text that has become certain since the last call, if any. With the last text come all log probabilities that are left,
    /// if those of the prompt were requested.
    std::optional<TextEvent> take_text(bool is_last);

    /// Its last event. Without a `reason`, the generation ended by itself.
    FinishEvent finish(Clock::time_point now, std::optional<FinishReason> reason = std::nullopt) const;

private:
    base::Token choose(float* logits, sampling::Candidates& candidates, grammar::WorkShare* share);
    void begin_slowly(std::span<const float> logits);
    Sampled note(base::Token token, const float* logits, sampling::Candidates& candidates,
                 Clock::time_point now);
    bool take(base::Token token);
    void append_piece(base::Token token, std::string& bytes) const;
    void note_logprobs(base::Token token, const float* logits, sampling::Candidates& candidates);
    TokenLogprobs logprobs_of(base::Token token, const float* logits, int32_t top,
                              sampling::Candidates& candidates, bool writes_special) const;

    const llama::Model& model_;
    const GenerationRequest request_;
    sampling::Sampler sampler_;
    TextStream stream_;
    Thought thought_;
    int32_t cached_ = 0;
    int32_t dropped_;
    int32_t generated_ = 0;
    int32_t drafted_ = 0;
    int32_t accepted_ = 0;
    FinishReason reason_ = FinishReason::stop;

    std::string piece_;
    std::string text_;
    int32_t text_tokens_ = 0;
    std::vector<TokenLogprobs> text_logprobs_;

    /// Tokens of the prompt that were reported as computed; -1 before the first report.
    int32_t prompt_reported_ = -1;
    /// Tokens of the prompt whose logits are noted, and the log probabilities that were not reported yet.
    int32_t prompt_noted_ = 0;
    std::vector<TokenLogprobs> prompt_logprobs_;

    Clock::time_point started_{};
    Clock::time_point first_token_{};

    struct Slow {
        std::vector<float> logits;
        sampling::Candidates candidates;
        std::optional<base::Token> token;
        /// Last, so destroyed first: it uses the rest, and the sampler.
        std::optional<SlowSampling> sampling;
    };
    /// Null unless sampling is slow. Last, for the same reason.
    std::unique_ptr<Slow> slow_;
};

/// The generations in flight.
using Generations = std::unordered_map<base::RequestId, std::unique_ptr<Generation>>;

/// The error of a request that could not be computed: `out_of_memory` or `engine_failed`.
base::Error not_computed(base::Code code);
base::Error not_computed(const std::exception& error);

} // namespace engine
