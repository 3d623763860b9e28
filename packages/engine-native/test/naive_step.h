// What holds for a whole step of naive_engine.h: which requests must have an entry, and how much the batch may hold.
#pragma once

#include "naive_sequence.h"
#include "naive_turns.h"
#include "sched/request.h"
#include "sched/step.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>

namespace test {

struct NaiveStep {
    const sched::Limits& limits;
    const sched::StepBudget& budget;
    /// All requests in flight, and those that had one token to go before the step.
    const std::map<base::RequestId, NaiveSequence>& sequences;
    const std::set<base::RequestId>& all_decoding;
    /// Requests whose image is not ready.
    const std::set<base::RequestId>& waiting_for_images;
    /// Something is swapped out or in: requests may have to wait for it until the next step.
    bool is_copying;

    /// What is wrong with a plan; nullptr if nothing is.
    const char* complaint(const sched::StepPlan& plan) const {
        const auto& batch = plan.batch;
        const std::string* adapters = adapters_of(plan, sequences);
        std::set<base::RequestId> decoding; // with the step's adapters
        size_t delayed = 0;                 // decoding with others
        for (const base::RequestId id : all_decoding) {
            if (is_set_aside(sequences.at(id), sequences)) continue;
            if (adapters == nullptr || sequences.at(id).adapters == *adapters) decoding.insert(id);
            else delayed += 1;
        }
        if (batch.empty() && !sequences.empty() && !is_copying && !are_all_waiting())
            return "nothing is planned although a request waits";
        if (!std::ranges::is_partitioned(batch, [](const auto& entry) { return !entry.is_image(); }))
            return "texts are computed after images";
        if (batch.size() < decoding.size()) return "a decoding sequence does not advance";
        size_t tokens = 0;
        size_t drafts = 0;
        std::map<base::RequestId, size_t> planned;
        const auto is_other = [&](const auto& entry) { return sequences.at(entry.id).adapters != *adapters; };
        if (std::ranges::any_of(batch, is_other)) return "a step computes with two sets of adapters";
        for (size_t i = 0; i < batch.size(); ++i) {
            const sched::BatchEntry& entry = batch[i];
            if (is_set_aside(sequences.at(entry.id), sequences))
                return "a step in which others run computes something in the background";
            if (!planned.emplace(entry.id, entry.tokens.size()).second)
                return "a sequence has two entries in one batch";
            if (decoding.contains(entry.id) != (i < decoding.size()))
                return "not every decoding sequence advances before the prompts do";
            tokens += entry.tokens.size();
            drafts += entry.drafts.size();
        }
        const size_t most = tokens_max(decoding.size(), delayed);
        // A whole image may exceed it if it is the only prefill.
        const bool is_whole =
            limits.has_whole_images && batch.size() == decoding.size() + 1 && batch.back().is_image();
        if (tokens > most && !is_whole) return "the step is over its budget";
        if (adapters != nullptr && tokens < most && !is_copying &&
            is_prompt_cut(planned, most - tokens, *adapters))
            return "a prompt waits although the budget is not used up";
        if (drafts > 0 && tokens != batch.size()) return "there are drafts beside a part of a prompt";
        const auto differs = [&](const auto& entry) { return entry.drafts.size() * batch.size() != drafts; };
        if (limits.has_equal_drafts && std::ranges::any_of(batch, differs))
            return "sequences have different numbers of drafts where state is recurrent";
        const auto batch_tokens = static_cast<size_t>(limits.batch_tokens);
        // Beside drafts, each entry is one token that samples.
        const bool are_too_many =
            batch.size() + drafts > static_cast<size_t>(budget.outputs) || tokens + drafts > batch_tokens;
        return drafts > 0 && are_too_many ? "there are more drafts than the step may hold" : nullptr;
    }

private:
    /// Beside so many decoding sequences. Those with other adapters wait for the step too, and any request that comes for one in the
    /// background.
    size_t tokens_max(size_t decoding, size_t delayed) const {
        const auto batch = static_cast<size_t>(limits.batch_tokens);
        const size_t busy = decoding + static_cast<size_t>(budget.prefill_busy);
        const bool is_background = std::ranges::none_of(sequences, [](const auto& entry) {
            return entry.second.is_running && !entry.second.is_background();
        });
        return decoding + delayed == 0 && !is_background ? batch : std::min(batch, busy);
    }

    /// For images, or for late tokens.
    bool are_all_waiting() const {
        bool is_any = false;
        for (const auto& [id, sequence] : sequences) {
            if (is_set_aside(sequence, sequences)) continue;
            if (sequence.is_running && !sequence.awaits_token() && !waiting_for_images.contains(id))
                return false;
            is_any |= sequence.is_running;
        }
        return is_any;
    }

    /// Whether a prompt has less than it could have, with so many tokens `left` in the step.
    bool is_prompt_cut(std::map<base::RequestId, size_t>& planned, size_t left,
                       const std::string& adapters) const {
        bool is_cut = false;
        for (const auto& [id, sequence] : sequences) {
            if (!sequence.is_running || waiting_for_images.contains(id) || sequence.adapters != adapters ||
                is_set_aside(sequence, sequences))
                continue;
            const size_t wanted = sequence.pending_entry();
            is_cut |= planned[id] < wanted;
            // No request passes a whole image that there is no room for.
            if (planned[id] == 0 && limits.has_whole_images && sequence.is_image_due() && wanted > left)
                return false;
        }
        return is_cut;
    }
};

} // namespace test
