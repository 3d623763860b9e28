// An engine without a model for scheduler_random_test.cpp: it knows of each sequence how far it is computed and
// of each slot whose cells it holds, does what a plan says, and complains about the first thing that no engine
// could or should do.
#pragma once

#include "plan_in_words.h"
#include "random.h"
#include "sched/request.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace test {

class NaiveEngine {
public:
    explicit NaiveEngine(const sched::Limits& limits)
        : limits_(limits), owners_(static_cast<size_t>(limits.sequences), kNobody) {}

    /// `generates` tokens after the prompt, then it is finished. Ids count up with arrival.
    void submit(base::RequestId id, int32_t prompt_tokens, int32_t generates, int64_t turn) {
        sequences_[id] = {
            .length = prompt_tokens, .length_end = prompt_tokens + generates, .submitted = turn};
    }

    void cancel(base::RequestId id) { sequences_.erase(id); }

    /// Computes a plan; each step fails with the given chance. The outcomes are those for Scheduler::apply().
    std::vector<sched::Outcome> compute(const sched::Plan& plan, Random& random, int32_t fail_percent,
                                        int64_t turn) {
        const std::set<base::RequestId> decoding = decoding_ids();
        const std::set<base::RequestId> preempted = release(plan);
        check_turn(plan, decoding, preempted);
        std::vector<sched::Outcome> outcomes;
        for (const sched::Step& step : plan.steps) {
            if (!check_step(step)) break;
            outcomes.push_back(advance(step, random.chance(fail_percent), turn));
        }
        int32_t cells = 0;
        for (const auto& [id, sequence] : sequences_) cells += sequence.computed;
        expect(cells <= limits_.cells, "more is computed than there are cells");
        if (!complaint_.empty()) complaint_ += " (turn " + std::to_string(turn) + ", " + in_words(plan) + ")";
        return outcomes;
    }

    /// Empty while all is well.
    const std::string& complaint() const { return complaint_; }

    std::vector<base::RequestId> ids() const {
        std::vector<base::RequestId> ids;
        for (const auto& [id, sequence] : sequences_) ids.push_back(id);
        return ids;
    }

    bool is_every_slot_released() const {
        return std::ranges::count(owners_, kNobody) == std::ssize(owners_);
    }
    int64_t longest_stay() const { return longest_stay_; }
    uint64_t preemptions() const { return preemptions_; }

private:
    struct Sequence {
        int32_t length = 0;
        int32_t length_end = 0;
        int64_t submitted = 0;
        int32_t computed = 0;
        base::Slot slot = base::kNoSlot;

        int32_t pending() const { return length - computed; }
        bool is_decoding() const { return computed > 0 && pending() == 1; }
    };

    static constexpr base::RequestId kNobody = 0;

    /// Only the first complaint counts: what follows are its consequences.
    bool expect(bool is_true, const char* complaint) {
        if (!is_true && complaint_.empty()) complaint_ = complaint;
        return is_true;
    }

    std::set<base::RequestId> decoding_ids() const {
        std::set<base::RequestId> ids;
        for (const auto& [id, sequence] : sequences_) {
            if (sequence.is_decoding()) ids.insert(id);
        }
        return ids;
    }

    /// Frees the released slots. The answer: who lost a slot without having ended.
    std::set<base::RequestId> release(const sched::Plan& plan) {
        const std::set<base::Slot> released(plan.released.begin(), plan.released.end());
        expect(released.size() == plan.released.size(), "a slot is released twice");
        std::set<base::RequestId> preempted;
        for (const base::Slot slot : released) {
            if (!expect(slot >= 0 && slot < limits_.sequences, "a slot is released that does not exist"))
                continue;
            base::RequestId& owner = owners_[static_cast<size_t>(slot)];
            if (const auto found = sequences_.find(owner); found != sequences_.end()) {
                found->second.computed = 0;
                found->second.slot = base::kNoSlot;
                preempted.insert(owner);
            }
            owner = kNobody;
        }
        preemptions_ += preempted.size();
        for (const auto& [id, sequence] : sequences_) {
            if (sequence.slot == base::kNoSlot) continue;
            expect(preempted.empty() || id < *preempted.begin(), "an older one gave way to a younger one");
        }
        return preempted;
    }

