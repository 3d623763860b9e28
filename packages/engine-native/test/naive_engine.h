// An engine without a model for scheduler_random_test.cpp: it knows of each request its tokens and how far they are
// computed, and of each slot which cells it holds, does what a plan says, and complains about the first thing that no
// engine could or should do. Cells have names: computing makes new ones, sharing copies names. And they know the text
// that they were computed after, also in host memory, so that no state can come back to another text unnoticed.
#pragma once

#include "naive_host_memory.h"
#include "naive_sequence.h"
#include "naive_turn.h"
#include "plan_in_words.h"
#include "random.h"
#include "sched/drafter.h"
#include "sched/request.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace test {

class NaiveEngine {
public:
    explicit NaiveEngine(const sched::Limits& limits)
        : limits_(limits),
          slots_(static_cast<size_t>(limits.sequences + limits.donors)),
          host_memory_(limits) {}

    using Tokens = std::vector<base::Token>;

    /// `generates` tokens after the prompt, then it is finished. Ids count up with arrival.
    void submit(const sched::Request& request, int32_t generates, int64_t turn) {
        Sequence& sequence = sequences_[request.id];
        sequence.tokens = request.prompt;
        if (limits_.checkpoints > 0) sequence.boundaries = request.boundaries;
        if (request.turns) sequence.keep = request.turns->keep;
        sequence.generates = generates;
        sequence.submitted = turn;
    }

    void cancel(base::RequestId id) { sequences_.erase(id); }

    /// Everything computed is lost, as after Scheduler::start_over().
    void start_over() {
        for (auto& slot : slots_) slot.clear();
        checkpoints_.clear();
        forgotten_.clear();
        for (auto& [id, sequence] : sequences_) lose_place(sequence);
    }

    /// Saved by the last plan.
    const std::vector<base::CheckpointId>& saved() const { return saved_; }

    /// No later plan may share this one.
    void forget(base::CheckpointId checkpoint) { forgotten_.insert(checkpoint); }

    /// Computes a plan; each step fails, or is skipped, with the given chance. `preemptions` is the scheduler's count after the plan.
    /// The outcomes are those for Scheduler::apply().
    std::vector<sched::Outcome> compute(const sched::Plan& plan, const sched::TurnBudget& budget,
                                        uint64_t preemptions, Random& random, int32_t fail_percent,
                                        int64_t turn) {
        saved_.clear();
        host_memory_.begin_turn();
        restored_.clear();
        for (const sched::CellOp& op : plan.cells) apply(op, random);
        // One whose cells have moved may have to give way in the same turn.
        for (const sched::Shift& shift : plan.shifts) {
            if (!shift.is_recomputed) cut(shift, plan.starts);
        }
        preempt(preemptions - preemptions_);
        preemptions_ = preemptions;
        for (const sched::Shift& shift : plan.shifts) {
            if (shift.is_recomputed) cut(shift, plan.starts);
        }
        expect(!freed_while_used_, "a running sequence loses its cells");
        const std::set<base::RequestId> decoding = decoding_ids();
        for (const sched::Start& start : plan.starts) {
            if (!begun_again_.contains(start.id)) begin(start);
        }
        begun_again_.clear();
        for (const sched::Restore& one : plan.restores) restore(one, random);
        const NaiveTurn whole{.limits = limits_,
                              .budget = budget,
                              .sequences = sequences_,
                              .decoding = decoding,
                              .waiting_for_images = waiting_for_images_,
                              .is_copying = !host_memory_.made.empty() || !restored_.empty()};
        expect_none(whole.complaint(plan));
        std::vector<sched::Outcome> outcomes;
        for (const sched::Step& step : plan.steps) {
            if (!check_step(step)) break;
            if (random.chance(fail_percent)) {
                outcomes.push_back({.kind = sched::Outcome::Kind::skipped});
                continue;
            }
            outcomes.push_back(advance(step, random, random.chance(fail_percent), turn));
        }
        expect(cells() <= static_cast<size_t>(limits_.cells), "more is computed than there are cells");
        if (!complaint_.empty()) complaint_ += " (turn " + std::to_string(turn) + ", " + in_words(plan) + ")";
        return outcomes;
    }

    /// Whether somebody has just these tokens, or had a part of them dropped by the plan that is being made.
    bool knows(base::RequestId id, std::span<const base::Token> tokens) const {
        const auto found = sequences_.find(id);
        if (found == sequences_.end()) return false;
        const Tokens& own = found->second.tokens;
        if (tokens.size() == own.size()) return std::ranges::equal(own, tokens);
        return own.size() == static_cast<size_t>(limits_.context_length) && tokens.size() < own.size() &&
               tokens.back() == own.back();
    }

