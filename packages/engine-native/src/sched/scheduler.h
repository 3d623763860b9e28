// Decides what the engine computes next. Pure: no clock, no random numbers, no llama.cpp; the same calls give the
// same plans. One thread.
//
//     submit, cancel  ->  plan()  ->  (the engine computes it)  ->  apply()
//
// A turn is {sequence: tokens} under a token budget. Decoding sequences come first, one token each; what is left of
// the budget goes to the sequences that catch up with their prompts, oldest first, so that one long prompt never
// freezes the others.
//
// Cells are reserved at admission: a sequence starts only when its tokens and some room to grow fit. It grows by
// reserving more; when no cell is free, the youngest running sequence is preempted and waits at the head of the line.
// A request is therefore never failed because another one grew, and the oldest always runs.
//
// A sequence that fills the context ends there, or drops its oldest turns and goes on (Request::turns): its cells are
// moved, or, where that cannot be, it computes what is left anew.
//
// Where guesses of a sequence's next tokens are to be had (drafter.h), they are computed beside its one token, in cells
// that it has reserved anyway; what the guesses were wrong about is cut off before the next turn. Nobody gives way for a
// guess, and a turn with a part of a prompt has none.
//
// Images are runs of tokens like any others (base/image_tokens.h), but for four things: a step is text or of one image, a
// beginning that is shared or cut off ends at an image's edge, a sequence waits for an image that is not encoded yet while
// others go on (image_source.h), and where its tokens see each other it is computed whole.
//
// Prefixes are shared (cells.h): a sequence starts with the longest beginning that is computed already, whoever computed
// it. One whose beginning is just being computed by another waits for that one instead of computing it beside it. Where
// a part of the state cannot be cut (Limits::checkpoints), a step ends at each of a prompt's boundaries, and there, as
// at a sequence's end, a checkpoint is made. What host memory has of a sequence's text (stashes.h) is copied instead of
// computed: a sequence that catches up gets restores in a turn, or a step, and goes on from there.
#pragma once

#include "sched/cells.h"
#include "sched/drafter.h"
#include "sched/request.h"
#include "sched/sequence.h"
#include "sched/waiting_line.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace sched {

class Scheduler {
public:
    explicit Scheduler(const Limits& limits);

    /// REQUIRES: a new id, and lengths within the limits (see Request).
    /// Half a request in the books would be everybody's: without memory for these the process ends.
    void submit(Request request) noexcept;

    /// Ends a request in whatever state it is. False when there is no such request.
    bool cancel(base::RequestId id);

    /// The next turn. Empty steps mean that there is nothing to do.
    /// REQUIRES: apply() was called for the plan before.
    const Plan& plan(const TurnBudget& budget);

    /// What became of a plan's copies, before apply(); the plan stays valid. Of each `stash` in it: whether it was kept,
    /// and the bytes that it takes or would have taken. Of each restore: whether those tokens are there now.
    void stashed(base::StashId stash, uint64_t bytes, bool is_kept) { cells_.stashed(stash, bytes, is_kept); }
    void restored(const Restore& restore, bool is_ok);
    /// A `stash` was not tried, for a reason that says nothing about memory.
    void not_stashed(base::StashId stash) { cells_.not_stashed(stash); }

    /// Reports the turn: one outcome for each step of the last plan, in order.
    void apply(const std::vector<Outcome>& outcomes);

    /// Whether this request's last step was `sampling`, and its sequence still runs: if it had to give way, it is computed
    /// anew, and sampled then.
    bool awaits_token(base::RequestId id) const;
    /// What was sampled: `advanced` or `finished`.
    /// REQUIRES: awaits_token(), between turns.
    void sampled(base::RequestId id, const Outcome& outcome);

    /// The state of this checkpoint could not be saved or restored: nobody is to begin with it.
    void forget(base::CheckpointId checkpoint) { cells_.forget(checkpoint); }

    /// Everything computed is lost, the context was emptied: running sequences wait and begin anew.
    void start_over();

    /// Donors are given up, and copied to host memory as far as there is room; empty when there are none left.
    /// REQUIRES: nobody runs.
    const Plan& give_up_donors();

    /// See Cells::adopt().
    base::StashId adopt(std::span<const base::Token> text, int32_t first, std::vector<int32_t> checkpoints,
                        uint64_t bytes) {
        return cells_.adopt(text, first, std::move(checkpoints), bytes);
    }
    const Stashes& stashes() const { return cells_.stashes(); }
    const Cells& cells() const { return cells_; }

    Counters counters() const;

    /// Tokens that each slot holds. Those of none may have cells until the next plan frees them.
    std::vector<int32_t> held() const;

    /// Ids of every request in the house, oldest first; for shutting down.
    std::vector<base::RequestId> ids() const;

    /// Asserts the invariants that hold between turns. For tests and idle moments.
    void check_integrity() const;

private:
    using Keep = Cells::Keep;

    Sequence& find(base::RequestId id);
    void cut_full_ones();
    bool cut(Sequence& sequence);
    void drop_turns(Sequence& sequence, const Cut& part);
    void plan_decoding();
    void plan_catching_up(const TurnBudget& turn);
    int32_t next_count(const Sequence& sequence, int32_t budget, bool is_first) const;
    bool plan_restores(const Sequence& sequence);
    void add_step(const Sequence& sequence, int32_t count);
    void plan_drafts(const TurnBudget& budget);
    std::span<const base::Token> draft(const Sequence& sequence, Drafter& drafter, int32_t most);
    void advance(Sequence& sequence, const Step& step, const Outcome& outcome);

    void admit_waiting();
    PrefixTree::Match find_prefix(const Sequence& sequence) const;
    bool is_being_computed(const Sequence& sequence, int32_t there) const;
    int32_t will_share(const Sequence& leader, int32_t common) const;
    bool admit(Sequence& sequence, const PrefixTree::Match& match);
    bool grow(Sequence& sequence);
    void preempt(Sequence& sequence);
    void requeue(Sequence& sequence, Keep keep);
    void end(Sequence& sequence, Keep keep);
    void stop_running(Sequence& sequence, Keep keep);

    int32_t reservation(const Sequence& sequence) const;

    const Limits limits_;
    std::unordered_map<base::RequestId, std::unique_ptr<Sequence>> sequences_;
    /// Oldest first. Pointers into sequences_.
    std::vector<Sequence*> running_;
    WaitingLine waiting_;
    std::unordered_map<std::string, int32_t> requests_of_client_;

    Cells cells_;
    uint64_t arrivals_ = 0;
    uint64_t preemptions_ = 0;
    uint64_t shifts_ = 0;
    Plan plan_;
    /// What the plan's steps have drafts from.
    std::vector<base::Token> drafts_;
    bool is_planned_ = false;
};

} // namespace sched
