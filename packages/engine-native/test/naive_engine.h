// An engine without a model for scheduler_random_test.cpp. It knows each request's tokens and how far they are computed, and which
// cells each slot holds; it executes plans, and complains about the first thing that no engine could or should do. Cells have
// names: computing makes new ones, sharing copies names. They also know the text that they were computed after, in host memory
// too, so that no state can come back to another text unnoticed.
#pragma once

#include "naive_host_tier.h"
#include "naive_sequence.h"
#include "naive_step.h"
#include "naive_turns.h"
#include "plan_in_words.h"
#include "random.h"
#include "sched/request.h"
#include "sched/step.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace test {

class NaiveEngine {
public:
    explicit NaiveEngine(const sched::Limits& limits)
        : limits_(limits),
          slots_(static_cast<size_t>(limits.sequences + limits.cached_sequences)),
          host_tier_(limits) {}

    using Tokens = std::vector<base::Token>;

    /// `generates` tokens after the prompt, then it is finished. Ids count up with arrival.
    void submit(const sched::Request& request, int32_t generates, int64_t step) {
        Sequence& sequence = sequences_[request.id];
        sequence.begin(request);
        if (limits_.checkpoints > 0) sequence.boundaries = request.boundaries;
        sequence.generates = generates;
        sequence.submitted = step;
    }

    void cancel(base::RequestId id) { sequences_.erase(id); }

    /// Everything computed is lost.
    void lose_cache() {
        for (auto& slot : slots_) slot.clear();
        checkpoints_.clear();
        forgotten_.clear();
        for (auto& [id, sequence] : sequences_) lose_place(sequence);
    }

    /// Saved by the last plan.
    const std::vector<base::CheckpointId>& saved() const { return saved_; }

    /// No later plan may share this one.
    void forget(base::CheckpointId checkpoint) { forgotten_.insert(checkpoint); }

    /// Executes a plan; each entry fails, or is skipped, with the given chance. `preemptions` is the scheduler's count after the
    /// plan. The result has what became of copies and entries.
    sched::StepResult execute(const sched::StepPlan& plan, const sched::StepBudget& budget,
                              uint64_t preemptions, Random& random, int32_t fail_percent, int64_t step) {
        sched::StepResult result;
        saved_.clear();
        host_tier_.begin_step();
        // Requests are running before anything of theirs is swapped in.
        const auto is_swap_in = [](const sched::KvOp& op) {
            return std::holds_alternative<sched::SwapIn>(op);
        };
        const auto first_swap_in = std::ranges::find_if(plan.kv_ops, is_swap_in);
        for (auto op = plan.kv_ops.begin(); op != first_swap_in; ++op) apply(*op, result, random);
        const std::set<base::RequestId> decoding = note_requests(plan, preemptions);
        for (auto op = first_swap_in; op != plan.kv_ops.end(); ++op) apply(*op, result, random);
        expect(!freed_while_used_, "a running sequence loses its cells");
        result.swap_outs = host_tier_.swapped_out;
        const NaiveStep whole{.limits = limits_,
                              .budget = budget,
                              .sequences = sequences_,
                              .all_decoding = decoding,
                              .waiting_for_images = waiting_for_images_,
                              .is_copying = !result.swap_outs.empty() || !result.swap_ins.empty()};
        expect_none(whole.complaint(plan));
        expect_none(turns_.complaint(plan, limits_, sequences_, waiting_for_images_));
        for (const sched::BatchEntry& entry : plan.batch) {
            if (!check_entry(entry)) break;
            if (random.chance(fail_percent)) {
                result.outcomes.push_back({.kind = sched::Outcome::Kind::skipped});
                continue;
            }
            result.outcomes.push_back(advance(entry, random, random.chance(fail_percent), step));
        }
        expect(cells() <= static_cast<size_t>(limits_.cells), "more is computed than there are cells");
        if (!complaint_.empty()) complaint_ += " (step " + std::to_string(step) + ", " + in_words(plan) + ")";
        return result;
    }

    bool knows(base::RequestId id, std::span<const base::Token> tokens) const {
        const auto found = sequences_.find(id);
        return found != sequences_.end() && found->second.knows(tokens, limits_.context_length);
    }