    /// Of the last plan: what became of its copies, for Scheduler::stashed() and restored().
    const std::vector<NaiveHostMemory::Made>& made() const { return host_memory_.made; }
    const std::vector<bool>& restored() const { return restored_; }

    /// Who was told in the plan that is computed next that an image is not there yet.
    void set_waiting_for_images(std::set<base::RequestId> ids) { waiting_for_images_ = std::move(ids); }

    /// What is sampled is told later with this chance.
    void set_slow_percent(int32_t percent) { slow_percent_ = percent; }
    bool awaits_token(base::RequestId id) const { return sequences_.at(id).awaits_token(); }
    /// For Scheduler::sampled().
    sched::Outcome tell(base::RequestId id, Random& random, int64_t turn) {
        const sched::Outcome outcome = sequences_.at(id).tell(random);
        if (outcome.kind == sched::Outcome::Kind::finished) end(id, turn);
        return outcome;
    }

    /// Copies fail with this chance.
    void set_copy_fail_percent(int32_t percent) { copy_fail_percent_ = percent; }

    /// Empty while all is well.
    const std::string& complaint() const { return complaint_; }
    std::vector<base::RequestId> ids() const {
        std::vector<base::RequestId> ids;
        for (const auto& [id, sequence] : sequences_) ids.push_back(id);
        return ids;
    }

    /// Cells that any slot holds.
    size_t cells() const {
        std::set<size_t> names;
        for (const auto& slot : slots_) {
            for (const Cell& cell : slot) names.insert(cell.name);
        }
        return names.size();
    }

    /// What ended requests asked and were told, for later requests to begin with.
    const std::vector<Tokens>& ended() const { return ended_; }
    int64_t longest_stay() const { return longest_stay_; }
    uint64_t preemptions() const { return preemptions_; }
    uint64_t tokens_shared() const { return tokens_shared_; }
    uint64_t shifts() const { return shifts_; }
    uint64_t recomputed() const { return recomputed_; }
    uint64_t drafts_accepted() const { return drafts_accepted_; }
    uint64_t drafts_rejected() const { return drafts_rejected_; }
    uint64_t tokens_restored() const { return tokens_restored_; }
    const NaiveHostMemory& host_memory() const { return host_memory_; }

private:
    using Cell = NaiveCell;
    using Sequence = NaiveSequence;

    /// Only the first complaint counts: what follows are its consequences.
    bool expect(bool is_true, const char* complaint) {
        if (!is_true && complaint_.empty()) complaint_ = complaint;
        return is_true;
    }

    bool expect_none(const char* complaint) { return expect(complaint == nullptr, complaint); }

    bool is_slot(base::Slot slot) const { return slot >= 0 && static_cast<size_t>(slot) < slots_.size(); }
    std::vector<Cell>& cells_of(base::Slot slot) { return slots_[static_cast<size_t>(slot)]; }

    void apply(const sched::CellOp& op, Random& random) {
        if (op.kind == sched::CellOp::Kind::keep) return keep(op);
        if (op.kind == sched::CellOp::Kind::discard) return host_memory_.discard(op.stash);
        if (op.kind == sched::CellOp::Kind::drop) {
            expect(checkpoints_.erase(op.checkpoint) == 1, "a checkpoint is dropped that is not there");
            return;
        }
        if (!expect(is_slot(op.slot), "something happens to a slot that does not exist")) return;
        if (op.kind == sched::CellOp::Kind::save) return save(op);
        if (op.kind == sched::CellOp::Kind::shift) return shift(op);
        if (op.kind == sched::CellOp::Kind::trim) {
            expect(static_cast<size_t>(op.length) < cells_of(op.slot).size(), "there is nothing to trim");
            cells_of(op.slot).resize(static_cast<size_t>(op.length));
            return;
        }
        if (op.kind == sched::CellOp::Kind::stash) {
            const bool is_failed = random.chance(copy_fail_percent_);
            expect_none(host_memory_.stash(op, cells_of(op.slot), is_failed));
            return;
        }
        const bool is_used = std::ranges::any_of(
            sequences_, [&](auto& entry) { return entry.second.is_running && entry.second.slot == op.slot; });
        if (op.kind == sched::CellOp::Kind::free) {
            freed_while_used_ |= is_used;
            cells_of(op.slot).clear();
            return;
        }
        // The slot of one that was preempted just now may be handed on at once; preempt() will tell.
        freed_while_used_ |= is_used;
        expect(cells_of(op.slot).empty(), "a slot that holds something gets the cells of another");
        share(op);
    }

