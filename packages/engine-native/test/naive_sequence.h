// A request as naive_engine.h sees it: its tokens and how far they are computed.
#pragma once

#include "random.h"
#include "sched/request.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace test {

struct NaiveSequence {
    static constexpr int32_t kNeverCut = -1;

    std::vector<base::Token> tokens;
    std::vector<int32_t> boundaries;
    int32_t keep = kNeverCut;
    /// Tokens it has yet to generate.
    int32_t generates = 0;
    int64_t submitted = 0;
    bool is_running = false;
    size_t computed = 0;
    /// Known from its first step on.
    base::Slot slot = base::kNoSlot;

    size_t pending() const { return tokens.size() - computed; }
    /// What one step may compute: text or one image, up to the next boundary.
    size_t pending_step() const {
        if (pending() == 0) return 0;
        const auto next = std::ranges::upper_bound(boundaries, static_cast<int32_t>(computed));
        const auto kind = static_cast<size_t>(base::end_of_kind(tokens, static_cast<int32_t>(computed)));
        const size_t end = std::min(kind, tokens.size());
        return (next == boundaries.end() ? end : std::min(end, static_cast<size_t>(*next))) - computed;
    }
    bool is_image_due() const { return pending() > 0 && base::is_image(tokens[computed]); }
    /// What follows its last token is told later.
    bool awaits_token() const { return is_running && pending() == 0; }
    bool is_decoding() const {
        return is_running && computed > 0 && pending() == 1 && !base::is_image(tokens.back());
    }

    /// As if the last token that was sampled were not known yet.
    sched::Outcome sample_later(const sched::Outcome& outcome) {
        tokens.pop_back();
        generates += 1;
        return {.kind = sched::Outcome::Kind::sampling, .accepted = outcome.accepted};
    }

    /// The token that it waits for.
    sched::Outcome tell(Random& random) {
        using enum sched::Outcome::Kind;
        tokens.push_back(random.between(0, 3));
        generates -= 1;
        return {.kind = generates == 0 ? finished : advanced, .token = tokens.back()};
    }

    /// Token by token, as long as the guesses are right, which they are more often than not.
    sched::Outcome sample(const sched::Step& step, Random& random) {
        using enum sched::Outcome::Kind;
        if (!step.sample) return {.kind = advanced};
        for (size_t accepted = 0;; ++accepted) {
            const bool has_guess = accepted < step.drafts.size();
            const base::Token token =
                has_guess && random.chance(60) ? step.drafts[accepted] : random.between(0, 3);
            tokens.push_back(token);
            generates -= 1;
            const bool is_last = generates == 0;
            if (has_guess && step.drafts[accepted] == token && !is_last) {
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
