// Executes a plan's KV operations on the context: shares, trims and shifts cells, saves checkpoints, and copies state to and
// from the host KV tier. Engine thread only.
//
// A failed operation may leave it unknown which sequence holds which cells. Then the step's cache is lost: later operations touch
// no cells, no batch is computed, and lose_cache() empties the context.
#pragma once

#include "engine/events.h"
#include "engine/host_tier_store.h"
#include "engine/state_file.h"
#include "llama/context/context.h"
#include "sched/scheduler.h"
#include "sched/step.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace engine {

class KvExecutor {
public:
    /// `context` must outlive this.
    KvExecutor(llama::Context& context, uint64_t host_tier_bytes)
        : context_(context), host_tier_(host_tier_bytes) {}

    /// Executes the operations in order and adds their outcomes to `step`. A request whose prefix could not be shared
    /// fails: it is the likeliest cause, and would fail again.
    void execute(const sched::StepPlan& plan, ExecutedStep& step);

    /// Empties the context. The host KV tier stays.
    void lose_cache();

    /// Reads the segments that an earlier engine of the same model saved. Skips texts with tokens outside `vocabulary_size`.
    void load(const StateFile& file, base::Token vocabulary_size, sched::Scheduler& scheduler);

    /// Evicts all cached sequences and writes all segments for the next engine.
    /// REQUIRES: nothing runs.
    void save(const StateFile& file, sched::Scheduler& scheduler);

    /// Adds segments that an engine of the same model saved to the host KV tier, as far as they have room and it does not have
    /// them.
    void adopt(std::vector<SavedSegment>&& segments, sched::Scheduler& scheduler);

    /// A copy of a part of a text's state. Nothing if it takes more than `bytes_max` or cannot be made; is_torn() may be true then.
    std::optional<HostTierStore::Segment> copy(const sched::KeptPart& part, uint64_t bytes_max) const {
        return host_tier_.copy(context_, part, checkpoints_, bytes_max);
    }
    /// Whether a copy has made the context's contents unknown: then call lose_cache().
    bool is_torn() const { return context_.is_torn(); }

    const HostTierStore& host_tier() const { return host_tier_; }

private:
    /// Adds the outcome to `result`, and returns false if the context's state is unknown afterwards.
    bool execute(const sched::KvOp& op, sched::StepResult& result);

    llama::Context& context_;
    Checkpoints checkpoints_;
    HostTierStore host_tier_;
};

} // namespace engine