    void save(const sched::CellOp& op) {
        Tokens text;
        expect(std::ssize(cells_of(op.slot)) == op.length, "a state is saved elsewhere than it stands");
        saved_.push_back(op.checkpoint);
        for (const Cell& cell : cells_of(op.slot)) text.push_back(cell.token);
        expect(checkpoints_.emplace(op.checkpoint, std::move(text)).second, "a checkpoint is saved twice");
        expect(checkpoints_.size() <= static_cast<size_t>(limits_.checkpoints),
               "there are too many checkpoints");
    }

    void shift(const sched::CellOp& op) {
        std::vector<Cell>& cells = cells_of(op.slot);
        const auto end = static_cast<size_t>(op.length) + static_cast<size_t>(op.dropped);
        if (!expect(op.dropped > 0 && end <= cells.size(), "cells are dropped that are not there")) return;
        const auto first = cells.begin() + op.length;
        const auto rest = cells.erase(first, first + op.dropped);
        expect(limits_.can_shift || rest == cells.end(), "cells are moved that cannot be");
        for (auto cell = rest; cell != cells.end(); ++cell) {
            cell->is_moved = true;
            // Only the end of a sequence moves: who shares one of these cells shares the first of them.
            expect(cell != rest || holders(cell->name) == 1, "a cell is moved that another holds too");
        }
    }

    ptrdiff_t holders(size_t name) const {
        return std::ranges::count_if(slots_, [name](const auto& cells) {
            return std::ranges::any_of(cells, [name](const Cell& cell) { return cell.name == name; });
        });
    }

