// What holds for a turn of naive_engine.h as a whole: who must have a step in it, and how much it may hold.
#pragma once

#include "naive_sequence.h"
#include "sched/drafter.h"
#include "sched/request.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

namespace test {

struct NaiveTurn {
    const sched::Limits& limits;
    const sched::TurnBudget& budget;
    /// Everybody in the house, and of them those who had one token to go before the turn.
    const std::map<base::RequestId, NaiveSequence>& sequences;
    const std::set<base::RequestId>& decoding;
    /// Who was told that an image is not there yet.
    const std::set<base::RequestId>& waiting_for_images;
    /// Something is copied out or back: who has to do with it may have to wait for the next turn.
    bool is_copying;

    /// What is wrong with a plan; nullptr when nothing is.
    const char* complaint(const sched::Plan& plan) const {
        const auto& steps = plan.steps;
        if (steps.empty() && !sequences.empty() && !is_copying && !are_all_waiting())
            return "nothing is planned although somebody waits";
        if (!std::ranges::is_partitioned(steps, [](const auto& step) { return !step.is_image(); }))
            return "texts are computed after images";
        if (steps.size() < decoding.size()) return "a decoding sequence does not advance";
        size_t tokens = 0;
        size_t drafts = 0;
        std::map<base::RequestId, size_t> planned;
        for (size_t i = 0; i < steps.size(); ++i) {
            const sched::Step& step = steps[i];
            if (!planned.emplace(step.id, step.tokens.size()).second)
                return "a sequence has two steps in one turn";
            if (decoding.contains(step.id) != (i < decoding.size()))
                return "not every decoding sequence advances before the prompts do";
            tokens += step.tokens.size();
            drafts += step.drafts.size();
        }
        const size_t most = tokens_max();
        // A whole image goes beyond it when it is the only one beside those that decode.
        const bool is_whole =
            limits.has_whole_images && steps.size() == decoding.size() + 1 && steps.back().is_image();
        if (tokens > most && !is_whole) return "the turn is over its budget";
        if (tokens < most && !is_copying && is_prompt_cut(planned, most - tokens))
            return "a prompt waits although the budget is not used up";
        if (drafts > 0 && tokens != steps.size()) return "there are drafts beside a part of a prompt";
        const auto batch = static_cast<size_t>(limits.batch_tokens);
        // Beside guesses, each step is one token that samples.
        const bool are_too_many =
            steps.size() + drafts > static_cast<size_t>(budget.outputs) || tokens + drafts > batch;
        return drafts > 0 && are_too_many ? "there are more drafts than the turn may hold" : nullptr;
    }

private:
    size_t tokens_max() const {
        const auto batch = static_cast<size_t>(limits.batch_tokens);
        const size_t busy = decoding.size() + static_cast<size_t>(budget.prompt_busy);
        return decoding.empty() ? batch : std::min(batch, busy);
    }

    /// For images, or for tokens that are told later.
    bool are_all_waiting() const {
        bool is_any = false;
        for (const auto& [id, sequence] : sequences) {
            if (sequence.is_running && !sequence.awaits_token() && !waiting_for_images.contains(id))
                return false;
            is_any |= sequence.is_running;
        }
        return is_any;
    }

    /// Whether somebody has less than he could have, with so many tokens `left` in the turn.
    bool is_prompt_cut(std::map<base::RequestId, size_t>& planned, size_t left) const {
        bool is_cut = false;
        for (const auto& [id, sequence] : sequences) {
            if (!sequence.is_running || waiting_for_images.contains(id)) continue;
            const size_t wanted = sequence.pending_step();
            is_cut |= planned[id] < wanted;
            // Nobody passes a whole image that there is no room for.
            if (planned[id] == 0 && limits.has_whole_images && sequence.is_image_due() && wanted > left)
                return false;
        }
        return is_cut;
    }
};

} // namespace test
