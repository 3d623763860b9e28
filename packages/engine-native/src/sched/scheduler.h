// Decides what the engine computes next. Pure: no clock, no random numbers, no llama.cpp; the same calls give the same plans.
// For one thread.
//
//     submit, cancel  ─▶  schedule()  ─▶  (the engine executes the plan)  ─▶  update()
//
// A step is one batch under a token budget. Decoding sequences come first, with one token each. The rest of the budget goes to
// prefill, oldest sequence first, so that a long prompt never stalls the others. A higher priority (Request::priority) goes before all of
// this: it is admitted first, computes first, and keeps its cells and its slot. The lowest, kBackground, is computed only in steps in
// which nothing else runs.
//
// Admission reserves cells: a sequence starts only when its tokens and some cells ahead fit. It grows by reserving more. If
// none can be freed, the youngest running sequence (of the lowest priority) is preempted and goes to the head of the waiting queue. So a request never
// fails because another one grew, and the oldest always runs.
//
// A sequence that fills the context ends, or drops its oldest chat turns and continues (Request::turns): its cells are moved, or,
// if they cannot be moved, the remaining tokens are computed again.
//
// Drafts of a decoding sequence's next tokens (step.h) are computed beside its one token, in cells that it has reserved
// anyway; rejected ones are trimmed before the next step. No sequence is preempted for a draft, and a step with prefill has
// none.
//
// An image is a run of tokens like any other (base/types.h), with four exceptions: a batch entry is text or one image;
// a prefix is shared and cut at image edges; a sequence waits for an image that is not encoded yet while others continue; and
// an image whose tokens attend to each other is computed in one step.
//
// A step computes with one set of adapters. Sets take turns, step by step: the one that has waited longest is next, so each waits for
// at most one step of every other set that runs.
//
// Prefixes are shared (kv_cache_manager.h): a sequence starts with the longest prefix that is in the prefix cache. If another
// sequence is currently computing more of its prefix, it waits for that instead of computing the same tokens. Where recurrent
// state cannot be cut (Limits::checkpoints), prefill stops at each of a prompt's boundaries, and a checkpoint is saved there and
// at a sequence's end. The part of a text that the host KV tier has (host_tier.h) is swapped in instead of computed: in a step, a
// sequence is either swapped in or computed.
#pragma once

#include "sched/kv_cache_manager.h"
#include "sched/request.h"
#include "sched/sequence.h"
#include "sched/step.h"
#include "sched/waiting_queue.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace sched {

class Scheduler {
public:
    explicit Scheduler(const Limits& limits);

    // Between steps: after update(), before the next schedule().

    /// REQUIRES: a new id, and lengths within the limits (see Request).
    /// noexcept: a half-registered request would corrupt the scheduler, so running out of memory here aborts.
    void submit(Request request) noexcept;

    /// Ends a request in any state. False if there is no such request.
    bool cancel(base::RequestId id);

    /// Plans the next step. An empty batch means that there is nothing to compute now.
    const StepPlan& schedule(const StepBudget& budget);

    /// Plans to evict cached sequences, swapping out as much as fits one step; plans nothing when none are left.
    /// REQUIRES: nothing runs.
    const StepPlan& schedule_eviction();

    /// Takes the outcome of the last plan. REQUIRES: exactly one call for each schedule() and schedule_eviction(), before any
    /// other non-const call.
    void update(const StepResult& result);

    /// See KvCacheManager::adopt().
    base::SegmentId adopt_segment(const Text& text, int32_t first, std::vector<int32_t> checkpoints,
                                  uint64_t bytes) {
        return kv_cache_.adopt(text, first, std::move(checkpoints), bytes);
    }

    /// How many texts have names; the one that was named first loses its name to another.
    static constexpr size_t kNamedMax = 256;

    /// From now on, this text has this name.
    void name_text(const SlotName& name, SlotText text);

    void forget_text(const SlotName& name) { named_.erase(name); }

    /// Forgets the state of a text, except for what others have in common with it: see KvCacheManager::erase().
    int32_t erase(const Text& text) { return kv_cache_.erase(text); }

    // At any time.

    /// The text with this name: that of the latest request with the name which has ended. Null without one.
    const SlotText* slot_text(const SlotName& name) const;

