// Where the tokens of each sequence stand. A token's position is its number in the text, but for models with M-RoPE: there
// an image of many tokens stands at one place in time and takes only some positions. The floors above count tokens;
// Context asks here what llama.cpp is to be told.
#pragma once

#include "base/types.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace llama_rt {

/// An image that takes fewer positions than it has tokens.
struct Leap {
    /// Its first token, and how many it has.
    int32_t first;
    int32_t tokens;
    int32_t positions;
};

class Positions {
public:
    explicit Positions(size_t slots) : leaps_(slots) {}

    /// The position of a sequence's token. Inside an image, the one behind all of the image's tokens that are there.
    int32_t of(base::Slot slot, int32_t token) const {
        int32_t saved = 0;
        for (const auto& [first, tokens, positions] : at(slot)) {
            if (token <= first) break;
            if (token < first + tokens) return first - saved + 1;
            saved += tokens - positions;
        }
        return token - saved;
    }

    /// The position of the last of a sequence's first `length` tokens, at least one: an image's all stand where it begins.
    int32_t of_last(base::Slot slot, int32_t length) const {
        for (const auto& [first, tokens, positions] : at(slot)) {
            if (length > first && length <= first + tokens) return of(slot, first);
        }
        return of(slot, length - 1);
    }

    /// Whether a sequence cannot be cut before this token: it stands where the one before it does.
    bool is_inside(base::Slot slot, int32_t token) const {
        return std::ranges::any_of(at(slot), [&](const Leap& leap) {
            return token > leap.first && token < leap.first + leap.tokens;
        });
    }

    /// A sequence has got the first tokens of an image, if they are its first.
    void add(base::Slot slot, const Leap& leap) {
        std::vector<Leap>& leaps = at(slot);
        if (leaps.empty() || leaps.back().first < leap.first) leaps.push_back(leap);
    }

    /// A sequence has lost what it had from a token on.
    void cut(base::Slot slot, int32_t from) {
        std::erase_if(at(slot), [&](const Leap& leap) { return leap.first >= from; });
    }

    /// What a sequence has before a token.
    std::vector<Leap> before(base::Slot slot, int32_t length) const {
        std::vector<Leap> leaps = at(slot);
        std::erase_if(leaps, [&](const Leap& leap) { return leap.first >= length; });
        return leaps;
    }

    /// A sequence has got what another text has that begins as its own.
    void set(base::Slot slot, std::vector<Leap> leaps) { at(slot) = std::move(leaps); }

    void clear() {
        for (std::vector<Leap>& leaps : leaps_) leaps.clear();
    }

private:
    std::vector<Leap>& at(base::Slot slot) { return leaps_[static_cast<size_t>(slot)]; }
    const std::vector<Leap>& at(base::Slot slot) const { return leaps_[static_cast<size_t>(slot)]; }

    /// By slot, ascending.
    std::vector<std::vector<Leap>> leaps_;
};

} // namespace llama_rt