    /// Requests whose image was not ready when the next plan was made.
    void set_waiting_for_images(std::set<base::RequestId> ids) { waiting_for_images_ = std::move(ids); }

    /// Tokens are late with this chance.
    void set_slow_percent(int32_t percent) { slow_percent_ = percent; }
    bool awaits_token(base::RequestId id) const { return sequences_.at(id).awaits_token(); }
    /// The token of a request that awaits one.
    sched::LateToken late_token(base::RequestId id, Random& random, int64_t step) {
        const sched::LateToken late = sequences_.at(id).late_token(id, random);
        if (late.is_last) end(id, step);
        return late;
    }

    /// Copies fail with this chance.
    void set_copy_fail_percent(int32_t percent) { copy_fail_percent_ = percent; }

    /// Empty if nothing is wrong.
    const std::string& complaint() const { return complaint_; }
    std::vector<base::RequestId> ids() const {
        std::vector<base::RequestId> ids;
        for (const auto& [id, sequence] : sequences_) ids.push_back(id);
        return ids;
    }

    /// Cells that any slot holds.
    size_t cells() const {
        std::unordered_set<size_t> names;
        for (const auto& slot : slots_)
            for (const Cell& cell : slot) names.insert(cell.name);
        return names.size();
    }

    /// The texts of ended requests, for later requests to begin with.
    const std::vector<Tokens>& ended() const { return ended_; }
    int64_t longest_stay() const { return longest_stay_; }
    uint64_t preemptions() const { return preemptions_; }
    uint64_t tokens_shared() const { return tokens_shared_; }
    const NaiveTurns& turns() const { return turns_; }
    uint64_t shifts() const { return shifts_; }
    uint64_t recomputed() const { return recomputed_; }
    uint64_t drafts_accepted() const { return drafts_accepted_; }
    uint64_t drafts_rejected() const { return drafts_rejected_; }
    uint64_t tokens_swapped_in() const { return tokens_swapped_in_; }
    const NaiveHostTier& host_tier() const { return host_tier_; }

private:
    using Cell = NaiveCell;
    using Sequence = NaiveSequence;

    /// Only the first complaint counts: later ones are its consequences.
    bool expect(bool is_true, const char* complaint) {
        if (!is_true && complaint_.empty()) complaint_ = complaint;
        return is_true;
    }

    bool expect_none(const char* complaint) { return expect(complaint == nullptr, complaint); }

    bool is_slot(base::Slot slot) const { return slot >= 0 && static_cast<size_t>(slot) < slots_.size(); }
    std::vector<Cell>& cells_of(base::Slot slot) { return slots_[static_cast<size_t>(slot)]; }

    void apply(const sched::KvOp& op, sched::StepResult& result, Random& random) {
        if (const auto* swap_in = std::get_if<sched::SwapIn>(&op))
            return result.swap_ins.push_back(apply(*swap_in, random));
        if (const auto* swap_out = std::get_if<sched::SwapOut>(&op)) return apply(*swap_out, random);
        std::visit(
            [this](const auto& one) {
                if constexpr (requires { one.slot; }) {
                    if (!expect(is_slot(one.slot), "something happens to a slot that does not exist")) return;
                }
                if constexpr (requires { apply(one); }) apply(one);
            },
            op);
    }

    void apply(const sched::FreeSlot& op) {
        // The slot of a request that was preempted just now may be handed on at once; preempt() will tell.
        freed_while_used_ |= is_used(op.slot);
        cells_of(op.slot).clear();
    }

    void apply(const sched::TrimSlot& op) {
        expect(static_cast<size_t>(op.length) < cells_of(op.slot).size(), "there is nothing to trim");
        cells_of(op.slot).resize(static_cast<size_t>(op.length));
    }

    void apply(const sched::DropCheckpoint& op) {
        expect(checkpoints_.erase(op.checkpoint) == 1, "a checkpoint is dropped that is not there");
    }

    void apply(const sched::DropSegment& op) { host_tier_.drop(op.segment); }

