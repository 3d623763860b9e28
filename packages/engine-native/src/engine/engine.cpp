#include "engine/engine.h"

#include "engine/choose_drafters.h"
#include "engine/limits.h"
#include "llama/backend/backend.h"
#include "llama/backend/workers.h"
#include "llama/model/speculator.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace engine {

using base::Code;
using Kind = sched::Outcome::Kind;

namespace {

/// Maximum length of a client key; a longer one is cut, and then shares its account with keys that begin with the same bytes.
constexpr size_t kClientBytesMax = 128;

constexpr const char* kTooManyRequests = "Too many requests are waiting. Try again in a moment.";

/// Room for every request to be submitted and cancelled, and for cancels of requests whose end is not yet known outside.
size_t inbox_size(const EngineOptions& options) {
    return 4 * static_cast<size_t>(options.context.sequences + options.waiting_max);
}

} // namespace

base::Result<std::unique_ptr<Engine>> Engine::start(std::shared_ptr<const llama::Model> model,
                                                    const EngineOptions& options, Listener listener) {
    if (auto checked = check_context(*model, options.context); !checked)
        return std::unexpected(checked.error());
    if (model->info().has_encoder_half) {
        return base::fail(Code::model_unsupported,
                          "Encoder-decoder models (" + model->info().architecture + ") are not supported.");
    }
    if (options.draft_model != nullptr && options.draft_model->info().speculator) {
        const auto checked = llama::check_speculator(*options.draft_model, *model);
        if (!checked) return std::unexpected(checked.error());
    }
    const llama::ContextOptions context_options =
        options_for(*model, options.context, options.draft_model.get());
    base::Result<std::unique_ptr<llama::Context>> context =
        llama::Context::create(model, context_options, slots_of(*model, context_options));
    if (!context) return std::unexpected(context.error());
    auto speculation = choose_drafters(options, context_options, model, **context);
    if (!speculation) return std::unexpected(speculation.error());
    sched::Limits limits =
        limits_of(*model, **context, context_options, options.cache_ram_bytes, options.checkpoint_bytes);
    limits.block_tokens = options.kv_block_tokens;
    limits.block_seed = options.kv_block_seed;
    std::unique_ptr<Engine> engine(new Engine(std::move(model), std::move(*context), std::move(*speculation),
                                              options, limits, std::move(listener)));
    engine->thread_ = std::jthread([raw = engine.get()](const std::stop_token& stop) { raw->run(stop); });
    return engine;
}

Engine::Engine(std::shared_ptr<const llama::Model> model, std::unique_ptr<llama::Context> context,
               std::unique_ptr<Speculation> speculation, const EngineOptions& options,
               const sched::Limits& limits, Listener listener)
    : model_(std::move(model)),
      options_(options),
      listener_(std::move(listener)),
      can_generate_(context->can_generate()),
      inbox_(inbox_size(options)),
      slot_states_({.folder = options.slot_dir,
                    .key = options.state_file.key,
                    .bytes_max = limits.host_tier_bytes,
                    .vocabulary_size = model_->info().vocabulary_size},
                   [this] { wake(); }),
      context_(std::move(context)),
      scheduler_(limits),
      speculation_(std::move(speculation)),
      budgets_({.batch_tokens = options.context.batch_tokens,
                .batch_tokens_busy = options.batch_tokens_busy,
                .outputs = context_->outputs_max(),
                .weighs_copies = context_->is_asynchronous()},
               speculation_.get()),
      embeddings_(model_, options.context, context_->threadpool()),
      images_(model_->vision(), [this] { wake(); }),
      kv_executor_(*context_, limits.host_tier_bytes),
      sampler_(generations_),
      batch_executor_(*context_, images_, sampler_, speculation_.get()) {
    counted_.cells = limits.cells;
    counted_.cell_bytes = context_->token_bytes();
    stats_ = counted_;
    kv_executor_.load(options_.state_file, model_->info().vocabulary_size, scheduler_);
}

