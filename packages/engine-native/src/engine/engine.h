// The engine: one thread that owns the context and the scheduler, and turns requests into events.
//
//     submit, embed, cancel (any thread) ─▶ inbox ─▶ [engine thread: step, step, …] ─▶ events (one call a step) ─▶ listener
//
// A step, from top to bottom (engine.cpp):
//
//     take in     inbox and encoded images ─▶ scheduler, generations, embedding queue
//     schedule    Scheduler::schedule()    ─▶ StepPlan
//     execute     KvExecutor, BatchExecutor, TokenSampler ─▶ ExecutedStep ─▶ Scheduler::update()
//     publish     events and figures
//
// Cancelling works in every state and touches no other request. Stopping ends all requests with `disposed`.
#pragma once

#include "base/exit_guard.h"
#include "base/fields.h"
#include "base/result.h"
#include "base/threads.h"
#include "engine/batch_executor.h"
#include "engine/block_reports.h"
#include "engine/embedding_queue.h"
#include "engine/events.h"
#include "engine/generation.h"
#include "engine/images.h"
#include "engine/kv_executor.h"
#include "engine/slot_states.h"
#include "engine/state_file.h"
#include "engine/step_budgets.h"
#include "engine/step_times.h"
#include "engine/token_sampler.h"
#include "llama/context/context.h"
#include "llama/model/model.h"
#include "sched/scheduler.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

