// Random texts derived from a grammar's rules. They reach what a walk through masks hardly finds: a rare alternative, both ends of
// every repetition, a word in the middle of any text.
#pragma once

#include "grammar/gbnf.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace test {

inline std::string utf8_of(uint32_t character) {
    const auto byte = [](uint32_t bits) { return static_cast<char>(bits); };
    const auto low = [&](uint32_t shift) { return byte(0x80 | (character >> shift & 0x3F)); };
    if (character < 0x80) return {byte(character)};
    if (character < 0x800) return {byte(0xC0 | character >> 6), low(0)};
    if (character < 0x10000) return {byte(0xE0 | character >> 12), low(6), low(0)};
    return {byte(0xF0 | character >> 18), low(12), low(6), low(0)};
}

class Derivation {
public:
    explicit Derivation(const grammar::Rules& rules)
        : rules_(rules), shortest_(rules.alternatives.size(), kNone) {
        while (shorten()) {
        }
    }

    /// Whether the grammar has texts.
    bool has_texts() const { return shortest_[rules_.root] != kNone; }

    /// REQUIRES: has_texts(). From `long_bytes` on, the text takes the shortest way to its end.
    std::string text(size_t long_bytes, std::mt19937& random) const {
        std::string text;
        /// Where to continue, and how often to begin there.
        std::vector<std::pair<uint32_t, uint32_t>> todo = {{alternative(rules_.root, false, random), 1}};
        const uint32_t often = std::uniform_int_distribution<uint32_t>(0, 12)(random);
        while (!todo.empty()) {
            const uint32_t at = todo.back().first;
            if (--todo.back().second == 0) todo.pop_back();
            const bool is_long = text.size() >= long_bytes;
            const grammar::Element& element = rules_.elements[at];
            if (element.kind == Kind::end) continue;
            todo.emplace_back(at + 1, 1);
            if (element.kind == Kind::chars) text += utf8_of(character(element, random));
            if (element.kind == Kind::rule) todo.emplace_back(alternative(element.index, is_long, random), 1);
            if (element.kind != Kind::repeat) continue;
            // Each repetition chooses an alternative of its own.
            const uint32_t times = is_long ? element.min : times_of(element, often, random);
            for (uint32_t i = 0; i < times; ++i)
                todo.emplace_back(alternative(element.index, is_long, random), 1);
        }
        return text;
    }

private:
    using Kind = grammar::Element::Kind;
    static constexpr uint64_t kNone = std::numeric_limits<uint32_t>::max();

    /// The length of the shortest text from an element to the end of its alternative.
    uint64_t length_from(uint32_t at) const {
        uint64_t length = 0;
        for (; rules_.elements[at].kind != Kind::end && length < kNone; ++at) {
            const grammar::Element& element = rules_.elements[at];
            if (element.kind == Kind::chars) length += element.count == 0 ? kNone : 1;
            else if (element.kind == Kind::rule) length += shortest_[element.index];
            else if (element.kind == Kind::repeat && element.min > 0)
                length += shortest_[element.index] * element.min;
        }
        return std::min(length, kNone);
    }

    bool shorten() {
        bool is_shorter = false;
        for (size_t rule = 0; rule < shortest_.size(); ++rule) {
            for (const uint32_t begin : rules_.alternatives[rule]) {
                const uint64_t length = length_from(begin);
                if (length >= shortest_[rule]) continue;
                shortest_[rule] = length;
                is_shorter = true;
            }
        }
        return is_shorter;
    }

    uint32_t alternative(uint32_t rule, bool is_long, std::mt19937& random) const {
        std::vector<uint32_t> open;
        for (const uint32_t begin : rules_.alternatives[rule]) {
            const uint64_t length = length_from(begin);
            if (length < kNone && (!is_long || length == shortest_[rule])) open.push_back(begin);
        }
        return open[std::uniform_int_distribution<size_t>(0, open.size() - 1)(random)];
    }

    uint32_t times_of(const grammar::Element& element, uint32_t often, std::mt19937& random) const {
        if (shortest_[element.index] == kNone) return 0;
        const uint32_t most = std::min(element.max, element.min + often);
        // Both ends, if the upper one is near, and what is between them.
        switch (std::uniform_int_distribution<int>(0, 3)(random)) {
            case 0: return element.min;
            case 1: return element.max <= kNear ? element.max : most;
            default: return std::uniform_int_distribution<uint32_t>(element.min, most)(random);
        }
    }

    uint32_t character(const grammar::Element& element, std::mt19937& random) const {
        const uint32_t range = std::uniform_int_distribution<uint32_t>(0, element.count - 1)(random);
        const auto [first, last] = rules_.ranges[element.index + range];
        switch (std::uniform_int_distribution<int>(0, 3)(random)) {
            case 0: return first;
            case 1: return last;
            default: return std::uniform_int_distribution<uint32_t>(first, last)(random);
        }
    }

    static constexpr uint32_t kNear = 100;

    const grammar::Rules& rules_;
    std::vector<uint64_t> shortest_;
};

} // namespace test