base::Result<base::RequestId> Engine::submit(Submission submission, base::RequestId id) {
    if (!can_generate_) {
        return base::fail(Code::generation_not_supported,
                          "This model cannot generate text: it only computes embeddings.");
    }
    const base::Result<void> is_known =
        check_prompt(*model_, options_.context.tokens_at_once(), submission.prompt, submission.images);
    if (!is_known) return std::unexpected(is_known.error());
    if (const size_t scales = submission.adapter_scales.size();
        scales > 0 && scales != model_->adapters().size())
        return base::fail(Code::invalid_argument, "The scales are not those of this model's adapters.");
    if (auto checked = check_salt(submission.cache_salt); !checked) return std::unexpected(checked.error());
    if (auto checked = check_prediction(*model_, submission.prediction); !checked)
        return std::unexpected(checked.error());
    const bool has_prompt_logprobs = submission.prompt_logprobs >= 0;
    if (has_prompt_logprobs && (submission.uses_cache || !submission.images.empty()))
        return base::fail(Code::invalid_argument,
                          "Log probabilities of a prompt need cachePrompt false and no images.");
    GenerationRequest request{std::move(submission), id};
    request.client.resize(std::min(request.client.size(), kClientBytesMax));
    const base::Result<void> fits = fit_context(*model_, options_.context.context_length,
                                                options_.drops_turns && !has_prompt_logprobs, request);
    if (!fits) return std::unexpected(fits.error());
    if (ThoughtRules& thought = request.thought; thought.share > 0)
        thought.tokens_max = static_cast<int32_t>(static_cast<double>(thought.share) * request.tokens_max);
    return admit(std::move(request));
}

base::Result<base::RequestId> Engine::embed(std::vector<std::vector<base::Token>> texts, MemoryLimits limits,
                                            base::RequestId id) {
    const base::Result<void> are_computable = embeddings_.check(texts);
    if (!are_computable) return std::unexpected(are_computable.error());
    return admit(EmbeddingRequest{
        .id = id, .texts = std::move(texts), .limits = std::move(limits), .submitted = Clock::now()});
}

/// Puts a request into the inbox, and gives it an id if it has none.
base::Result<base::RequestId> Engine::admit(auto request) {
    if (is_stopped_.load()) return base::fail(Code::disposed, "The engine was stopped.");
    if (context_->is_worker_lost()) return std::unexpected(llama::worker_lost());
    if (in_flight_.fetch_add(1) >= options_.context.sequences + options_.waiting_max) {
        in_flight_.fetch_sub(1);
        return base::fail(Code::overloaded, kTooManyRequests);
    }
    if (request.id == 0) request.id = next_id_.fetch_add(1);
    const base::RequestId id = request.id;
    if (inbox_.push(std::move(request))) return id;
    in_flight_.fetch_sub(1);
    return base::fail(Code::overloaded, kTooManyRequests);
}

void Engine::cancel(base::RequestId id) {
    // Only repeated cancels can fill the inbox, and the first of them is in it.
    static_cast<void>(inbox_.push(Cancel{.id = id}));
}

void Engine::end_thought(base::RequestId id) {
    // A full inbox drops it: whoever wants it asks again.
    static_cast<void>(inbox_.push(EndThought{.id = id}));
}

void Engine::report_blocks(bool of_everything) {
    block_reports_.request(of_everything);
    wake();
}

void Engine::wake() {
    // If the inbox is full, the engine is awake anyway.
    static_cast<void>(inbox_.push(WakeUp{}));
}

Stats Engine::stats() const {
    std::lock_guard lock(stats_mutex_);
    return stats_;
}

Engine::~Engine() {
    stop();
}