    /// A full sequence has lost its oldest turns.
    void cut(const sched::Shift& shift, const std::vector<sched::Start>& starts) {
        const auto found = sequences_.find(shift.id);
        if (!expect(found != sequences_.end(), "somebody is cut who is not there")) return;
        Sequence& sequence = found->second;
        expect(sequence.is_running || shift.is_recomputed, "cells are moved of somebody who does not run");
        const auto [keep, drop] = shift.cut;
        expect(std::ssize(sequence.tokens) == limits_.context_length, "somebody is cut who is not full");
        expect(keep == sequence.keep, "the kept part is cut, or was not to be cut at all");
        expect(is_edge(sequence, keep) && is_edge(sequence, shift.cut.end()),
               "a part of an image is cut off");
        const int32_t follows = limits_.context_length - keep;
        if (!expect(drop >= follows / 2 && drop < follows, "too little or too much is dropped")) return;
        const auto first = sequence.tokens.begin() + keep;
        sequence.tokens.erase(first, first + drop);
        sched::shorten(sequence.boundaries, shift.cut);
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

    void keep(const sched::CellOp& op) {
        const auto saved = checkpoints_.find(op.checkpoint);
        expect(saved != checkpoints_.end() && std::ssize(saved->second) == op.length,
               "a checkpoint is kept that is not there");
        expect_none(host_memory_.keep(op));
    }

    void restore(const sched::Restore& one, Random& random) {
        const auto sequence = sequences_.find(one.id);
        if (!expect(sequence != sequences_.end() && sequence->second.is_running,
                    "somebody gets a state who does not run"))
            return;
        auto& cells = cells_of(one.slot);
        // Also what leans on one that failed.
        const bool is_failed = std::ssize(cells) < one.first || host_memory_.has_failed(one.stash) ||
                               random.chance(copy_fail_percent_);
        restored_.push_back(!is_failed);
        if (is_failed) return;
        const size_t free = static_cast<size_t>(limits_.cells) - this->cells();
        if (!expect_none(host_memory_.restore(one, cells, free, next_))) return;
        sequence->second.computed = cells.size();
        sequence->second.slot = one.slot;
        tokens_restored_ += static_cast<uint64_t>(one.length - one.first);
    }

    static bool is_edge(const Sequence& sequence, int32_t length) {
        return !base::is_inside_image(sequence.tokens, length);
    }

    void share(const sched::CellOp& op) {
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

    /// The youngest running ones lost their place; their slots may have been freed just now.
    void preempt(uint64_t count) {
        for (; count > 0; --count) {
            const auto youngest = std::find_if(sequences_.rbegin(), sequences_.rend(),
                                               [](auto& entry) { return entry.second.is_running; });
            if (!expect(youngest != sequences_.rend(), "somebody is preempted although nobody runs")) return;
            lose_place(youngest->second);
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
                    "somebody starts who does not wait"))
            return;
        const auto cached = static_cast<size_t>(start.cached);
        expect(cached < found->second.tokens.size(), "all of a sequence is said to be computed");
        expect(is_edge(found->second, start.cached), "a part of an image is shared");
        found->second.is_running = true;
        found->second.computed = cached;
    }

    /// Whether the step continues its sequence where it stands, in a slot that holds just that.
    bool check_step(const sched::Step& step) {
        const auto found = sequences_.find(step.id);
        if (!expect(found != sequences_.end() && found->second.is_running,
                    "a step of somebody who does not run"))
            return false;
        if (!expect(is_slot(step.slot), "a step in a slot that does not exist")) return false;
        Sequence& sequence = found->second;
        if (sequence.slot == base::kNoSlot) sequence.slot = step.slot;
        if (!expect(sequence.slot == step.slot, "a sequence changes its slot")) return false;
        const auto first = static_cast<size_t>(step.first);
        if (!expect(first == sequence.computed, "tokens are left out or computed twice")) return false;
        const auto& cells = cells_of(step.slot);
        uint64_t path = 0;
        const bool is_own = cells.size() == first &&
                            std::equal(cells.begin(), cells.end(), sequence.tokens.begin(),
                                       [&](const Cell& cell, base::Token token) {
                                           path = cell.is_moved ? cell.path : path_after(path, token);
                                           return cell.token == token && cell.path == path;
                                       });
        if (!expect(is_own, "a slot is used that holds another text's cells")) return false;
        if (!expect(
                !step.tokens.empty() && step.tokens.size() <= sequence.pending_step() &&
                    std::equal(step.tokens.begin(), step.tokens.end(), sequence.tokens.begin() + step.first),
                "other tokens are computed than the sequence has")) {
            return false;
        }
        expect(!waiting_for_images_.contains(step.id), "an image is computed that is not there");
        expect(step.image_offset == step.first - base::last_edge(sequence.tokens, step.first),
               "an image goes on elsewhere than it stands");
        expect(!limits_.has_whole_images || !step.is_image() || step.tokens.size() == sequence.pending_step(),
               "a part of an image is computed whose tokens see each other");
        expect(std::ranges::none_of(step.drafts, base::is_image), "an image is guessed");
        return expect(step.sample == (step.tokens.size() == sequence.pending()),
                      "samples elsewhere than at the end");
    }

    sched::Outcome advance(const sched::Step& step, Random& random, bool is_failed, int64_t turn) {
        using enum sched::Outcome::Kind;
        Sequence& sequence = sequences_.at(step.id);
        auto& cells = cells_of(step.slot);
        for (const auto& tokens : {step.tokens, step.drafts}) {
            for (const base::Token token : tokens) {
                const uint64_t before = cells.empty() ? 0 : cells.back().path;
                cells.push_back({.name = next_++, .token = token, .path = path_after(before, token)});
            }
        }
        sequence.computed += step.tokens.size();
        sched::Outcome outcome = sequence.sample(step, random);
        if (step.sample && !is_failed && random.chance(slow_percent_))
            outcome = sequence.sample_later(outcome);
        expect(std::ssize(sequence.tokens) <= limits_.context_length, "a sequence outgrows the context");
        drafts_accepted_ += static_cast<uint64_t>(outcome.accepted);
        drafts_rejected_ += step.drafts.size() - static_cast<size_t>(outcome.accepted);
        if (!is_failed && outcome.kind != finished) return outcome;
        end(step.id, turn);
        return is_failed ? sched::Outcome{.kind = failed} : outcome;
    }

    void end(base::RequestId id, int64_t turn) {
        Sequence& sequence = sequences_.at(id);
        longest_stay_ = std::max(longest_stay_, turn - sequence.submitted);
        ended_.push_back(std::move(sequence.tokens));
        sequences_.erase(id);
    }
    const sched::Limits limits_;
    /// Everybody in the house.
    std::map<base::RequestId, Sequence> sequences_;
    std::vector<std::vector<Cell>> slots_;
    /// The text that each saved state belongs to.
    std::map<base::CheckpointId, Tokens> checkpoints_;
    std::vector<base::CheckpointId> saved_;
    std::set<base::CheckpointId> forgotten_;
    NaiveHostMemory host_memory_;
    std::set<base::RequestId> waiting_for_images_;
    int32_t copy_fail_percent_ = 0, slow_percent_ = 0;
    std::vector<bool> restored_;
    uint64_t tokens_restored_ = 0;
    std::vector<Tokens> ended_;
    std::string complaint_;
    size_t next_ = 0;
    bool freed_while_used_ = false;
    int64_t longest_stay_ = 0;
    uint64_t preemptions_ = 0;
    uint64_t tokens_shared_ = 0;
    uint64_t shifts_ = 0;
    uint64_t recomputed_ = 0;
    /// Those of this turn that were cut and begin anew at once.
    std::set<base::RequestId> begun_again_;
    uint64_t drafts_accepted_ = 0;
    uint64_t drafts_rejected_ = 0;
};

} // namespace test
