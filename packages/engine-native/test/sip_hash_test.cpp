// base/sip_hash: the digests that OpenSSL's SIPHASH computes (3.0, size 16), of bytes that are added at once and in parts.
#include "base/sip_hash.h"

#include "check.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace {

std::string in_hex(const base::SipHash::Digest& digest) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (const uint8_t byte : digest) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

/// 0, 1, 2 …
std::vector<uint8_t> counting(size_t size) {
    std::vector<uint8_t> bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i);
    return bytes;
}

struct Known {
    size_t size;
    std::string digest;
};

} // namespace

TEST_CASE("sip hash: equals OpenSSL's, however the bytes are divided") {
    const std::vector<uint8_t> key = counting(16);
    for (const auto& [size, digest] : std::vector<Known>{{0, "a3817f04ba25a8e66df67214c7550293"},
                                                         {1, "da87c1d86b99af44347659119b22fc45"},
                                                         {7, "a1f1ebbed8dbc153c0b84aa61ff08239"},
                                                         {8, "3b62a9ba6258f5610f83e264f31497b4"},
                                                         {9, "264499060ad9baabc47f8b02bb6d71ed"},
                                                         {15, "5493e99933b0a8117e08ec0f97cfc3d9"},
                                                         {16, "6ee2a4ca67b054bbfd3315bf85230577"},
                                                         {63, "5150d1772f50834a503e069a973fbd7c"},
                                                         {1000, "24dafa789ae03d86536a4b57372f0ba6"}}) {
        const std::vector<uint8_t> bytes = counting(size);
        for (size_t first = 0; first <= size; ++first) {
            base::SipHash hash{std::span(key).first<16>()};
            hash.add(bytes.data(), first);
            hash.add(bytes.data() + first, size - first);
            REQUIRE_EQ(in_hex(hash.digest()), digest);
        }
    }
}