    /// Whether this request's sequence runs and its last outcome was `awaits_token`. If it was preempted since, it is computed
    /// and sampled again instead.
    bool awaits_token(base::RequestId id) const;

    const KvCacheManager& kv_cache() const { return kv_cache_; }

    Counters counters() const;

    /// The number of tokens that each slot holds. An empty slot may have cells until the next plan frees them.
    std::vector<int32_t> held() const;

    /// Ids of all requests in flight, oldest first.
    std::vector<base::RequestId> ids() const;

    /// Asserts the invariants that hold between steps. For tests.
    void check_integrity() const;

private:
    using Keep = KvCacheManager::Keep;

    Sequence& find(base::RequestId id);

    // The steps of schedule(), in this order.
    void cut_full_sequences();
    void choose_adapters(const StepBudget& budget);
    bool has_all_slots() const { return static_cast<int32_t>(running_.size()) == limits_.sequences; }
    void make_way();
    void admit_before_background();
    void plan_decoding();
    void admit_waiting();
    void plan_prefill(const StepBudget& budget);
    void plan_drafts(const StepBudget& budget);

    bool cut(Sequence& sequence);
    void drop_turns(Sequence& sequence, const Cut& part);
    void drop_turns_if_full(Sequence& sequence);
    /// Whether it waits for a step without others. Those of the highest priority are first in running_.
    bool is_set_aside(const Sequence& sequence) const {
        return sequence.is_background() && !running_.empty() && !running_.front()->is_background();
    }
    /// A sequence that is admitted in this step does not decode yet, even if all but its last token was in the prefix cache.
    bool is_decoding(const Sequence& sequence) const {
        return sequence.is_decoding() && sequence.last_step() < steps_;
    }
    bool is_in_step(const Sequence& sequence) const {
        return sequence.request().adapters == adapters_ && !is_set_aside(sequence);
    }
    static Text sharable(const Sequence& sequence);
    PrefixTree::Match find_prefix(const Sequence& sequence) const;
    bool is_being_computed(const Sequence& sequence, int32_t shared) const;
    int32_t will_share(const Sequence& leader, int32_t common) const;
    bool admit(Sequence& sequence, const PrefixTree::Match& match);
    bool plan_swap_ins(const Sequence& sequence);
    int32_t prefill_count(const Sequence& sequence, int32_t budget, bool is_first) const;
    void add_entry(const Sequence& sequence, int32_t count);
    std::span<const base::Token> draft(const Sequence& sequence, DraftSource& source, int32_t most);
    bool grow(Sequence& sequence);
    int32_t reservation(const Sequence& sequence) const;

    // The steps of update(), in this order.
    void note_copies(const StepResult& result);
    void note_swap_in(const SwapIn& op, Copied copied);
    void note_outcomes(const std::vector<Outcome>& outcomes);
    void note_late_token(const LateToken& late);
    void lose_cache();

    void advance(Sequence& sequence, const BatchEntry& entry, const Outcome& outcome);
    void preempt(Sequence& sequence);
    void requeue(Sequence& sequence, Keep keep);
    void stop_running(Sequence& sequence, Keep keep);
    void end(Sequence& sequence, Keep keep);

    const Limits limits_;
    std::unordered_map<base::RequestId, std::unique_ptr<Sequence>> sequences_;
    /// Oldest first. Pointers into sequences_.
    std::vector<Sequence*> running_;
    WaitingQueue waiting_;
    std::unordered_map<std::string, int32_t> requests_of_client_;

    KvCacheManager kv_cache_;
    /// By Request::id_slot.
    struct Named {
        SlotText text;
        /// Counts names that were given.
        uint64_t at;
    };
    std::map<SlotName, Named> named_;
    uint64_t names_given_ = 0;
    uint64_t arrivals_ = 0;
    uint64_t preemptions_ = 0;
    uint64_t context_shifts_ = 0;
    StepPlan plan_;
    /// Of the step that is planned.
    std::string adapters_;
    uint64_t steps_ = 0;
    /// For DraftSource::prepare().
    std::vector<DecodingText> texts_;
    /// The storage that the entries' drafts point into.
    std::vector<base::Token> drafts_;
    /// Whether schedule() was called and update() not yet.
    bool is_planned_ = false;
};

} // namespace sched
