#include "sampling/candidates.h"

#include "sampling/loops.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace sampling {

namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

/// llama.cpp uses std::partial_sort up to this many, and a bucket sort for more.
constexpr size_t kPartialSortMax = 128;

/// Groups per token of keep_top(): enough that two of the likeliest seldom share one, and enough for wide vectors.
constexpr size_t kGroupsPerToken = 4;
constexpr size_t kGroupsMin = 128;

/// Calls visit(first, end) for each block, from `from` on, that may have a logit above `bound`. `visit` may raise `bound`.
template <class Visit>
void visit_blocks_above(std::span<const float> logits, size_t from, const float& bound, const Visit& visit) {
    using loops::kBlock;
    size_t first = from;
    size_t blocks = (logits.size() - from) / kBlock;
    while (blocks > 0) {
        const size_t skipped = loops::blocks_not_above(&logits[first], blocks, bound);
        first += skipped * kBlock;
        blocks -= skipped;
        if (blocks == 0) break;
        visit(first, first + kBlock);
        first += kBlock;
        --blocks;
    }
    if (first < logits.size()) visit(first, logits.size());
}

void append_above(std::span<const float> logits, size_t first, size_t end, float bound,
                  std::vector<Candidate>& list) {
    size_t size = list.size();
    list.resize(size + end - first);
    for (size_t i = first; i < end; ++i) {
        list[size] = {.token = static_cast<base::Token>(i), .logit = logits[i], .p = 0.0F};
        size += logits[i] > bound ? 1 : 0;
    }
    list.resize(size);
}

/// A lower bound of the k highest logits, with few others above it. Logits are distributed over groups round robin; at least k
/// logits are not below the k-th highest of the groups' maxima.
float lower_bound_of_top(std::span<const float> logits, size_t k, std::vector<float>& highest) {
    const size_t groups = std::min(std::max(kGroupsPerToken * k, kGroupsMin), logits.size());
    highest.assign(groups, kLowest);
    for (size_t first = 0; first < logits.size(); first += groups) {
        loops::raise_to(highest.data(), &logits[first], std::min(groups, logits.size() - first));
    }
    const auto last = highest.begin() + static_cast<std::ptrdiff_t>(k) - 1;
    std::nth_element(highest.begin(), last, highest.end(), std::greater<>());
    return *last;
}

bool is_likelier(const Candidate& a, const Candidate& b) {
    return a.logit > b.logit;
}

bool is_before(const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

bool is_equal(const Candidate& a, const Candidate& b) {
    return a.logit == b.logit;
}

/// The iterator at `index`, or the list's end.
std::vector<Candidate>::iterator at(std::vector<Candidate>& list, size_t index) {
    return list.begin() + static_cast<std::ptrdiff_t>(std::min(index, list.size()));
}

/// Appends the tokens from `from` on with at least this logit.
void append_at_least(std::span<const float> logits, size_t from, float least, std::vector<Candidate>& list) {
    const float bound = std::nextafter(least, kLowest);
    visit_blocks_above(logits, from, bound,
                       [&](size_t first, size_t end) { append_above(logits, first, end, bound, list); });
}

/// Which of several equal logits llama.cpp keeps, and in which order, depends only on its std::partial_sort of all tokens. That
/// makes a heap of the first k, then goes through the others and skips those that are not above the lowest in the heap. It
/// gives the same result without tokens that it would skip: those after the head of the vocabulary that are below the lower
/// bound of the head's k highest.
void keep_top_among_equals(std::span<const float> logits, size_t k, Candidates& candidates) {
    std::vector<Candidate>& list = candidates.list;
    const size_t head = std::max(k, logits.size() / 16);
    list.clear();
    for (size_t i = 0; i < head; ++i) {
        const float logit = std::isnan(logits[i]) ? kLowest : logits[i];
        list.push_back({.token = static_cast<base::Token>(i), .logit = logit, .p = 0.0F});
    }
    append_at_least(logits, head, lower_bound_of_top(logits.first(head), k, candidates.highest), list);
    std::partial_sort(list.begin(), at(list, k), list.end(), is_likelier);
}

} // namespace

base::Token likeliest(std::span<const float> logits) {
    size_t best = 0;
    float highest = kLowest;
    visit_blocks_above(logits, 0, highest, [&](size_t first, size_t end) {
        for (size_t i = first; i < end; ++i) {
            if (!(logits[i] > highest)) continue;
            best = i;
            highest = logits[i];
        }
    });
    return static_cast<base::Token>(best);
}

void keep_top(std::span<const float> logits, size_t k, Candidates& candidates) {
    std::vector<Candidate>& list = candidates.list;
    k = std::min(k, logits.size());
    keep_at_least(logits, lower_bound_of_top(logits, k, candidates.highest), candidates);
    if (k < list.size()) std::nth_element(list.begin(), at(list, k), list.end(), is_before);
    std::sort(list.begin(), at(list, k), is_before);
    // One more than k, because the first that is dropped may equal the last that is kept.
    const auto end = at(list, k + 1);
    const bool has_equals = std::adjacent_find(list.begin(), end, is_equal) != end;
    if (has_equals && k <= kPartialSortMax) keep_top_among_equals(logits, k, candidates);
    list.resize(std::min(k, list.size()));
}

void keep_at_least(std::span<const float> logits, float least, Candidates& candidates) {
    candidates.list.clear();
    append_at_least(logits, 0, least, candidates.list);
}

void sort_by_likelihood(std::vector<Candidate>& list) {
    std::sort(list.begin(), list.end(), is_before);
}

} // namespace sampling