void Engine::stop() {
    std::lock_guard lock(stop_mutex_);
    is_stopped_.store(true);
    slot_states_.stop();
    if (!thread_.joinable()) return;
    context_->abort();
    embeddings_.abort();
    if (speculation_ != nullptr) speculation_->abort();
    thread_.request_stop();
    thread_.join();
    images_.stop();
}

void Engine::abandon() {
    for (const auto& worker : model_->workers()) worker->shut_down();
    stop();
}

void Engine::run(const std::stop_token& stop) {
    bool has_work = false;
    // Without work, there are no requests, or they are waiting for their images to be encoded.
    while (!stop.stop_requested() && (has_work || inbox_.wait(stop))) has_work = step();
    take_in();
    end_all({.code = Code::disposed, .message = "The engine was stopped."});
    update_stats();
    emit();
    if (!context_->is_worker_lost()) kv_executor_.save(options_.state_file, scheduler_);
}

/// False if there was nothing to do.
bool Engine::step() {
    clock_.lap(); // the engine may have waited for work
    take_in();
    const sched::StepPlan& plan = scheduler_.schedule(budgets_.next(scheduler_.counters(), images_));
    const bool has_work = !plan.is_empty() || sampler_.has_slow();
    note_plan(plan);
    counted_.times.schedule_us += clock_.lap();
    {
        std::unique_lock<base::RoundRobinLock> cores;
        if (images_.cores() != nullptr) cores = std::unique_lock(*images_.cores());
        execute(plan);
    }
    // Without its worker, the context cannot compute any more, and its contents cannot be trusted.
    if (context_->is_worker_lost()) end_all(llama::worker_lost());
    publish();
    // A slow token that is finished gives the next step something to compute.
    return has_work || !embeddings_.is_empty() || sampler_.has_slow() || !slot_states_.is_empty();
}

void Engine::take_in() {
    owner_.check();
    inbox_.drain(messages_);
    for (Message& message : messages_) {
        std::visit([this](auto& one) { receive(std::move(one)); }, message);
    }
    slot_states_.take_in(scheduler_, kv_executor_);
    for (FailureEvent& failure : images_.receive()) {
        scheduler_.cancel(failure.id);
        fail(std::move(failure));
    }
}

void Engine::execute(const sched::StepPlan& plan) {
    const Clock::time_point step_begin = Clock::now();
    executed_.result.clear();
    executed_.failures.clear();
    kv_executor_.execute(plan, executed_);
    budgets_.observe_copies(plan.copied_tokens(), milliseconds(step_begin));
    if (!executed_.result.is_cache_lost && !slot_states_.copy(scheduler_, kv_executor_))
        executed_.result.is_cache_lost = true;
    counted_.times.cache_us += clock_.lap();
    const Clock::time_point batch_begin = Clock::now();
    if (!plan.batch.empty()) context_->use_adapters(generations_.at(plan.batch.front().id)->adapter_scales());
    batch_executor_.execute(plan.batch, executed_);
    // Sampling has waited for the logits, so the step is computed.
    const bool is_computed =
        !context_->is_asynchronous() || std::ranges::any_of(plan.batch, &sched::BatchEntry::samples);
    if (!plan.batch.empty() && !executed_.result.is_cache_lost)
        budgets_.observe(plan.batch, executed_.result.outcomes, milliseconds(batch_begin), is_computed);
    sampler_.sample_slowly(plan, scheduler_, executed_);
    counted_.times.note_batch(clock_.lap(), context_->counts());
    note_result(plan);
    scheduler_.update(executed_.result);
    if (executed_.result.is_cache_lost) kv_executor_.lose_cache();
    counted_.times.publish_us += clock_.lap();
    embed_texts();
    counted_.times.embed_us += clock_.lap();
    images_.set_piece(budgets_.encoding_ms(scheduler_.counters().decoding, milliseconds(step_begin)));
}

