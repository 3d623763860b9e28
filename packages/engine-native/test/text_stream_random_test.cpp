// engine::TextStream compared with a naive model that sees the whole text at once, with random texts, cuts and stop strings. The
// model has a decoder of its own, which tries what a few bytes may still become; the engine has a table.
#include "check.h"
#include "engine/text_stream.h"
#include "random.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using test::Random;

namespace {

constexpr uint64_t kStreamSeeds = 20;
constexpr int kTextsPerSeed = 1000;

/// How many bytes a character with this first byte has; 0 if there is none.
size_t length_by_lead(unsigned char lead) {
    if (lead < 0x80) return 1;
    if ((lead & 0xE0) == 0xC0) return 2;
    if ((lead & 0xF0) == 0xE0) return 3;
    if ((lead & 0xF8) == 0xF0) return 4;
    return 0;
}

/// Whether the bytes are a well-formed character or its first bytes: fills the rest with zeros and with ones, and looks for an
/// allowed number in between.
bool begins_character(std::string_view bytes) {
    const auto lead = static_cast<unsigned char>(bytes[0]);
    const size_t length = length_by_lead(lead);
    if (length == 0 || bytes.size() > length) return false;
    if (length == 1) return true;
    uint32_t low = lead & (0x7FU >> length);
    uint32_t high = low;
    for (size_t i = 1; i < length; ++i) {
        const auto byte =
            i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : static_cast<unsigned char>(0);
        if (i < bytes.size() && (byte & 0xC0) != 0x80) return false;
        low = (low << 6) | (i < bytes.size() ? byte & 0x3FU : 0U);
        high = (high << 6) | (i < bytes.size() ? byte & 0x3FU : 0x3FU);
    }
    constexpr uint32_t kFirst[] = {0, 0, 0x80, 0x800, 0x10000};
    constexpr uint32_t kLast[] = {0, 0, 0x7FF, 0xFFFF, 0x10FFFF};
    low = std::max(low, kFirst[length]);
    high = std::min(high, kLast[length]);
    const bool are_all_surrogates = low >= 0xD800 && high <= 0xDFFF;
    return low <= high && !are_all_surrogates;
}

struct Decoded {
    /// With U+FFFD for ill-formed bytes; without an incomplete character at the end.
    std::string text;
    /// Bytes of that incomplete character.
    size_t unfinished = 0;
    bool is_well_formed = true;
};

Decoded decode(std::string_view bytes) {
    Decoded decoded;
    while (!bytes.empty()) {
        size_t length = 0;
        while (length < bytes.size() && begins_character(bytes.substr(0, length + 1))) length += 1;
        if (length > 0 && length == length_by_lead(static_cast<unsigned char>(bytes[0]))) {
            decoded.text += bytes.substr(0, length);
        } else if (length > 0 && length == bytes.size()) {
            decoded.unfinished = length;
        } else {
            decoded.text += "\uFFFD";
            decoded.is_well_formed = false;
        }
        bytes.remove_prefix(std::max<size_t>(length, 1));
    }
    return decoded;
}

std::string decode_all(std::string_view bytes) {
    const Decoded decoded = decode(bytes);
    return decoded.text + (decoded.unfinished > 0 ? "\uFFFD" : "");
}

bool is_well_formed(std::string_view text) {
    const Decoded decoded = decode(text);
    return decoded.is_well_formed && decoded.unfinished == 0;
}

/// Where the text ends: before the stop string that is complete first, the longest of those that end there. npos if there is
/// none.
size_t cut_of(std::string_view bytes, const std::vector<std::string>& stops) {
    for (size_t end = 1; end <= bytes.size(); ++end) {
        size_t cut = std::string::npos;
        for (const std::string& stop : stops) {
            if (!stop.empty() && bytes.substr(0, end).ends_with(stop)) cut = std::min(cut, end - stop.size());
        }
        if (cut != std::string::npos) return cut;
    }
    return std::string::npos;
}

/// What can be shown of a text before its end: everything except what may become a stop string, and an incomplete character
/// before that.
std::string showable(std::string_view bytes, const std::vector<std::string>& stops) {
    size_t end = 0;
    const auto may_become = [&](const std::string& stop) { return stop.starts_with(bytes.substr(end)); };
    while (end < bytes.size() && std::ranges::none_of(stops, may_become)) end += 1;
    return decode(bytes.substr(0, end)).text;
}

/// Each case uses a few of them, so that stop strings are often complete and often nearly complete.
const std::vector<std::string> kCharacters = {"a", "b", " ", "é", "è", "日", "旦", "本", "😀", "😁"};
/// A continuation alone, cut and overlong characters, a surrogate, a number too large, no UTF-8 at all, a zero
/// byte.
const std::vector<std::string> kIllFormed = {
    "\x80",     "\xC3",     "\xE6\x97",     "\xF0\x9F\x98",     "\xC0\xAF", "\xC1",
    "\xE0\x80", "\xF0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF",     std::string(1, '\0')};

struct Case {
    std::string bytes;
    std::vector<std::string> stops;
    std::vector<std::string> pieces;
};

Case random_case(Random& random) {
    Case random_case;
    std::vector<std::string> characters;
    for (int32_t i = random.between(2, 6); i > 0; --i) characters.push_back(random.one_of(kCharacters));
    const int32_t ill_formed_percent = random.one_of(std::vector<int32_t>{0, 0, 10, 40});
    for (int32_t i = random.between(0, 30); i > 0; --i) {
        random_case.bytes += random.one_of(random.chance(ill_formed_percent) ? kIllFormed : characters);
    }
    for (int32_t i = random.between(0, 3); i > 0; --i) {
        std::string stop;
        for (int32_t length = random.between(0, 4); length > 0; --length) stop += random.one_of(characters);
        random_case.stops.push_back(stop);
    }
    const int32_t piece_max = random.between(1, 12);
    for (size_t from = 0; from < random_case.bytes.size();) {
        const auto length = static_cast<size_t>(random.between(0, piece_max));
        random_case.pieces.push_back(random_case.bytes.substr(from, length));
        from += length;
    }
    return random_case;
}

/// Printable: bytes beyond ASCII as \xHH.
std::string escaped(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string text;
    for (const char character : bytes) {
        const auto byte = static_cast<unsigned char>(character);
        if (byte >= 0x20 && byte < 0x7F) text += character;
        else text += std::string("\\x") + kDigits[byte >> 4U] + kDigits[byte & 0xFU];
    }
    return text;
}

std::string in_words(const Case& test_case) {
    std::string words = "pieces";
    for (const std::string& piece : test_case.pieces) words += " '" + escaped(piece) + "'";
    words += ", stops";
    for (const std::string& stop : test_case.stops) words += " '" + escaped(stop) + "'";
    return words;
}

/// Pushes a case and compares with the model after each part. Empty, or what is wrong.
std::string complaint_about(const Case& test_case) {
    const size_t cut = cut_of(test_case.bytes, test_case.stops);
    const bool has_stop = cut != std::string::npos;
    const std::string expected = decode_all(std::string_view(test_case.bytes).substr(0, cut));
    engine::TextStream stream(test_case.stops);
    std::string all;
    std::string pushed;
    for (const std::string& piece : test_case.pieces) {
        pushed += piece;
        std::string text;
        const bool is_stopped = stream.push(piece, text);
        all += text;
        if (!is_well_formed(text)) return "a piece that is not UTF-8 is shown";
        if (is_stopped != (cut_of(pushed, test_case.stops) != std::string::npos))
            return "a stop is missed or made up";
        if (is_stopped) return all == expected ? "" : "it is cut off elsewhere: '" + escaped(all) + "'";
        if (!expected.starts_with(all))
            return "something is shown that had to be held back: '" + escaped(all) + "'";
        if (all != showable(pushed, test_case.stops)) return "it is not shown as soon as it can be";
    }
    std::string text;
    stream.finish(text);
    all += text;
    if (has_stop) return "a stop is missed";
    return all == expected ? "" : "the whole text is another one: '" + escaped(all) + "'";
}

} // namespace

TEST_CASE("text: shows the whole text up to the first stop string, however tokens split it") {
    const std::vector<uint64_t> seeds = test::seeds(kStreamSeeds);
    int stopped = 0;
    for (const uint64_t seed : seeds) {
        CAPTURE(seed);
        const test::SeedOnAbort on_abort(seed);
        Random random(seed);
        for (int i = 0; i < kTextsPerSeed; ++i) {
            const Case test_case = random_case(random);
            const std::string complaint = complaint_about(test_case);
            if (cut_of(test_case.bytes, test_case.stops) != std::string::npos) stopped += 1;
            if (complaint.empty()) continue;
            CAPTURE(in_words(test_case));
            CHECK_EQ(complaint, "");
            return;
        }
    }
    if (seeds.size() < kStreamSeeds) return;
    // The test means something only while both ends of a text are common.
    CHECK(stopped > static_cast<int>(kStreamSeeds) * kTextsPerSeed / 10);
    CHECK(stopped < static_cast<int>(kStreamSeeds) * kTextsPerSeed * 9 / 10);
}
