// The tokens that may still be chosen, at one place of a text: at first all of the vocabulary, with the model's logits; a list of
// candidates once a sampler has cut it. Logits that change in the vocabulary get their values back.
#pragma once

#include "base/types.h"
#include "sampling/candidates.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sampling {

class Pool {
public:
    /// Clears the scratch's list. Pools on one scratch end in the reverse order.
    Pool(std::span<float> logits, Candidates& scratch);
    /// Begins with the list as the scratch has it: the likeliest of a vocabulary of this size, in any order.
    Pool(Candidates& scratch, size_t vocabulary_size);
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    bool is_list() const { return is_list_; }
    /// While it is no list: the logits, to be divided by temperature().
    std::span<const float> all() const { return logits_; }
    float temperature() const { return temperature_; }
    /// While it is no list: the token with the highest logit, and that logit.
    base::Token best();
    float highest() { return logits_[static_cast<size_t>(best())]; }

    std::vector<Candidate>& list() { return scratch_.list; }
    Candidates& scratch() { return scratch_; }
    /// From now on it is the list, which a function of candidates.h has made of all().
    void be_list(bool is_sorted);
    /// From now on it is the likeliest token alone.
    void be_likeliest();
    /// The list with the likeliest first, and equals in the order of the vocabulary.
    void sort();

    /// How many tokens llama.cpp would count here: it keeps some that cannot be drawn any more.
    size_t count() const { return count_; }
    void set_count(size_t count) { count_ = count; }

    /// Sets a token's logit, if it has the token.
    void set(base::Token token, float logit);
    void add(base::Token token, float bias);

    /// Sets the logits of those of its tokens that `entries` has, in order by token, to change(logit, entry).
    template <class Entry, class Change>
    void adjust(const std::vector<Entry>& entries, const Change& change) {
        if (!is_list_) {
            for (const Entry& entry : entries) {
                float& logit = changed(entry.token);
                logit = change(logit, entry);
            }
            return;
        }
        for (Candidate& candidate : list()) {
            const auto entry = std::ranges::lower_bound(entries, candidate.token, {}, &Entry::token);
            if (entry == entries.end() || entry->token != candidate.token) continue;
            candidate.logit = change(candidate.logit, *entry);
            is_sorted_ = false;
        }
    }

    /// Divides all logits; at 0, or so near to 0 that they overflow, only the likeliest token is left.
    void divide(float temperature);
    /// Applies a division of all logits that draws and cuts have not needed one by one so far.
    void flatten();

private:
    float& changed(base::Token token);
    float* find(base::Token token);

    std::span<float> logits_;
    Candidates& scratch_;
    /// Of scratch_.changed, the first that is this pool's.
    const size_t first_changed_;
    /// The logits are the scratch's own.
    bool is_flat_ = false;
    bool is_list_ = false;
    bool is_sorted_ = false;
    float temperature_ = 1;
    size_t count_;
    std::optional<base::Token> best_;
};

} // namespace sampling