void Engine::note_plan(const sched::StepPlan& plan) {
    for (const sched::Start& start : plan.starts) {
        generations_.at(start.id)->start(start.cached, Clock::now());
        emit_prompt(start.id, start.cached);
    }
    for (const auto& [id, cut, is_recomputed] : plan.shifts) {
        generations_.at(id)->count_dropped(cut.drop);
        llama::log_debug("request " + std::to_string(id) +
                         " filled the context: " + std::to_string(cut.drop) + " tokens after the first " +
                         std::to_string(cut.keep) + " were dropped, and the rest is " +
                         (is_recomputed ? "computed again\n" : "moved\n"));
    }
}

/// Turns the outcome of the step into events.
void Engine::note_result(const sched::StepPlan& plan) {
    const sched::StepResult& result = executed_.result;
    auto swapped_in = result.swap_ins.begin();
    for (const sched::KvOp& op : plan.kv_ops) {
        const auto* swap_in = std::get_if<sched::SwapIn>(&op);
        if (swap_in != nullptr && *swapped_in++ == sched::Copied::done && !swap_in->is_resumed)
            generations_.at(swap_in->id)->count_swapped_in(swap_in->length - swap_in->first);
    }
    for (FailureEvent& failure : executed_.failures) fail(std::move(failure));
    for (size_t i = 0; i < plan.batch.size(); ++i) {
        const Kind kind = result.outcomes[i].kind;
        const sched::BatchEntry& entry = plan.batch[i];
        if (kind == Kind::failed || kind == Kind::skipped || !generations_.contains(entry.id)) continue;
        emit_prompt(entry.id, entry.first + static_cast<int32_t>(entry.tokens.size()));
        if (entry.samples) emit_text(entry.id, kind == Kind::finished);
    }
    for (const sched::LateToken& late : result.late_tokens) emit_text(late.id, late.is_last);
}

void Engine::embed_texts() {
    const uint64_t before = embeddings_.tokens_computed();
    const Clock::time_point begin = Clock::now();
    embeddings_.step(budgets_.embedding_tokens(scheduler_.counters().decoding), events_);
    const auto tokens = static_cast<int32_t>(embeddings_.tokens_computed() - before);
    budgets_.observe_embedding(tokens, milliseconds(begin));
}

void Engine::publish() {
    update_stats();
    if (std::optional<KvBlocksEvent> report = block_reports_.take(scheduler_.kv_cache().blocks()))
        events_.emplace_back(std::move(*report));
    emit();
    counted_.times.publish_us += clock_.lap();
}

/// Hands this step's events to the listener.
void Engine::emit() {
    if (events_.empty()) return;
    in_flight_.fetch_sub(static_cast<int32_t>(std::ranges::count_if(events_, ends_request)));
    listener_(std::move(events_), counted_);
    events_.clear();
}

/// Running out of memory fails only this request: the scheduler does not know it yet.
void Engine::receive(GenerationRequest&& request) {
    const base::RequestId id = request.id;
    try {
        sched::Request scheduled{.id = id,
                                 .client = request.client,
                                 .priority = request.priority,
                                 .prompt = request.prompt,
                                 .generate_max = request.tokens_max,
                                 .uses_cache = request.uses_cache,
                                 .boundaries = boundaries_of(*model_, request.prompt),
                                 .turns = request.turns,
                                 .adapters = model_->adapters().key_of(request.adapter_scales),
                                 .cache_salt = request.cache_salt,
                                 .wants_prompt_logits = request.prompt_logprobs >= 0,
                                 .id_slot = request.id_slot};
        images_.add(id, std::move(request.images));
        if (speculation_ != nullptr) {
            speculation_->begin(id, request.prediction,
                                request.uses_cache ? std::optional<std::string_view>(request.cache_salt)
                                                   : std::nullopt);
        }
        generations_.emplace(id, std::make_unique<Generation>(*model_, std::move(request)));
        scheduler_.submit(std::move(scheduled));
    } catch (const std::exception& error) {
        fail({.id = id, .error = not_computed(error)});
    }
}