    /// What holds for a turn as a whole.
    void check_turn(const sched::Plan& plan, const std::set<base::RequestId>& decoding,
                    const std::set<base::RequestId>& preempted) {
        expect(!plan.steps.empty() || sequences_.empty(), "nothing is planned although somebody waits");
        const size_t decoding_count = decoding.size() - count_common(decoding, preempted);
        const int32_t decoded = static_cast<int32_t>(decoding_count);
        expect(plan.steps.size() >= decoding_count, "a decoding sequence does not advance");
        int32_t tokens = 0;
        std::map<base::RequestId, int32_t> planned;
        for (size_t i = 0; i < plan.steps.size(); ++i) {
            const sched::Step& step = plan.steps[i];
            const bool decodes = decoding.contains(step.id) && !preempted.contains(step.id);
            expect(planned.emplace(step.id, step.count).second, "a sequence has two steps in one turn");
            expect(decodes == (i < decoding_count),
                   "not every decoding sequence advances before the prompts do");
            tokens += step.count;
        }
        bool is_prompt_cut = false;
        for (const auto& [id, sequence] : sequences_) {
            const bool is_running = sequence.slot != base::kNoSlot || planned.contains(id);
            is_prompt_cut |= is_running && planned[id] < sequence.pending();
        }
        const int32_t budget_busy = std::min(limits_.batch_tokens, decoded + limits_.batch_tokens_busy);
        const int32_t budget = decoded > 0 ? budget_busy : limits_.batch_tokens;
        expect(tokens <= budget, "the turn is over its budget");
        expect(!is_prompt_cut || tokens == budget, "a prompt waits although the budget is not used up");
    }

    static size_t count_common(const std::set<base::RequestId>& a, const std::set<base::RequestId>& b) {
        return static_cast<size_t>(
            std::ranges::count_if(a, [&](base::RequestId id) { return b.contains(id); }));
    }

    /// Whether the step continues its sequence where it stands, in a slot that is its own.
    bool check_step(const sched::Step& step) {
        const auto found = sequences_.find(step.id);
        if (!expect(found != sequences_.end(), "a step of somebody who is not in the house")) return false;
        if (!expect(step.slot >= 0 && step.slot < limits_.sequences, "a step in a slot that does not exist"))
            return false;
        Sequence& sequence = found->second;
        base::RequestId& owner = owners_[static_cast<size_t>(step.slot)];
        const bool is_new = owner == kNobody && sequence.slot == base::kNoSlot;
        if (!expect(is_new || owner == step.id, "a slot is used that holds another one's cells"))
            return false;
        owner = step.id;
        sequence.slot = step.slot;
        if (!expect(step.first == sequence.computed, "tokens are left out or computed twice")) return false;
        if (!expect(step.count >= 1 && step.count <= sequence.pending(),
                    "tokens are computed that are not known")) {
            return false;
        }
        return expect(step.sample == (step.count == sequence.pending()), "samples elsewhere than at the end");
    }

    sched::Outcome advance(const sched::Step& step, bool is_failed, int64_t turn) {
        Sequence& sequence = sequences_.at(step.id);
        sequence.computed += step.count;
        if (step.sample) sequence.length += 1;
        const bool is_finished = step.sample && sequence.length == sequence.length_end;
        if (!is_failed && !is_finished) return sched::Outcome::advanced;
        longest_stay_ = std::max(longest_stay_, turn - sequence.submitted);
        sequences_.erase(step.id);
        return is_failed ? sched::Outcome::failed : sched::Outcome::finished;
    }

    const sched::Limits limits_;
    /// Everybody in the house; an id that is gone may still own a slot until that is released.
    std::map<base::RequestId, Sequence> sequences_;
    std::vector<base::RequestId> owners_;
    std::string complaint_;
    int64_t longest_stay_ = 0;
    uint64_t preemptions_ = 0;
};

} // namespace test
