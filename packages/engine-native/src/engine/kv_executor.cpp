#include "engine/kv_executor.h"

#include "base/types.h"
#include "engine/generation.h"
#include "llama/backend/backend.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace engine {

using sched::Copied;
using sched::StepResult;

namespace {

template <class... Lambdas>
struct Overloaded : Lambdas... {
    using Lambdas::operator()...;
};

} // namespace

void KvExecutor::execute(const sched::StepPlan& plan, ExecutedStep& step) {
    for (const sched::KvOp& op : plan.kv_ops) {
        if (execute(op, step.result)) continue;
        step.result.is_cache_lost = true;
        const auto* share = std::get_if<sched::SharePrefix>(&op);
        if (share == nullptr) continue;
        const auto start = std::ranges::find(plan.starts, share->slot, &sched::Start::slot);
        if (start == plan.starts.end()) continue; // it was preempted again
        step.result.failed.push_back(start->id);
        step.failures.push_back({.id = start->id, .error = not_computed(base::Code::engine_failed)});
    }
}

bool KvExecutor::execute(const sched::KvOp& op, StepResult& result) {
    const bool is_lost = result.is_cache_lost;
    const Overloaded execute_one{
        [&](const sched::FreeSlot& one) { return is_lost || context_.remove(one.slot, 0); },
        [&](const sched::SharePrefix& one) {
            if (is_lost) return true;
            if (!context_.share(one.from, one.slot, 0, one.length)) return false;
            return one.checkpoint == 0 || context_.restore(one.slot, checkpoints_[one.checkpoint]);
        },
        [&](const sched::TrimSlot& one) { return is_lost || context_.remove(one.slot, one.length); },
        [&](const sched::ShiftCells& one) {
            return is_lost || context_.shift(one.slot, one.cut.keep, one.cut.drop);
        },
        [&](const sched::SaveCheckpoint& one) {
            std::vector<uint8_t>& state = checkpoints_[one.checkpoint];
            if (!is_lost) state = context_.save(one.slot);
            if (state.empty()) result.failed_checkpoints.push_back(one.checkpoint);
            return true;
        },
        [&](const sched::DropCheckpoint& one) {
            checkpoints_.erase(one.checkpoint);
            return true;
        },
        [&](const sched::SwapOut& one) {
            sched::SwappedOut swapped{.copied = Copied::not_tried, .bytes = 0};
            if (!is_lost) swapped = host_tier_.swap_out(context_, one, checkpoints_);
            result.swap_outs.push_back(swapped);
            return is_lost || !context_.is_torn();
        },
        [&](const sched::SwapIn& one) {
            Copied copied = Copied::not_tried;
            if (!is_lost) copied = host_tier_.swap_in(context_, one) ? Copied::done : Copied::failed;
            result.swap_ins.push_back(copied);
            return is_lost || !context_.is_torn();
        },
        [&](const sched::DropSegment& one) {
            host_tier_.drop(one.segment);
            return true;
        },
    };
    return std::visit(execute_one, op);
}

void KvExecutor::lose_cache() {
    context_.clear();
    checkpoints_.clear();
}

void KvExecutor::load(const StateFile& file, base::Token vocabulary_size, sched::Scheduler& scheduler) {
    if (file.path.empty()) return;
    adopt(read_state_file(file, host_tier_.bytes_max(), text_in(vocabulary_size)).segments, scheduler);
}

void KvExecutor::adopt(std::vector<SavedSegment>&& segments, sched::Scheduler& scheduler) {
    for (SavedSegment& saved : segments) {
        const sched::Text text(saved.text, saved.space);
        const int32_t reach = scheduler.kv_cache().host_tier().reach(text, saved.first);
        if (static_cast<size_t>(reach) >= saved.text.size()) continue;
        std::vector<int32_t> checkpoints;
        for (const auto& [length, bytes] : saved.segment.checkpoints) checkpoints.push_back(length);
        const uint64_t bytes = HostTierStore::size_of(saved.segment);
        const base::SegmentId id = scheduler.adopt_segment(text, saved.first, std::move(checkpoints), bytes);
        if (id != 0) host_tier_.adopt(id, std::move(saved.segment));
    }
}

void KvExecutor::save(const StateFile& file, sched::Scheduler& scheduler) {
    if (file.path.empty()) return;
    bool has_more = true;
    while (has_more) {
        ExecutedStep step;
        const sched::StepPlan& plan = scheduler.schedule_eviction();
        has_more = !plan.kv_ops.empty();
        execute(plan, step);
        scheduler.update(step.result);
        if (step.result.is_cache_lost) lose_cache();
    }
    const std::vector<sched::HostTier::Segment> segments = scheduler.kv_cache().host_tier().all();
    std::vector<SegmentView> views;
    for (const auto& [id, text, first, space] : segments) {
        const HostTierStore::Segment* segment = host_tier_.find(id);
        // Image ids are meaningful only in this process.
        if (std::ranges::any_of(text, base::is_image)) continue;
        if (segment != nullptr)
            views.push_back({.text = text, .space = space, .first = first, .segment = segment});
    }
    if (write_state_file(file, views) != StateWrite::done)
        llama::log_debug("The KV cache could not be written to the state file.\n");
}

} // namespace engine