namespace engine {

/// Where drafts of the next tokens come from, besides a request's prediction and the model's own layers for it.
enum class SpeculationMode {
    off,
    /// The text itself, and earlier replies.
    ngram,
    /// EngineOptions::draft_model.
    draft_model,
};

struct EngineOptions {
    llama::ContextOptions context;
    /// Maximum number of prompt tokens per step beside decoding sequences; 0 adapts it to measured step times (step_cost.h).
    int32_t batch_tokens_busy;
    /// Maximum number of waiting requests; further ones are refused.
    int32_t waiting_max;
    /// Whether a chat that is too long for the context drops its oldest turns; if not, its prompt is refused or its reply ends.
    bool drops_turns;
    SpeculationMode speculation = SpeculationMode::off;
    /// Only with SpeculationMode::draft_model.
    std::shared_ptr<const llama::Model> draft_model = nullptr;
    /// Maximum number of tokens that `draft_model` drafts for one step; 0 for its own number.
    int32_t draft_tokens = 0;
    /// Size of the host KV tier; 0 disables it.
    uint64_t cache_ram_bytes = 0;
    /// Memory for checkpoints of recurrent state; with 0, no prefixes are shared.
    uint64_t checkpoint_bytes = uint64_t{256} * 1024 * 1024;
    /// Where the host KV tier is kept for the next engine of the same model.
    StateFile state_file = {};
    /// The folder of the files of change_slot(); empty for none. UTF-8.
    std::string slot_dir = {};
    /// Tokens per block in report_blocks(); 0 disables the reports. The seed is part of the blocks' hashes.
    int32_t kv_block_tokens = 0;
    uint64_t kv_block_seed = 0;
};

inline constexpr base::Rule<int32_t> kDraftTokens{.min = 0, .max = 64};

constexpr auto fields_of(const EngineOptions*) {
    constexpr base::Rule<int32_t> kCount{.min = 0, .max = 1 << 20};
    return base::rows(
        base::inlined(&EngineOptions::context),
        base::field("batchTokensBusy", &EngineOptions::batch_tokens_busy, kCount),
        base::field("waitingMax", &EngineOptions::waiting_max, kCount),
        base::choice("contextOverflow", &EngineOptions::drops_turns, {{"length", false}, {"shift", true}}),
        base::choice("speculation", &EngineOptions::speculation,
                     {{"off", SpeculationMode::off},
                      {"ngram", SpeculationMode::ngram},
                      {"draft-model", SpeculationMode::draft_model}}),
        base::field("draftTokens", &EngineOptions::draft_tokens, kDraftTokens),
        base::field("cacheRamBytes", &EngineOptions::cache_ram_bytes),
        base::field("checkpointBytes", &EngineOptions::checkpoint_bytes),
        base::inlined(&EngineOptions::state_file), base::field("slotDir", &EngineOptions::slot_dir),
        base::field("kvBlockTokens", &EngineOptions::kv_block_tokens, kCount),
        base::field("kvBlockSeed", &EngineOptions::kv_block_seed, {.as = base::As::bytes}));
}

/// Unless noted otherwise, counts are totals since the engine started.
struct Stats {
    /// The current number, like all figures up to `cells_cached`.
    int32_t running = 0;
    int32_t waiting = 0;
    int32_t cells = 0;
    /// Bytes per cell.
    uint64_t cell_bytes = 0;
    int32_t cells_used = 0;
    int32_t cells_cached = 0;
    uint64_t steps = 0;
    uint64_t prompt_tokens = 0;
    uint64_t images_encoded = 0;
    uint64_t generated_tokens = 0;
    uint64_t preemptions = 0;
    uint64_t context_shifts = 0;
    /// Number of drafts computed, and how many of them were accepted.
    uint64_t drafted_tokens = 0;
    uint64_t accepted_tokens = 0;
    /// The host KV tier: its memory and segments now, and segments that were swapped in.
    uint64_t cache_ram_bytes = 0;
    int32_t cache_ram_pieces = 0;
    uint64_t cache_ram_hits = 0;
    /// Memory of the context for embeddings now, unless it is a part of the model's plan.
    std::vector<MemoryBytes> embedding_memory = {};
    StepTimes times = {};
};

constexpr auto fields_of(const Stats*) {
    return base::rows(
        base::field("running", &Stats::running), base::field("waiting", &Stats::waiting),
        base::field("cells", &Stats::cells), base::field("cellBytes", &Stats::cell_bytes),
        base::field("cellsUsed", &Stats::cells_used), base::field("cellsCached", &Stats::cells_cached),
        base::field("steps", &Stats::steps), base::field("promptTokens", &Stats::prompt_tokens),
        base::field("generatedTokens", &Stats::generated_tokens),
        base::field("imagesEncoded", &Stats::images_encoded), base::field("preemptions", &Stats::preemptions),
        base::field("contextShifts", &Stats::context_shifts),
        base::field("draftedTokens", &Stats::drafted_tokens),
        base::field("acceptedTokens", &Stats::accepted_tokens),
        base::field("cacheRamBytes", &Stats::cache_ram_bytes),
        base::field("cacheRamPieces", &Stats::cache_ram_pieces),
        base::field("cacheRamHits", &Stats::cache_ram_hits),
        base::field("embeddingMemory", &Stats::embedding_memory), base::inlined(&Stats::times));
}

class Engine {
public:
    /// Called on the engine's thread, at most once a step, with the counters after it. It must not block and must not call the
    /// engine.
    using Listener = std::function<void(std::vector<Event>&& events, const Stats& stats)>;

    static base::Result<std::unique_ptr<Engine>> start(std::shared_ptr<const llama::Model> model,
                                                       const EngineOptions& options, Listener listener);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// Any thread. Returns the request's id, or `overloaded`, `context_length_exceeded`, `generation_not_supported`,
    /// `invalid_argument`, `worker_lost` or `disposed`. `id` is one that no other request has had; 0 lets the engine count, for
    /// all of its requests.
    base::Result<base::RequestId> submit(Submission submission, base::RequestId id = 0);

    /// Any thread. Requests the texts' vectors. `limits` apply to the context for embeddings if it has to be created and is not
    /// part of the model's plan. Fails as submit() does, and with `embeddings_not_supported`.
    base::Result<base::RequestId> embed(std::vector<std::vector<base::Token>> texts, MemoryLimits limits = {},
                                        base::RequestId id = 0);

    /// Any thread. Does nothing if there is no such request, or no longer.
    void cancel(base::RequestId id);

