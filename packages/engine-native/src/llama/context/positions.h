// The positions of each sequence's tokens. A token's position is its index in the sequence, except with M-RoPE: there, an
// image's tokens share one position in time, and the image takes fewer positions than tokens. The layers above count tokens;
// Context translates them to llama.cpp's positions here.
#pragma once

#include "base/types.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace llama {

/// An image that takes fewer positions than it has tokens.
struct Leap {
    /// Index of its first token.
    int32_t first;
    int32_t tokens;
    int32_t positions;
};

class Positions {
public:
    explicit Positions(size_t slots) : leaps_(slots) {}

    /// The position of a sequence's token. Inside an image: the position after the image tokens computed so far.
    int32_t of(base::Slot slot, int32_t token) const {
        int32_t saved = 0;
        for (const auto& [first, tokens, positions] : at(slot)) {
            if (token <= first) break;
            if (token < first + tokens) return first - saved + 1;
            saved += tokens - positions;
        }
        return token - saved;
    }

    /// The position of the last of a sequence's first `length` tokens (at least 1). All tokens of an image share its first
    /// position.
    int32_t of_last(base::Slot slot, int32_t length) const {
        for (const auto& [first, tokens, positions] : at(slot)) {
            if (length > first && length <= first + tokens) return of(slot, first);
        }
        return of(slot, length - 1);
    }

    /// Whether this token has the same position as the one before it, so that a sequence cannot be cut between them.
    bool is_inside(base::Slot slot, int32_t token) const {
        return std::ranges::any_of(at(slot), [&](const Leap& leap) {
            return token > leap.first && token < leap.first + leap.tokens;
        });
    }

    /// Whether each of a sequence's tokens has a position of its own.
    bool are_plain(base::Slot slot) const { return at(slot).empty(); }

    /// Records that a sequence got an image; does nothing if it is already recorded.
    void add(base::Slot slot, const Leap& leap) {
        std::vector<Leap>& leaps = at(slot);
        if (leaps.empty() || leaps.back().first < leap.first) leaps.push_back(leap);
    }

    /// Forgets a sequence's images from a token on.
    void cut(base::Slot slot, int32_t from) {
        std::erase_if(at(slot), [&](const Leap& leap) { return leap.first >= from; });
    }

    /// A sequence's images that begin before token `length`.
    std::vector<Leap> before(base::Slot slot, int32_t length) const {
        std::vector<Leap> leaps = at(slot);
        std::erase_if(leaps, [&](const Leap& leap) { return leap.first >= length; });
        return leaps;
    }

    /// Sets a sequence's images, after it got cells of another sequence or of a copy.
    void set(base::Slot slot, std::vector<Leap> leaps) { at(slot) = std::move(leaps); }

    void clear() {
        for (std::vector<Leap>& leaps : leaps_) leaps.clear();
    }

private:
    std::vector<Leap>& at(base::Slot slot) { return leaps_[static_cast<size_t>(slot)]; }
    const std::vector<Leap>& at(base::Slot slot) const { return leaps_[static_cast<size_t>(slot)]; }

    /// By slot; each ascending.
    std::vector<std::vector<Leap>> leaps_;
};

} // namespace llama
