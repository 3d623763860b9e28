// The part of the engine that does to the context's cells what the scheduler has planned, before a turn is computed.
#include "engine/engine.h"
#include "llama/backend/backend.h"

#include <algorithm>
#include <optional>
#include <string>

namespace engine {

void Engine::prepare_cells(const sched::Plan& plan) {
    for (const sched::CellOp& op : plan.cells) {
        switch (op.kind) {
            case sched::CellOp::Kind::free: is_torn_ |= !context_->remove(op.slot, 0); break;
            case sched::CellOp::Kind::share: share(op, plan); break;
            case sched::CellOp::Kind::save: save(op); break;
            case sched::CellOp::Kind::drop: checkpoints_.erase(op.checkpoint); break;
            case sched::CellOp::Kind::shift:
                is_torn_ |= !context_->shift(op.slot, op.length, op.dropped);
                break;
            case sched::CellOp::Kind::trim: is_torn_ |= !context_->remove(op.slot, op.length); break;
            case sched::CellOp::Kind::keep:
                host_memory_.keep(op.stash, op.length, checkpoints_[op.checkpoint]);
                break;
            case sched::CellOp::Kind::stash: stash(op); break;
            case sched::CellOp::Kind::discard: host_memory_.discard(op.stash); break;
        }
    }
}

void Engine::share(const sched::CellOp& op, const sched::Plan& plan) {
    bool is_shared = context_->share(op.from, op.slot, 0, op.length);
    if (op.checkpoint != 0) is_shared = is_shared && context_->restore(op.slot, checkpoints_[op.checkpoint]);
    if (is_shared) return;
    is_torn_ = true;
    const auto start = std::ranges::find(plan.starts, op.slot, &sched::Start::slot);
    if (start != plan.starts.end()) blamed_.push_back(start->id); // else it has given way already
}

void Engine::save(const sched::CellOp& op) {
    std::vector<uint8_t>& state = checkpoints_[op.checkpoint];
    if (!is_torn_) state = context_->save(op.slot);
    if (state.empty()) scheduler_.forget(op.checkpoint);
}

void Engine::note_shifts(const sched::Plan& plan) {
    for (const auto& [id, cut, is_recomputed] : plan.shifts) {
        generations_.at(id)->drop(cut.drop);
        llama_rt::log_debug("request " + std::to_string(id) +
                            " filled the context: " + std::to_string(cut.drop) + " tokens after the first " +
                            std::to_string(cut.keep) + " were dropped, and the rest is " +
                            (is_recomputed ? "computed anew\n" : "moved\n"));
    }
}

void Engine::stash(const sched::CellOp& op) {
    std::optional<HostMemory::Made> made;
    if (is_torn_) host_memory_.discard(op.stash); // it may have its checkpoints already
    else made = host_memory_.stash(*context_, op);
    is_torn_ |= context_->is_torn();
    if (made) scheduler_.stashed(op.stash, made->bytes, made->is_kept);
    else scheduler_.not_stashed(op.stash);
}

/// Copies back what host memory has. What does not fit is computed.
void Engine::restore(const sched::Plan& plan) {
    for (const sched::Restore& restore : plan.restores) {
        if (is_torn_) return; // all begin anew
        const bool is_ok = host_memory_.restore(*context_, restore);
        is_torn_ |= context_->is_torn();
        if (is_ok && !restore.is_again) generations_.at(restore.id)->find(restore.length - restore.first);
        scheduler_.restored(restore, is_ok);
    }
}

} // namespace engine
