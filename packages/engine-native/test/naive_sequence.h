// A request in naive_engine.h: its tokens and how far they are computed.
#pragma once

#include "random.h"
#include "sched/request.h"
#include "sched/step.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace test {

struct NaiveSequence {
    static constexpr int32_t kNeverCut = -1;

    std::vector<base::Token> tokens;
    std::string adapters;
    /// Its adapters and its salt: whose cells it may have.
    std::string space;
    int32_t priority = 0;
    void begin(const sched::Request& request) {
        tokens = request.prompt;
        if (request.turns) keep = request.turns->keep;
        priority = request.priority;
        adapters = request.adapters;
        space = request.cache_salt + "/" + adapters;
    }
    std::vector<int32_t> boundaries;
    int32_t keep = kNeverCut;
    /// Tokens it has yet to generate.
    int32_t generates = 0;
    int64_t submitted = 0;
    bool is_running = false;
    size_t computed = 0;
    /// Known from its first batch entry on.
    base::Slot slot = base::kNoSlot;

    size_t pending() const { return tokens.size() - computed; }
    /// What one entry may compute: text or one image, up to the next boundary.
    size_t pending_entry() const {
        if (pending() == 0) return 0;
        const auto next = std::ranges::upper_bound(boundaries, static_cast<int32_t>(computed));
        const auto kind = static_cast<size_t>(base::end_of_kind(tokens, static_cast<int32_t>(computed)));
        const size_t end = std::min(kind, tokens.size());
        return (next == boundaries.end() ? end : std::min(end, static_cast<size_t>(*next))) - computed;
    }
    bool is_background() const { return priority == sched::kBackground; }
    bool is_image_due() const { return pending() > 0 && base::is_image(tokens[computed]); }
    /// The token after its last one is late.
    bool awaits_token() const { return is_running && pending() == 0; }
    bool is_decoding() const {
        return is_running && computed > 0 && pending() == 1 && !base::is_image(tokens.back());
    }

    /// Whether it has exactly these tokens, or had a part of them dropped by the plan that is being made.
    bool knows(std::span<const base::Token> known, int32_t context_length) const {
        if (known.size() == tokens.size()) return std::ranges::equal(tokens, known);
        return tokens.size() == static_cast<size_t>(context_length) && known.size() < tokens.size() &&
               known.back() == tokens.back();
    }

    /// Makes the last sampled token late.
    sched::Outcome sample_later(const sched::Outcome& outcome) {
        tokens.pop_back();
        generates += 1;
        return {.kind = sched::Outcome::Kind::awaits_token, .accepted = outcome.accepted};
    }

    sched::LateToken late_token(base::RequestId id, Random& random) {
        tokens.push_back(random.between(0, 3));
        generates -= 1;
        return {.id = id, .token = tokens.back(), .is_last = generates == 0};
    }

    /// Token by token, as long as drafts are accepted, which most are.
    sched::Outcome sample(const sched::BatchEntry& entry, Random& random) {
        using enum sched::Outcome::Kind;
        if (!entry.samples) return {.kind = advanced};
        for (size_t accepted = 0;; ++accepted) {
            const bool has_draft = accepted < entry.drafts.size();
            const base::Token token =
                has_draft && random.chance(60) ? entry.drafts[accepted] : random.between(0, 3);
            tokens.push_back(token);
            generates -= 1;
            const bool is_last = generates == 0;
            if (has_draft && entry.drafts[accepted] == token && !is_last) {
                computed += 1;
                continue;
            }
            return {.kind = is_last ? finished : advanced,
                    .accepted = static_cast<int32_t>(accepted),
                    .token = token};
        }
    }
};

} // namespace test
