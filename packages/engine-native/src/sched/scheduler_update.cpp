// Takes the outcome of a plan: Scheduler::update().
#include "sched/scheduler.h"

#include <algorithm>
#include <variant>

namespace sched {

void Scheduler::update(const StepResult& result) {
    INGLE_ASSERT(is_planned_ && result.outcomes.size() == plan_.batch.size());
    is_planned_ = false;
    for (const base::CheckpointId checkpoint : result.failed_checkpoints)
        kv_cache_.forget_checkpoint(checkpoint);
    note_copies(result);
    note_outcomes(result.outcomes);
    for (const LateToken& late : result.late_tokens) note_late_token(late);
    if (result.is_cache_lost) lose_cache();
    for (const base::RequestId id : result.failed) end(find(id), Keep::yes);
}

void Scheduler::note_copies(const StepResult& result) {
    auto out = result.swap_outs.begin();
    auto in = result.swap_ins.begin();
    for (const KvOp& op : plan_.kv_ops) {
        if (const auto* swap_out = std::get_if<SwapOut>(&op)) {
            INGLE_ASSERT(out != result.swap_outs.end());
            kv_cache_.host_tier().swapped_out(swap_out->segment, *out++);
        } else if (const auto* swap_in = std::get_if<SwapIn>(&op)) {
            INGLE_ASSERT(in != result.swap_ins.end());
            note_swap_in(*swap_in, *in++);
        }
    }
}

void Scheduler::note_swap_in(const SwapIn& op, Copied copied) {
    kv_cache_.host_tier().swapped_in(op.segment, copied);
    if (copied != Copied::done) return; // its tokens are computed
    Sequence& sequence = find(op.id);
    const int32_t count = op.length - op.first;
    kv_cache_.append(op.slot,
                     sequence.tokens().subspan(static_cast<size_t>(op.first), static_cast<size_t>(count)));
    sequence.advance(count);
    // The next plan saves the state as it is then. If another segment follows, that would be the state of a longer text.
    const auto continues = [&](const KvOp& other) {
        const auto* next = std::get_if<SwapIn>(&other);
        return next != nullptr && next->id == op.id && next->first == op.length;
    };
    if (std::ranges::none_of(plan_.kv_ops, continues)) kv_cache_.save_checkpoint(op.slot);
}

void Scheduler::note_outcomes(const std::vector<Outcome>& outcomes) {
    for (size_t i = 0; i < outcomes.size(); ++i) {
        const BatchEntry& entry = plan_.batch[i];
        const Outcome& outcome = outcomes[i];
        if (outcome.kind == Outcome::Kind::skipped) continue;
        Sequence& sequence = find(entry.id);
        if (outcome.kind != Outcome::Kind::failed) advance(sequence, entry, outcome);
        if (outcome.kind == Outcome::Kind::failed) end(sequence, Keep::no);
        else if (outcome.kind == Outcome::Kind::finished) end(sequence, Keep::yes);
    }
}

/// The client is not charged for rejected drafts.
void Scheduler::advance(Sequence& sequence, const BatchEntry& entry, const Outcome& outcome) {
    const auto accepted = entry.drafts.first(static_cast<size_t>(outcome.accepted));
    const auto count = static_cast<int32_t>(entry.tokens.size());
    waiting_.charge(sequence.request().client, count + outcome.accepted);
    kv_cache_.append(entry.slot, entry.tokens);
    sequence.advance(count);
    if (sequence.is_at_boundary()) kv_cache_.save_checkpoint(entry.slot);
    for (const base::Token token : accepted) {
        sequence.append(token);
        sequence.advance(1);
    }
    kv_cache_.append(entry.slot, accepted);
    if (accepted.size() < entry.drafts.size()) kv_cache_.trim(entry.slot);
    if (entry.samples && outcome.kind != Outcome::Kind::awaits_token) sequence.append(outcome.token);
}

void Scheduler::note_late_token(const LateToken& late) {
    INGLE_ASSERT(awaits_token(late.id));
    Sequence& sequence = find(late.id);
    if (late.is_last) end(sequence, Keep::yes);
    else sequence.append(late.token);
}

void Scheduler::lose_cache() {
    while (!running_.empty()) requeue(*running_.back(), Keep::no);
    kv_cache_.clear();
}

} // namespace sched
