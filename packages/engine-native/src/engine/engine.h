// The engine: one thread that owns the context, the samplers and the scheduler, and turns requests into events.
//
//     submit, cancel (any thread) -> inbox -> [engine thread: turn, turn, …] -> events (one call a turn) -> listener
//
// Cancelling works in every state and touches no other request. Stopping ends what is running with `disposed`.
#pragma once

#include "base/bounded_queue.h"
#include "base/result.h"
#include "base/thread_checker.h"
#include "engine/draft_model.h"
#include "engine/embedding_queue.h"
#include "engine/events.h"
#include "engine/exit_guard.h"
#include "engine/generation.h"
#include "engine/host_memory.h"
#include "engine/images.h"
#include "engine/pace.h"
#include "engine/speculation.h"
#include "engine/state_file.h"
#include "llama/context/context.h"
#include "llama/model/model.h"
#include "sched/scheduler.h"

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

namespace engine {

struct EngineOptions {
    llama_rt::ContextOptions context;
    /// Most prompt tokens in a turn beside running replies; 0 lets the engine find the number (pace.h).
    int32_t batch_tokens_busy;
    /// Requests beyond the running ones; one more is refused.
    int32_t waiting_max;
    /// A chat that is too long for the context drops its oldest turns; else it is refused, or ends there.
    bool drops_turns;
    /// Several tokens in one turn, guessed from the text before them or by `draft_model`.
    bool speculates = false;
    /// Guesses for the model, where there is one: at most so many tokens in a turn.
    std::shared_ptr<const llama_rt::Model> draft_model = nullptr;
    int32_t draft_tokens = 0;
    /// Host memory for state that is evicted from the context; 0 keeps none.
    uint64_t cache_ram_bytes = 0;
    /// Where that memory is kept from this engine to the next one of the same model.
    StateFile state_file = {};
    /// Tokens of the blocks that report_blocks() tells of; 0 tells of none. The seed is part of their names.
    int32_t kv_block_tokens = 0;
    uint64_t kv_block_seed = 0;
};

/// A request as the caller gives it; the engine adds id and time.
struct Submission {
    std::string client;
    std::vector<base::Token> prompt;
    llama_rt::Sampling sampling;
    /// Most tokens to generate; below 1 means as many as fit_context() finds.
    int32_t tokens_max;
    std::vector<std::string> stops;
    bool ignore_eos;
    /// Shares its beginning with others, and leaves it to them.
    bool uses_cache;
    /// The images in the prompt; see base/image_tokens.h.
    llama_rt::ImageParts images = {};
    /// Null: any text.
    std::shared_ptr<const llama_rt::Constraint> constraint = nullptr;
    /// How many of the likeliest tokens are told for each token; -1 tells no probabilities at all.
    int32_t logprobs = -1;
};

struct Stats {
    int32_t running = 0;
    int32_t waiting = 0;
    int32_t cells = 0;
    /// What a cell takes, in bytes.
    uint64_t cell_bytes = 0;
    int32_t cells_used = 0;
    int32_t cells_cached = 0;
    uint64_t turns = 0;
    uint64_t prompt_tokens = 0;
    /// Images that were encoded.
    uint64_t images_encoded = 0;
    uint64_t generated_tokens = 0;
    uint64_t preemptions = 0;
    uint64_t context_shifts = 0;
    /// Tokens that were guessed and computed, and those of them that were right.
    uint64_t drafted_tokens = 0;
    uint64_t accepted_tokens = 0;
    uint64_t cache_ram_bytes = 0;
    int32_t cache_ram_pieces = 0;
    uint64_t cache_ram_hits = 0;
};

class Engine {
public:
    /// Called on the engine's thread, once a turn at most. It must not block and must not call the engine.
    using Listener = std::function<void(std::vector<Event>&& events)>;

    /// Steps of matching grammars (llama/stack_set.h) in one step of the engine, of all requests together: of those that
    /// need few, and of those that need many. A million take some ten milliseconds, so that no grammar delays anybody's next
    /// token by more than some fifteen.
    static constexpr size_t kGrammarStepsAtOnce = 1'000'000;
    static constexpr size_t kGrammarStepsSlowly = 500'000;

    static base::Result<std::unique_ptr<Engine>> start(std::shared_ptr<const llama_rt::Model> model,
                                                       const EngineOptions& options, Listener listener);
    ~Engine() { stop(); }
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// Any thread. `overloaded`, `context_length_exceeded`, `generation_not_supported`, `invalid_argument` or `disposed`;
    /// else the new id.
    base::Result<base::RequestId> submit(Submission submission);

    /// Any thread: the same for the vectors of texts, with `embeddings_not_supported`.
    base::Result<base::RequestId> embed(std::vector<std::vector<base::Token>> texts);

    /// Any thread. An id that is not there (any more) is ignored.
    void cancel(base::RequestId id);

    /// Any thread. One report of the blocks that can be reused follows, as soon as there is something to tell: what has changed
    /// since the one before, or all of it anew. So no report waits for one who is slow.
    void report_blocks(bool is_anew);

    /// Any thread.
    Stats stats() const;

    /// Asserts that scheduler and context agree on what is computed. The engine's thread, between turns: for tests, in
    /// their listener.
    void check_integrity();

