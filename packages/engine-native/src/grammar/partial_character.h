// A character of UTF-8 whose bytes arrive one by one: tokens may end in the middle of a character.
#pragma once

#include "grammar/gbnf.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace grammar {

class PartialCharacter {
public:
    /// Adds the next byte: the first one of another character if this one is whole. False if UTF-8 has no character with these
    /// bytes.
    bool add(unsigned char byte) {
        if (missing_ == 0) return begin(byte);
        if ((byte & 0xC0) != 0x80) return false;
        bits_ = bits_ << 6 | (byte & 0x3FU);
        missing_ -= 1;
        const bool is_surrogate = first() >= 0xD800 && last() <= 0xDFFF;
        return first() <= last() && !is_surrogate;
    }

    /// How many bytes are missing.
    int missing() const { return missing_; }

    /// The characters that have these bytes. With none missing, only one.
    uint32_t first() const { return std::max(bits_ << (6 * missing_), kLeast[static_cast<size_t>(bytes_)]); }
    uint32_t last() const {
        return std::min(bits_ << (6 * missing_) | ((1U << (6 * missing_)) - 1), kCharMax);
    }

private:
    bool begin(unsigned char lead) {
        bytes_ = 1;
        bits_ = lead;
        if (lead < 0x80) return true;
        if (lead < 0xC2 || lead > 0xF4) return false;
        if (lead >= 0xF0) bytes_ = 4;
        else bytes_ = lead >= 0xE0 ? 3 : 2;
        missing_ = bytes_ - 1;
        bits_ = lead & (0x7FU >> bytes_);
        return true;
    }

    /// By number of bytes, the lowest character that UTF-8 encodes with as many; lower ones are overlong, which is invalid.
    static constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};

    uint32_t bits_ = 0;
    int missing_ = 0;
    int bytes_ = 1;
};

} // namespace grammar
