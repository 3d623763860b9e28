// SipHash-2-4 with a result of 128 bits: whoever does not know the key cannot compute it for any bytes. Source: Aumasson and Bernstein,
// "SipHash: a fast short-input PRF" (2012), and its reference implementation's variant of 128 bits.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace base {

class SipHash {
public:
    using Key = std::span<const uint8_t, 16>;
    using Digest = std::array<uint8_t, 16>;

    explicit SipHash(Key key) {
        const uint64_t low = word(key.data());
        const uint64_t high = word(key.data() + sizeof(uint64_t));
        state_ = {low ^ 0x736f6d6570736575, high ^ 0x646f72616e646f6d ^ 0xee, low ^ 0x6c7967656e657261,
                  high ^ 0x7465646279746573};
    }

    void add(const void* data, size_t size) {
        const auto* bytes = static_cast<const uint8_t*>(data);
        for (; size > 0 && size_ % sizeof(uint64_t) != 0; --size) add_byte(*bytes++);
        for (; size >= sizeof(uint64_t); bytes += sizeof(uint64_t), size -= sizeof(uint64_t)) {
            mix(word(bytes));
            size_ += sizeof(uint64_t);
        }
        for (; size > 0; --size) add_byte(*bytes++);
    }

    /// Of what was added so far.
    Digest digest() const {
        SipHash end = *this;
        end.mix(size_ << 56 | rest_);
        end.state_[2] ^= 0xee;
        const uint64_t low = end.finish();
        end.state_[1] ^= 0xdd;
        return std::bit_cast<Digest>(std::array{low, end.finish()});
    }

private:
    static_assert(std::endian::native == std::endian::little);
    static uint64_t word(const uint8_t* bytes) {
        uint64_t word = 0;
        std::memcpy(&word, bytes, sizeof(word));
        return word;
    }
    void add_byte(uint8_t byte) {
        rest_ |= uint64_t{byte} << 8 * (size_ % sizeof(uint64_t));
        if (++size_ % sizeof(uint64_t) != 0) return;
        mix(rest_);
        rest_ = 0;
    }
    void mix(uint64_t word) {
        state_[3] ^= word;
        rounds(2);
        state_[0] ^= word;
    }
    uint64_t finish() {
        rounds(4);
        return state_[0] ^ state_[1] ^ state_[2] ^ state_[3];
    }
    void rounds(int count) {
        auto& [a, b, c, d] = state_;
        for (int i = 0; i < count; ++i) {
            a += b;
            b = std::rotl(b, 13) ^ a;
            a = std::rotl(a, 32);
            c += d;
            d = std::rotl(d, 16) ^ c;
            a += d;
            d = std::rotl(d, 21) ^ a;
            c += b;
            b = std::rotl(b, 17) ^ c;
            c = std::rotl(c, 32);
        }
    }

    std::array<uint64_t, 4> state_{};
    uint64_t size_ = 0;
    /// The bytes since the last whole word.
    uint64_t rest_ = 0;
};

} // namespace base