    void apply(const sched::SaveCheckpoint& op) {
        Tokens text;
        expect(std::ssize(cells_of(op.slot)) == op.length, "a state is saved elsewhere than it stands");
        saved_.push_back(op.checkpoint);
        for (const Cell& cell : cells_of(op.slot)) text.push_back(cell.token);
        expect(checkpoints_.emplace(op.checkpoint, std::move(text)).second, "a checkpoint is saved twice");
        expect(checkpoints_.size() <= static_cast<size_t>(limits_.checkpoints),
               "there are too many checkpoints");
    }

    void apply(const sched::ShiftCells& op) {
        std::vector<Cell>& cells = cells_of(op.slot);
        const auto end = static_cast<size_t>(op.cut.end());
        if (!expect(op.cut.drop > 0 && end <= cells.size(), "cells are dropped that are not there")) return;
        const auto first = cells.begin() + op.cut.keep;
        const auto rest = cells.erase(first, first + op.cut.drop);
        expect(limits_.can_shift || rest == cells.end(), "cells are moved that cannot be");
        for (auto cell = rest; cell != cells.end(); ++cell) {
            cell->is_moved = true;
            // Only the end of a sequence moves: a slot that shares one of these cells shares the first of them.
            expect(cell != rest || holders(cell->name) == 1, "a cell is moved that another slot holds too");
        }
    }

    void apply(const sched::SwapOut& op, Random& random) {
        if (!expect(is_slot(op.slot), "something happens to a slot that does not exist")) return;
        for (const sched::Checkpoint& checkpoint : op.checkpoints) {
            const auto saved = checkpoints_.find(checkpoint.id);
            expect(saved != checkpoints_.end() && std::ssize(saved->second) == checkpoint.length,
                   "a checkpoint is swapped out that is not there");
        }
        expect_none(host_tier_.swap_out(op, cells_of(op.slot), random.chance(copy_fail_percent_)));
    }

    sched::Copied apply(const sched::SwapIn& op, Random& random) {
        const auto sequence = sequences_.find(op.id);
        if (!expect(sequence != sequences_.end() && sequence->second.is_running,
                    "something is swapped in for a request that does not run"))
            return sched::Copied::failed;
        auto& cells = cells_of(op.slot);
        if (std::ssize(cells) < op.first || host_tier_.has_failed(op.segment) ||
            random.chance(copy_fail_percent_))
            return sched::Copied::failed;
        const size_t free = static_cast<size_t>(limits_.cells) - this->cells();
        if (!expect_none(host_tier_.swap_in(op, cells, free, next_))) return sched::Copied::failed;
        sequence->second.computed = cells.size();
        sequence->second.slot = op.slot;
        tokens_swapped_in_ += static_cast<uint64_t>(op.length - op.first);
        return sched::Copied::done;
    }

    bool is_used(base::Slot slot) const {
        return std::ranges::any_of(
            sequences_, [&](auto& entry) { return entry.second.is_running && entry.second.slot == slot; });
    }

    /// Follows context shifts, preemptions and starts. Returns the requests that decode.
    std::set<base::RequestId> note_requests(const sched::StepPlan& plan, uint64_t preemptions) {
        for (const sched::ContextShift& shift : plan.shifts) {
            if (!shift.is_recomputed) cut(shift, plan.starts);
        }
        preempt(preemptions - preemptions_);
        preemptions_ = preemptions;
        for (const sched::ContextShift& shift : plan.shifts) {
            if (shift.is_recomputed) cut(shift, plan.starts);
        }
        std::set<base::RequestId> decoding = decoding_ids();
        for (const sched::Start& start : plan.starts) {
            if (decoding.erase(start.id) == 0 && !begun_again_.contains(start.id)) begin(start);
        }
        begun_again_.clear();
        return decoding;
    }

    ptrdiff_t holders(size_t name) const {
        return std::ranges::count_if(slots_, [name](const auto& cells) {
            return std::ranges::any_of(cells, [name](const Cell& cell) { return cell.name == name; });
        });
    }