    /// Any thread. Ends the thought of a reply, from its next token on. Does nothing if there is no such request, or no thought.
    void end_thought(base::RequestId id);

    /// Any thread but the engine's, which it waits for. See SlotStates::change().
    base::Result<SlotChange> change_slot(const SlotCommand& command, const std::atomic<bool>& is_aborted) {
        return slot_states_.change(command, is_aborted);
    }

    /// Any thread. Requests one KvBlocksEvent, delivered as soon as there is something to report: the changes since the last one,
    /// or everything.
    void report_blocks(bool of_everything);

    /// Any thread.
    Stats stats() const;

    /// Asserts that scheduler and context agree on what is computed. The engine's thread, between steps: for tests, in their
    /// listener.
    void check_integrity();

    /// Any thread but the engine's. Idempotent; returns when the thread has ended and every request has had its last event.
    void stop();

    /// Stops without talking to workers: for the thread that carries their responses and is about to wait here.
    void abandon();

private:
    struct Cancel {
        base::RequestId id;
    };
    struct EndThought {
        base::RequestId id;
    };
    /// Only wakes the engine, which checks for encoded images and a requested block report in every step.
    struct WakeUp {};
    using Message = std::variant<GenerationRequest, EmbeddingRequest, Cancel, EndThought, WakeUp>;

    Engine(std::shared_ptr<const llama::Model> model, std::unique_ptr<llama::Context> context,
           std::unique_ptr<Speculation> speculation, const EngineOptions& options,
           const sched::Limits& limits, Listener listener);

    // Any thread.
    base::Result<base::RequestId> admit(auto request);
    void wake();

    // The engine's thread: the loop.
    void run(const std::stop_token& stop);
    bool step();
    void take_in();
    void execute(const sched::StepPlan& plan);
    void note_plan(const sched::StepPlan& plan);
    void note_result(const sched::StepPlan& plan);
    void embed_texts();
    void publish();
    void emit();

    void receive(GenerationRequest&& request);
    void receive(EmbeddingRequest&& request);
    void receive(const Cancel& cancel);
    void receive(const EndThought& asked);
    void receive(WakeUp) {}
    void emit_prompt(base::RequestId id, int32_t computed);
    void emit_text(base::RequestId id, bool is_last);
    void fail(FailureEvent failure);
    void forget(base::RequestId id);
    void end_all(const base::Error& error);
    void update_stats();

    // Constant after construction.
    const std::shared_ptr<const llama::Model> model_;
    const EngineOptions options_;
    const Listener listener_;
    const bool can_generate_;

    // Have their own locks.
    base::BoundedQueue<Message> inbox_;
    std::atomic<base::RequestId> next_id_ = 1;
    std::atomic<int32_t> in_flight_ = 0;
    std::atomic<bool> is_stopped_ = false;
    BlockReports block_reports_;
    SlotStates slot_states_;

    // Guarded by stats_mutex_.
    mutable std::mutex stats_mutex_;
    Stats stats_;

    // Owned by the engine's thread. The context is destroyed after everything that uses it.
    base::ThreadChecker owner_;
    std::unique_ptr<llama::Context> context_;
    sched::Scheduler scheduler_;
    /// Null if there are never drafts.
    const std::unique_ptr<Speculation> speculation_;
    StepBudgets budgets_;
    EmbeddingQueue embeddings_;
    Images images_;
    Generations generations_;
    KvExecutor kv_executor_;
    TokenSampler sampler_;
    BatchExecutor batch_executor_;
    /// Of the current step.
    ExecutedStep executed_;
    std::vector<Message> messages_;
    std::vector<Event> events_;
    Stats counted_;
    PhaseClock clock_;

    // Guarded by stop_mutex_. After everything above, so that the thread ends before anything it uses is destroyed.
    std::mutex stop_mutex_;
    std::jthread thread_;

    // Last, so destroyed first: it calls stop(). The first engine has its context by now, and with it llama.cpp's static objects.
    const base::ExitGuard<Engine> exit_guard_{[this] { abandon(); }};
};

} // namespace engine
