#include "engine/engine.h"

#include "engine/fit_context.h"
#include "engine/limits.h"
#include "engine/prompt_check.h"
#include "llama/backend/backend.h"
#include "llama/backend/workers.h"

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <utility>

namespace engine {

using base::Code;
using sched::Outcome;
using Kind = sched::Outcome::Kind;

namespace {

/// Longest client key that is kept; a longer one is cut, and shares its account with what begins alike.
constexpr size_t kClientBytesMax = 128;

/// Room for every request to come in and to be cancelled, and for cancels of those whose end is not yet known outside.
size_t inbox_size(const EngineOptions& options) {
    return 4 * static_cast<size_t>(options.context.sequences + options.waiting_max);
}

double milliseconds_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

} // namespace

base::Result<std::unique_ptr<Engine>> Engine::start(std::shared_ptr<const llama_rt::Model> model,
                                                    const EngineOptions& options, Listener listener) {
    if (model->info().has_encoder_half) {
        return base::fail(Code::model_unsupported,
                          "A model that reads with one half and writes with the other (" +
                              model->info().architecture + ") cannot be run here.");
    }
    const llama_rt::ContextOptions context_options = options_for(*model, options.context);
    base::Result<std::unique_ptr<llama_rt::Context>> context =
        llama_rt::Context::create(model, context_options, slots_of(*model, context_options));
    if (!context) return std::unexpected(context.error());
    std::unique_ptr<DraftModel> draft_model;
    if (options.draft_model != nullptr) {
        auto made = DraftModel::create(options.draft_model, *model, options.context);
        if (!made) return std::unexpected(made.error());
        draft_model = std::move(*made);
    }
    sched::Limits limits = limits_of(*model, **context, context_options, options.cache_ram_bytes);
    limits.block_tokens = options.kv_block_tokens;
    limits.block_seed = options.kv_block_seed;
    std::unique_ptr<Engine> engine(new Engine(std::move(model), std::move(*context), std::move(draft_model),
                                              options, limits, std::move(listener)));
    engine->thread_ = std::jthread([raw = engine.get()](const std::stop_token& stop) { raw->run(stop); });
    return engine;
}

Engine::Engine(std::shared_ptr<const llama_rt::Model> model, std::unique_ptr<llama_rt::Context> context,
               std::unique_ptr<DraftModel> draft_model, const EngineOptions& options,
               const sched::Limits& limits, Listener listener)
    : model_(std::move(model)),
      options_(options),
      listener_(std::move(listener)),
      can_generate_(context->can_generate()),
      inbox_(inbox_size(options)),
      context_(std::move(context)),
      scheduler_(limits),
      pace_(options.context.batch_tokens),
      embedding_pace_(options.context.batch_tokens),
      draft_model_(std::move(draft_model)),
      speculation_(draft_model_.get(), options.draft_tokens),
      embeddings_(model_, options.context, context_->threadpool()),
      images_(model_->vision(), [this] { static_cast<void>(inbox_.push(ImageReady{})); }),
      host_memory_(limits.stash_bytes) {
    counted_.cells = limits.cells;
    counted_.cell_bytes = context_->token_bytes();
    stats_ = counted_;
    load_state();
}

base::Result<base::RequestId> Engine::submit(Submission submission) {
    if (!can_generate_) {
        return base::fail(Code::generation_not_supported,
                          "This model generates no text: it reads whole texts and gives embeddings of them.");
    }
    const base::Result<void> is_known =
        check_prompt(*model_, options_.context.batch_tokens, submission.prompt, submission.images);
    if (!is_known) return std::unexpected(is_known.error());
    GenerationRequest request{
        .id = 0,
        .client = std::move(submission.client),
        .prompt = std::move(submission.prompt),
        .images = std::move(submission.images),
        .sampling = std::move(submission.sampling),
        .generate_max = submission.tokens_max,
        .stops = std::move(submission.stops),
        .ignore_eos = submission.ignore_eos,
        .uses_cache = submission.uses_cache,
        .turns = std::nullopt,
        .dropped = 0,
        .constraint = std::move(submission.constraint),
        .logprobs = submission.logprobs,
        .submitted = Clock::now(),
    };
    request.client.resize(std::min(request.client.size(), kClientBytesMax));
    const base::Result<void> fits =
        fit_context(*model_, options_.context.context_length, options_.drops_turns, request);
    if (!fits) return std::unexpected(fits.error());
    return take_in(std::move(request));
}

base::Result<base::RequestId> Engine::embed(std::vector<std::vector<base::Token>> texts) {
    const base::Result<void> are_computable = embeddings_.check(texts);
    if (!are_computable) return std::unexpected(are_computable.error());
    return take_in(EmbeddingRequest{.id = 0, .texts = std::move(texts), .submitted = Clock::now()});
}

/// Puts a request in line, with an id.
base::Result<base::RequestId> Engine::take_in(auto request) {
    if (is_stopped_.load()) return base::fail(Code::disposed, "The engine was stopped.");
    if (context_->is_worker_lost()) return std::unexpected(llama_rt::worker_lost());
    if (in_house_.fetch_add(1) >= options_.context.sequences + options_.waiting_max) {
        in_house_.fetch_sub(1);
        return base::fail(Code::overloaded, "Too many requests are waiting. Try again in a moment.");
    }
    const base::RequestId id = next_id_.fetch_add(1);
    request.id = id;
    if (inbox_.push(std::move(request))) return id;
    in_house_.fetch_sub(1);
    return base::fail(Code::overloaded, "Too many requests are waiting. Try again in a moment.");
}

void Engine::cancel(base::RequestId id) {
    // A full inbox means that cancels were repeated; the first of them is in it.
    static_cast<void>(inbox_.push(Cancel{.id = id}));
}

void Engine::report_blocks(bool is_anew) {
    auto nothing = BlocksWanted::nothing;
    if (is_anew) blocks_wanted_.store(BlocksWanted::all);
    else blocks_wanted_.compare_exchange_strong(nothing, BlocksWanted::changes);
    // Only wakes it: where the inbox is full, it is awake.
    static_cast<void>(inbox_.push(BlocksWantedNow{}));
}

Stats Engine::stats() const {
    std::lock_guard lock(stats_mutex_);
    return stats_;
}

void Engine::stop() {
    std::lock_guard lock(stop_mutex_);
    is_stopped_.store(true);
    if (!thread_.joinable()) return;
    context_->abort();
    embeddings_.abort();
    if (draft_model_ != nullptr) draft_model_->abort();
    thread_.request_stop();
    thread_.join();
    images_.stop();
}

void Engine::abandon() {
    for (const auto& worker : model_->workers()) worker->shut_down();
    stop();
}

void Engine::run(const std::stop_token& stop) {
    bool has_work = true;
    while (!stop.stop_requested()) {
        const sched::Counters counters = scheduler_.counters();
        const bool is_idle = counters.running + counters.waiting == 0 && embeddings_.is_empty();
        // What does nothing and is not idle waits for images.
        if ((is_idle || !has_work) && !inbox_.wait(stop)) break;
        has_work = turn();
    }
    drain_inbox();
    end_all({.code = Code::disposed, .message = "The engine was stopped."});
    publish();
    emit();
    if (!context_->is_worker_lost()) save_state();
}

/// False when there was nothing to be done.
bool Engine::turn() {
    drain_inbox();
    const sched::Plan& plan = scheduler_.plan(budget());
    for (const sched::Start& start : plan.starts)
        generations_.at(start.id)->start(start.cached, Clock::now());
    // Slow sampling that is done in this turn gives the next one something to compute.
    const bool has_work = !plan.cells.empty() || !plan.restores.empty() || !plan.steps.empty() ||
                          !plan.shifts.empty() || !slow_.empty();
    {
        std::unique_lock<TakingTurns> cores;
        if (images_.cores() != nullptr) cores = std::unique_lock(*images_.cores());
        compute(plan);
    }
    // Nobody who is here can be helped any more, and what the context holds is nobody's.
    if (context_->is_worker_lost()) end_all(llama_rt::worker_lost());
    publish();
    add_block_report();
    emit();
    return has_work || !embeddings_.is_empty() || !slow_.empty();
}

void Engine::compute(const sched::Plan& plan) {
    const Clock::time_point turn_begin = Clock::now();
    prepare_cells(plan);
    note_shifts(plan);
    restore(plan);
    const Clock::time_point begin = Clock::now();
    if (!plan.steps.empty()) {
        grammar_steps_left_ = kGrammarStepsAtOnce;
        outcomes_.assign(plan.steps.size(), Outcome{.kind = Kind::skipped});
        const auto first_image = std::ranges::find_if(plan.steps, &sched::Step::is_image);
        const auto texts = static_cast<size_t>(first_image - plan.steps.begin());
        const std::span steps(plan.steps);
        if (texts > 0) decode(steps.first(texts), std::span(outcomes_).first(texts));
        if (texts < steps.size()) decode(steps.subspan(texts), std::span(outcomes_).subspan(texts));
        if (!is_torn_) observe(plan, milliseconds_since(begin));
        settle(plan);
    }
    if (is_torn_) start_over();
    sample_slowly();
    embed_some();
    const bool has_replies = scheduler_.counters().decoding > 0 && pace_.decoding_turn_ms() > 0;
    images_.set_piece(has_replies ? pace_.decoding_turn_ms() : milliseconds_since(turn_begin));
}

/// A batch of texts is like a piece of a prompt for those whose replies run: they wait no longer for it.
void Engine::embed_some() {
    const int32_t decoding = scheduler_.counters().decoding;
    int32_t tokens_max = options_.context.batch_tokens;
    if (decoding > 0) {
        const int32_t busy = options_.batch_tokens_busy;
        tokens_max = busy > 0 ? busy : embedding_pace_.budget_busy(decoding, 0);
    }
    const uint64_t before = embeddings_.tokens_computed();
    const Clock::time_point begin = Clock::now();
    embeddings_.turn(tokens_max, events_);
    const auto tokens = static_cast<int32_t>(embeddings_.tokens_computed() - before);
    if (tokens > 0) embedding_pace_.observe(0, tokens, milliseconds_since(begin));
}

sched::TurnBudget Engine::budget() {
    const sched::Counters counters = scheduler_.counters();
    sched::TurnBudget budget{.prompt_busy = budget_busy(counters), .images = &images_};
    if (!options_.speculates) return budget;
    speculation_.begin_turn(counters.decoding);
    budget.outputs = context_->outputs_max();
    budget.drafter = &speculation_;
    return budget;
}

int32_t Engine::budget_busy(const sched::Counters& counters) const {
    if (options_.batch_tokens_busy > 0) return options_.batch_tokens_busy;
    // Only those in line count that have a place to go to.
    const int32_t places = options_.context.sequences - counters.running;
    const int32_t waiting = counters.running - counters.decoding + std::min(counters.waiting, places);
    return pace_.budget_busy(counters.decoding, waiting, images_.piece_taken_ms());
}

/// Lets pace and speculation know how long the turn took for how many tokens.
void Engine::observe(const sched::Plan& plan, double ms) {
    int32_t decoding = 0;
    int32_t prompt = 0;
    int32_t drafts = 0;
    int32_t given = 0;
    for (const sched::Step& step : plan.steps) {
        if (step.tokens.size() == 1 && step.sample) decoding += 1;
        else prompt += static_cast<int32_t>(step.tokens.size());
        drafts += static_cast<int32_t>(step.drafts.size());
    }
    for (const Outcome& outcome : outcomes_) given += outcome.accepted + 1;
    if (drafts == 0) pace_.observe(decoding, prompt, ms);
    if (drafts == 0 && prompt == 0) embedding_pace_.observe(decoding, 0, ms);
    if (prompt == 0) speculation_.observe(decoding + drafts, given, ms);
}

void Engine::drain_inbox() {
    owner_.check();
    inbox_.drain(messages_);
    for (Message& message : messages_) {
        std::visit([this](auto& one) { receive(std::move(one)); }, message);
    }
    take_images();
}

/// What there is no memory for fails, before the scheduler knows of it.
void Engine::receive(GenerationRequest&& request) {
    const base::RequestId id = request.id;
    try {
        sched::Request scheduled{.id = id,
                                 .client = request.client,
                                 .prompt = request.prompt,
                                 .generate_max = request.generate_max,
                                 .uses_cache = request.uses_cache,
                                 .boundaries = boundaries_of(*model_, request.prompt),
                                 .turns = request.turns};
        images_.add(id, std::move(request.images));
        generations_.emplace(id, std::make_unique<Generation>(*model_, std::move(request)));
        scheduler_.submit(std::move(scheduled));
    } catch (const std::bad_alloc&) {
        fail(id, Code::out_of_memory);
    } catch (const std::exception&) {
        fail(id, Code::engine_failed);
    }
}

void Engine::receive(EmbeddingRequest&& request) {
    embeddings_.add(std::move(request));
}

void Engine::receive(const Cancel& cancel) {
    if (const std::optional<FinishEvent> event = embeddings_.cancel(cancel.id)) events_.emplace_back(*event);
    if (!scheduler_.cancel(cancel.id)) return;
    events_.emplace_back(generations_.at(cancel.id)->cancelled(Clock::now()));
    forget(cancel.id);
}

/// Who waits for an image finds it, or ends with it.
void Engine::take_images() {
    for (Images::Failure& failure : images_.receive()) {
        scheduler_.cancel(failure.id);
        fail(failure.id, std::move(failure.error));
    }
}

/// Computes and samples some steps of the turn, all of texts or all of images. A batch that fails is tried again in
/// halves, so that only the sequences fail that cannot be computed even alone.
void Engine::decode(std::span<const sched::Step> steps, std::span<Outcome> outcomes) {
    if (is_torn_) return;
    if (steps.size() > 1 && has_suspect(steps)) return decode_in_halves(steps, outcomes);
    parts_.clear();
    for (const sched::Step& step : steps) {
        parts_.push_back({.slot = step.slot,
                          .first = step.first,
                          .tokens = step.tokens,
                          .wants_logits = step.sample,
                          .drafts = step.drafts});
        if (!step.is_image()) continue;
        const auto [part, embedding] = images_.source(step);
        parts_.back().image = part;
        parts_.back().embedding = embedding;
        parts_.back().offset = step.image_offset;
    }
    switch (context_->decode(parts_)) {
        case llama_rt::Decoded::ok:
            for (size_t i = 0; i < steps.size(); ++i) outcomes[i] = sample(steps[i], i);
            return;
        case llama_rt::Decoded::aborted: // the engine is being stopped: end_all() tells everybody
            is_torn_ = !context_->undo(parts_);
            return;
        case llama_rt::Decoded::worker_lost: return; // turn() ends all requests
        case llama_rt::Decoded::failed: return decode_failed(Code::engine_failed, steps, outcomes);
        case llama_rt::Decoded::out_of_memory: return decode_failed(Code::out_of_memory, steps, outcomes);
    }
}

/// Tells the scheduler and collects the turn's events. Who failed has been told so.
void Engine::settle(const sched::Plan& plan) {
    const Clock::time_point now = Clock::now();
    for (size_t i = 0; i < plan.steps.size(); ++i) {
        const base::RequestId id = plan.steps[i].id;
        const Kind kind = outcomes_[i].kind;
        if (plan.steps[i].is_image() && (kind == Kind::advanced || kind == Kind::finished))
            images_.computed(plan.steps[i]);
        if (!plan.steps[i].sample || kind == Kind::failed || kind == Kind::skipped) continue;
        Generation& generation = *generations_.at(id);
        if (TextEvent text = generation.take_text(); !text.text.empty())
            events_.emplace_back(std::move(text));
        if (kind != Kind::finished) continue;
        events_.emplace_back(generation.finish(now));
        forget(id);
    }
    scheduler_.apply(outcomes_);
}

void Engine::forget(base::RequestId id) {
    generations_.erase(id);
    suspects_.erase(id);
    std::erase(slow_, id);
    images_.forget(id);
    speculation_.forget(id);
}

/// Hands this turn's events over. The house is as full as there are generations.
void Engine::emit() {
    if (events_.empty()) return;
    in_house_.fetch_sub(static_cast<int32_t>(std::ranges::count_if(events_, ends_request)));
    listener_(std::move(events_));
    events_.clear();
}

void Engine::publish() {
    const sched::Counters counters = scheduler_.counters();
    counted_.turns += 1;
    counted_.running = counters.running + embeddings_.running();
    counted_.waiting = counters.waiting + embeddings_.waiting();
    counted_.cells_used = counters.cells_reserved;
    counted_.cells_cached = counters.cells_cached;
    counted_.preemptions = counters.preemptions;
    counted_.context_shifts = counters.shifts;
    counted_.cache_ram_bytes = host_memory_.bytes() + counters.stash_text_bytes;
    counted_.cache_ram_pieces = counters.stashes;
    counted_.cache_ram_hits = counters.stash_hits;
    counted_.images_encoded = images_.encoded();
    std::lock_guard lock(stats_mutex_);
    stats_ = counted_;
    stats_.prompt_tokens += embeddings_.tokens_computed();
}

void Engine::end_all(const base::Error& error) {
    for (const base::RequestId id : scheduler_.ids()) {
        scheduler_.cancel(id);
        fail(id, error);
    }
    embeddings_.end_all(error, events_);
}

} // namespace engine