void Engine::receive(EmbeddingRequest&& request) {
    embeddings_.add(std::move(request));
}

void Engine::receive(const Cancel& cancel) {
    if (const std::optional<FinishEvent> event = embeddings_.cancel(cancel.id)) events_.emplace_back(*event);
    if (!scheduler_.cancel(cancel.id)) return;
    events_.emplace_back(generations_.at(cancel.id)->finish(Clock::now(), FinishReason::cancelled));
    forget(cancel.id);
}

void Engine::receive(const EndThought& asked) {
    if (const auto found = generations_.find(asked.id); found != generations_.end())
        found->second->end_thought();
}

void Engine::emit_prompt(base::RequestId id, int32_t computed) {
    if (std::optional<PromptEvent> prompt = generations_.at(id)->take_prompt(computed, Clock::now()))
        events_.emplace_back(std::move(*prompt));
}

void Engine::emit_text(base::RequestId id, bool is_last) {
    Generation& generation = *generations_.at(id);
    if (std::optional<TextEvent> text = generation.take_text(is_last)) events_.emplace_back(std::move(*text));
    if (!is_last) return;
    events_.emplace_back(generation.finish(Clock::now()));
    forget(id);
}

void Engine::fail(FailureEvent failure) {
    const base::RequestId id = failure.id;
    events_.emplace_back(std::move(failure));
    forget(id);
}

void Engine::forget(base::RequestId id) {
    batch_executor_.forget(id);
    sampler_.forget(id);
    generations_.erase(id);
    images_.forget(id);
    if (speculation_ != nullptr) speculation_->forget(id);
}

void Engine::end_all(const base::Error& error) {
    for (const base::RequestId id : scheduler_.ids()) {
        scheduler_.cancel(id);
        fail({.id = id, .error = error});
    }
    embeddings_.end_all(error, events_);
}

void Engine::update_stats() {
    const sched::Counters counters = scheduler_.counters();
    const TokenSampler::Counts& sampled = sampler_.counts();
    counted_.steps += 1;
    counted_.running = counters.running + embeddings_.running();
    counted_.waiting = counters.waiting + embeddings_.waiting();
    counted_.cells_used = counters.cells_reserved;
    counted_.cells_cached = counters.cells_cached;
    counted_.prompt_tokens = batch_executor_.prompt_tokens() + embeddings_.tokens_computed();
    counted_.images_encoded = images_.encoded();
    counted_.generated_tokens = sampled.generated;
    counted_.preemptions = counters.preemptions;
    counted_.context_shifts = counters.context_shifts;
    counted_.drafted_tokens = sampled.drafted;
    counted_.accepted_tokens = sampled.accepted;
    counted_.cache_ram_bytes = kv_executor_.host_tier().bytes() + counters.host_tier_text_bytes;
    counted_.cache_ram_pieces = counters.segments;
    counted_.cache_ram_hits = counters.swap_ins;
    counted_.embedding_memory = embeddings_.unplanned_memory();
    std::lock_guard lock(stats_mutex_);
    stats_ = counted_;
}

void Engine::check_integrity() {
    owner_.check();
    scheduler_.check_integrity();
    const sched::HostTier& host_tier = scheduler_.kv_cache().host_tier();
    INGLE_ASSERT(kv_executor_.host_tier().size() ==
                 static_cast<size_t>(host_tier.size()) + host_tier.dropped());
    const std::vector<int32_t> held = scheduler_.held();
    for (size_t slot = 0; slot < held.size(); ++slot) {
        if (held[slot] == 0) continue;
        // Cells of rejected drafts are trimmed with the next plan.
        const auto at = static_cast<base::Slot>(slot);
        INGLE_ASSERT(options_.speculation != SpeculationMode::off || counted_.drafted_tokens > 0
                         ? context_->reaches(at, held[slot])
                         : context_->ends_at(at, held[slot]));
    }
}

} // namespace engine