    /// Any thread but the engine's. Idempotent; returns when the thread has ended and every request has its last event.
    void stop();

    /// The same without a word to workers: for the thread that carries what they answer, which is about to wait here.
    void abandon();

private:
    struct Cancel {
        base::RequestId id;
    };
    /// An image is encoded: only wakes the engine, which looks each turn.
    struct ImageReady {};
    /// The same for blocks_wanted_.
    struct BlocksWantedNow {};
    using Message = std::variant<GenerationRequest, EmbeddingRequest, Cancel, ImageReady, BlocksWantedNow>;
    /// What the next report of blocks is to tell.
    enum class BlocksWanted { nothing, changes, all };

    Engine(std::shared_ptr<const llama_rt::Model> model, std::unique_ptr<llama_rt::Context> context,
           std::unique_ptr<DraftModel> draft_model, const EngineOptions& options, const sched::Limits& limits,
           Listener listener);

    base::Result<base::RequestId> take_in(auto request);

    // Engine thread.
    void load_state();
    void save_state();
    void run(const std::stop_token& stop);
    bool turn();
    void compute(const sched::Plan& plan);
    void drain_inbox();
    void receive(GenerationRequest&& request);
    void receive(EmbeddingRequest&& request);
    void receive(const Cancel& cancel);
    void receive(ImageReady) {}
    void receive(BlocksWantedNow) {}
    void take_images();
    void embed_some();
    void note_shifts(const sched::Plan& plan);
    sched::TurnBudget budget();
    int32_t budget_busy(const sched::Counters& counters) const;
    void prepare_cells(const sched::Plan& plan);
    void share(const sched::CellOp& op, const sched::Plan& plan);
    void save(const sched::CellOp& op);
    void stash(const sched::CellOp& op);
    void restore(const sched::Plan& plan);
    void observe(const sched::Plan& plan, double ms);
    void decode(std::span<const sched::Step> steps, std::span<sched::Outcome> outcomes);
    void decode_in_halves(std::span<const sched::Step> steps, std::span<sched::Outcome> outcomes);
    void decode_failed(base::Code code, std::span<const sched::Step> steps,
                       std::span<sched::Outcome> outcomes);
    bool has_suspect(std::span<const sched::Step> steps) const;
    void start_over();
    sched::Outcome sample(const sched::Step& step, size_t part);
    sched::Outcome choose(const sched::Step& step, size_t part);
    void sample_slowly();
    void take_slow_token(base::RequestId id);
    void settle(const sched::Plan& plan);
    void fail(base::RequestId id, base::Code code);
    void fail(base::RequestId id, base::Error error);
    void forget(base::RequestId id);
    void emit();
    void publish();
    void add_block_report();
    void end_all(const base::Error& error);

    // Constant after construction.
    const std::shared_ptr<const llama_rt::Model> model_;
    const EngineOptions options_;
    const Listener listener_;
    const bool can_generate_;

    // Have their own locks.
    base::BoundedQueue<Message> inbox_;
    std::atomic<base::RequestId> next_id_ = 1;
    std::atomic<int32_t> in_house_ = 0;
    std::atomic<bool> is_stopped_ = false;
    std::atomic<BlocksWanted> blocks_wanted_ = BlocksWanted::nothing;

    // Guarded by stats_mutex_.
    mutable std::mutex stats_mutex_;
    Stats stats_;

    // Owned by the engine's thread.
    base::ThreadChecker owner_;
    std::unique_ptr<llama_rt::Context> context_;
    sched::Scheduler scheduler_;
    Pace pace_;
    /// The same for tokens of texts: an embedding's token costs more or less than one of a prompt.
    Pace embedding_pace_;
    /// Null without one.
    std::unique_ptr<DraftModel> draft_model_;
    Speculation speculation_;
    EmbeddingQueue embeddings_;
    Images images_;
    std::unordered_map<base::RequestId, std::unique_ptr<Generation>> generations_;
    std::unordered_map<base::CheckpointId, std::vector<uint8_t>> checkpoints_;
    /// Nobody knows any more whose state lies where: the turn ends, and everybody begins anew.
    bool is_torn_ = false;
    /// Requests that failed alone, or whose batch has torn the context: computed alone until they have got a token, and
    /// failed when that cannot be done.
    std::unordered_set<base::RequestId> suspects_;
    /// Requests that could not be given the state to begin with.
    std::vector<base::RequestId> blamed_;
    HostMemory host_memory_;
    /// Requests whose sampling is slow, in the order in which it goes on.
    std::deque<base::RequestId> slow_;
    /// Of kGrammarStepsAtOnce, in this step.
    size_t grammar_steps_left_ = 0;
    llama_rt::Candidates candidates_;
    std::vector<Message> messages_;
    std::vector<llama_rt::BatchPart> parts_;
    std::vector<sched::Outcome> outcomes_;
    std::vector<Event> events_;
    Stats counted_;

    // Guarded by stop_mutex_. After all the rest, so that the thread ends before anything it uses is gone.
    std::mutex stop_mutex_;
    std::jthread thread_;

    // Last, and so the first to go: it calls stop().
    const ExitGuard exit_guard_{[this] { abandon(); }};
};

} // namespace engine