    /// A full sequence has dropped its oldest turns.
    void cut(const sched::ContextShift& shift, const std::vector<sched::Start>& starts) {
        const auto found = sequences_.find(shift.id);
        if (!expect(found != sequences_.end(), "a request is cut that is not there")) return;
        Sequence& sequence = found->second;
        expect(sequence.is_running || shift.is_recomputed, "cells are moved of a request that does not run");
        const auto [keep, drop] = shift.cut;
        expect(std::ssize(sequence.tokens) == limits_.context_length, "a request is cut that is not full");
        expect(keep == sequence.keep, "the kept part is cut, or was not to be cut at all");
        expect(is_edge(sequence, keep) && is_edge(sequence, shift.cut.end()),
               "a part of an image is cut off");
        const int32_t follows = limits_.context_length - keep;
        if (!expect(drop >= follows / 2 && drop < follows, "too little or too much is dropped")) return;
        const auto first = sequence.tokens.begin() + keep;
        sequence.tokens.erase(first, first + drop);
        sched::apply_cut(sequence.boundaries, shift.cut);
        shifts_ += 1;
        if (!shift.is_recomputed) {
            sequence.computed -= static_cast<size_t>(drop);
            return;
        }
        recomputed_ += 1;
        lose_place(sequence);
        const auto start = std::ranges::find(starts, shift.id, &sched::Start::id);
        if (start == starts.end()) return;
        begin(*start);
        begun_again_.insert(shift.id);
    }

    static bool is_edge(const Sequence& sequence, int32_t length) {
        return !base::is_inside_image(sequence.tokens, length);
    }

    void apply(const sched::SharePrefix& op) {
        freed_while_used_ |= is_used(op.slot);
        expect(cells_of(op.slot).empty(), "a slot that holds something gets the cells of another");
        if (!expect(is_slot(op.from), "a slot shares with one that does not exist")) return;
        const auto length = static_cast<size_t>(op.length);
        const auto& from = cells_of(op.from);
        if (!expect(length > 0 && length <= from.size(), "cells are shared that are not there")) return;
        expect(!from[length - 1].is_moved, "moved cells are shared");
        cells_of(op.slot).assign(from.begin(), from.begin() + op.length);
        tokens_shared_ += length;
        if (limits_.checkpoints == 0) return;
        const auto saved = checkpoints_.find(op.checkpoint);
        if (!expect(saved != checkpoints_.end(), "a state is shared that was not saved")) return;
        expect(!forgotten_.contains(op.checkpoint), "a state is shared that was to be forgotten");
        const bool is_same =
            std::equal(saved->second.begin(), saved->second.end(), from.begin(), from.begin() + op.length,
                       [](base::Token token, const Cell& cell) { return cell.token == token; });
        expect(is_same, "a state is shared that belongs to another text");
    }

    /// The youngest running requests of the lowest priority were preempted; their slots may have been freed just now.
    void preempt(uint64_t count) {
        for (; count > 0; --count) {
            Sequence* last = nullptr;
            for (auto& [id, each] : sequences_) {
                if (each.is_running && (last == nullptr || each.priority <= last->priority)) last = &each;
            }
            if (!expect(last != nullptr, "a request is preempted although none runs")) return;
            lose_place(*last);
        }
    }

    void lose_place(Sequence& sequence) {
        freed_while_used_ = false;
        sequence.is_running = false;
        sequence.computed = 0;
        sequence.slot = base::kNoSlot;
    }

    std::set<base::RequestId> decoding_ids() const {
        std::set<base::RequestId> ids;
        for (const auto& [id, sequence] : sequences_) {
            if (sequence.is_decoding()) ids.insert(id);
        }
        return ids;
    }

    void begin(const sched::Start& start) {
        const auto found = sequences_.find(start.id);
        if (!expect(found != sequences_.end() && !found->second.is_running,
                    "a request starts that does not wait"))
            return;
        const auto cached = static_cast<size_t>(start.cached);
        expect(cached < found->second.tokens.size(), "all of a sequence is said to be computed");
        expect(is_edge(found->second, start.cached), "a part of an image is shared");
        found->second.is_running = true;
        found->second.computed = cached;
    }

    /// Whether an entry goes on where its sequence stands, in a slot that holds exactly that.
    bool check_entry(const sched::BatchEntry& entry) {
        const auto found = sequences_.find(entry.id);
        if (!expect(found != sequences_.end() && found->second.is_running,
                    "an entry of a request that does not run"))
            return false;
        if (!expect(is_slot(entry.slot), "an entry in a slot that does not exist")) return false;
        Sequence& sequence = found->second;
        if (sequence.slot == base::kNoSlot) sequence.slot = entry.slot;
        if (!expect(sequence.slot == entry.slot, "a sequence changes its slot")) return false;
        const auto first = static_cast<size_t>(entry.first);
        if (!expect(first == sequence.computed, "tokens are left out or computed twice")) return false;
        const NaiveCells& cells = cells_of(entry.slot);
        const bool is_own =
            cells.size() == first && are_computed_from(cells, sequence.tokens, sequence.space);
        if (!expect(is_own, "a slot is used that holds another text's cells")) return false;
        if (!expect(!entry.tokens.empty() && entry.tokens.size() <= sequence.pending_entry() &&
                        std::equal(entry.tokens.begin(), entry.tokens.end(),
                                   sequence.tokens.begin() + entry.first),
                    "other tokens are computed than the sequence has")) {
            return false;
        }
        expect(!waiting_for_images_.contains(entry.id), "an image is computed that is not there");
        expect(entry.image_offset == entry.first - base::last_edge(sequence.tokens, entry.first),
               "an image goes on elsewhere than it stands");
        expect(!limits_.has_whole_images || !entry.is_image() ||
                   entry.tokens.size() == sequence.pending_entry(),
               "a part of an image is computed whose tokens see each other");
        expect(std::ranges::none_of(entry.drafts, base::is_image), "an image is drafted");
        return expect(entry.samples == (entry.tokens.size() == sequence.pending()),
                      "samples elsewhere than at the end");
    }

    sched::Outcome advance(const sched::BatchEntry& entry, Random& random, bool is_failed, int64_t step) {
        using enum sched::Outcome::Kind;
        Sequence& sequence = sequences_.at(entry.id);
        auto& cells = cells_of(entry.slot);
        for (const auto& tokens : {entry.tokens, entry.drafts}) {
            for (const base::Token token : tokens) {
                const uint64_t before = cells.empty() ? path_of(sequence.space) : cells.back().path;
                cells.push_back({.name = next_++, .token = token, .path = path_after(before, token)});
            }
        }
        sequence.computed += entry.tokens.size();
        sched::Outcome outcome = sequence.sample(entry, random);
        if (entry.samples && !is_failed && random.chance(slow_percent_))
            outcome = sequence.sample_later(outcome);
        expect(std::ssize(sequence.tokens) <= limits_.context_length, "a sequence outgrows the context");
        drafts_accepted_ += static_cast<uint64_t>(outcome.accepted);
        drafts_rejected_ += entry.drafts.size() - static_cast<size_t>(outcome.accepted);
        if (!is_failed && outcome.kind != finished) return outcome;
        end(entry.id, step);
        return is_failed ? sched::Outcome{.kind = failed} : outcome;
    }

    void end(base::RequestId id, int64_t step) {
        Sequence& sequence = sequences_.at(id);
        longest_stay_ = std::max(longest_stay_, step - sequence.submitted);
        ended_.push_back(std::move(sequence.tokens));
        sequences_.erase(id);
    }
    const sched::Limits limits_;
    std::map<base::RequestId, Sequence> sequences_; // requests in flight
    std::vector<std::vector<Cell>> slots_;
    std::map<base::CheckpointId, Tokens> checkpoints_; // with the text that each state belongs to
    std::vector<base::CheckpointId> saved_;
    std::set<base::CheckpointId> forgotten_;
    NaiveHostTier host_tier_;
    std::set<base::RequestId> waiting_for_images_;
    NaiveTurns turns_;
    int32_t copy_fail_percent_ = 0, slow_percent_ = 0;
    std::vector<Tokens> ended_;
    std::string complaint_;
    size_t next_ = 0;
    bool freed_while_used_ = false;
    int64_t longest_stay_ = 0;
    uint64_t preemptions_ = 0, tokens_shared_ = 0, tokens_swapped_in_ = 0, shifts_ = 0, recomputed_ = 0;
    std::set<base::RequestId> begun_again_; // were cut in this step and start again at once
    uint64_t drafts_accepted_ = 0, drafts_rejected_ = 0;
};

} // namespace test
