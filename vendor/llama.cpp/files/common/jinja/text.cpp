#include "jinja/text.h"

#include "jinja/work.h"

#include "../../src/unicode-data.h"
#include "../../src/unicode.h"

#include <algorithm>

namespace jinja {

code_point code_point_at(std::string_view text, size_t at) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(at);
    if (first < 0x80) {
        return {first, 1, true};
    }
    const size_t bytes = first >= 0xF0 && first < 0xF5 ? 4 : first >= 0xE0 && first < 0xF0 ? 3 : first >= 0xC2 && first < 0xE0 ? 2 : 0;
    if (bytes == 0 || at + bytes > text.size()) {
        return {first, 1, false};
    }
    uint32_t value = first & (0xFFU >> (bytes + 1));
    for (size_t i = 1; i < bytes; ++i) {
        if ((byte(at + i) & 0xC0) != 0x80) {
            return {first, 1, false};
        }
        value = (value << 6) | (byte(at + i) & 0x3F);
    }
    return {value, bytes, true};
}

void put_code_point(std::string & out, uint32_t value) {
    const auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (value < 0x80) {
        put(value);
    } else if (value < 0x800) {
        put(0xC0 | (value >> 6));
        put(0x80 | (value & 0x3F));
    } else if (value < 0x10000) {
        put(0xE0 | (value >> 12));
        put(0x80 | ((value >> 6) & 0x3F));
        put(0x80 | (value & 0x3F));
    } else {
        put(0xF0 | (value >> 18));
        put(0x80 | ((value >> 12) & 0x3F));
        put(0x80 | ((value >> 6) & 0x3F));
        put(0x80 | (value & 0x3F));
    }
}

size_t count_points(std::string_view text) {
    work_on(text.size());
    size_t count = 0;
    for (size_t at = 0; at < text.size(); ++count) {
        at += code_point_at(text, at).bytes;
    }
    return count;
}

std::vector<size_t> point_offsets(std::string_view text) {
    work_on(4 * text.size());
    const work_memory   memory(sizeof(size_t) * (text.size() + 1));
    std::vector<size_t> offsets;
    for (size_t at = 0; at < text.size(); at += code_point_at(text, at).bytes) {
        offsets.push_back(at);
    }
    offsets.push_back(text.size());
    return offsets;
}

static uint32_t mapped(const std::initializer_list<std::pair<uint32_t, uint32_t>> & map, uint32_t point) {
    const auto * found = std::lower_bound(map.begin(), map.end(), point,
                                          [](const auto & pair, uint32_t value) { return pair.first < value; });
    return found != map.end() && found->first == point ? found->second : point;
}

static uint32_t lower_of(uint32_t point) {
    if (point < 0x80) {
        return point >= 'A' && point <= 'Z' ? point + 32 : point;
    }
    return mapped(unicode_map_lowercase, point);
}

static uint32_t upper_of(uint32_t point) {
    if (point < 0x80) {
        return point >= 'a' && point <= 'z' ? point - 32 : point;
    }
    return mapped(unicode_map_uppercase, point);
}

bool is_space(uint32_t point) {
    return (point >= 0x09 && point <= 0x0D) || (point >= 0x1C && point <= 0x20) || point == 0x85 || point == 0xA0 || point == 0x1680 ||
           (point >= 0x2000 && point <= 0x200A) || point == 0x2028 || point == 0x2029 || point == 0x202F || point == 0x205F || point == 0x3000;
}

bool is_letter(uint32_t point) {
    return unicode_cpt_flags_from_cpt(point).is_letter;
}

bool is_digit(uint32_t point) {
    return point < 0x80 ? point >= '0' && point <= '9' : unicode_cpt_flags_from_cpt(point).is_number;
}

bool is_lower(uint32_t point) {
    return point < 0x80 ? point >= 'a' && point <= 'z' : unicode_cpt_flags_from_cpt(point).is_lowercase;
}

bool is_upper(uint32_t point) {
    return point < 0x80 ? point >= 'A' && point <= 'Z' : unicode_cpt_flags_from_cpt(point).is_uppercase;
}

bool is_printable(uint32_t point) {
    if (point < 0x7F) {
        return point >= 0x20;
    }
    const unicode_cpt_flags flags = unicode_cpt_flags_from_cpt(point);
    return !flags.is_separator && !flags.is_control && !flags.is_undefined;
}

// sharp s is the letter without a capital that texts have
static void put_upper(std::string & out, uint32_t point, bool is_title) {
    if (point == 0xDF) {
        out += is_title ? "Ss" : "SS";
    } else {
        put_code_point(out, upper_of(point));
    }
}

std::string with_case(std::string_view text, letter_case how) {
    bool begins = true;
    return with_case(text, how, begins);
}

std::string with_case(std::string_view text, letter_case how, bool & begins) {
    work_on(8 * text.size());
    std::string out;
    out.reserve(text.size());
    for (size_t at = 0; at < text.size();) {
        const code_point point = code_point_at(text, at);
        const uint32_t   value = point.value;
        const bool has_case = point.valid && (lower_of(value) != value || upper_of(value) != value || value == 0xDF);
        const bool to_upper = how == letter_case::upper || (begins && (how == letter_case::title || how == letter_case::capital)) ||
                              (how == letter_case::swap && is_lower(value));
        if (!has_case) {
            out += text.substr(at, point.bytes);
        } else if (to_upper) {
            put_upper(out, value, how == letter_case::title || how == letter_case::capital);
        } else {
            put_code_point(out, lower_of(value));
        }
        begins = how == letter_case::title && !has_case;
        at += point.bytes;
    }
    return out;
}

static bool all_have(std::string_view text, bool (*wanted)(uint32_t), bool (*other)(uint32_t)) {
    work_on(4 * text.size());
    bool some = false;
    for (size_t at = 0; at < text.size();) {
        const code_point point = code_point_at(text, at);
        if (point.valid && other(point.value)) {
            return false;
        }
        some = some || (point.valid && wanted(point.value));
        at += point.bytes;
    }
    return some;
}

bool all_lower(std::string_view text) {
    return all_have(text, is_lower, is_upper);
}

bool all_upper(std::string_view text) {
    return all_have(text, is_upper, is_lower);
}

static bool has_point(const std::string & chars, std::string_view point) {
    work_on(1 + chars.size() / 4);
    for (size_t at = 0; at < chars.size();) {
        const size_t bytes = code_point_at(chars, at).bytes;
        if (std::string_view(chars).substr(at, bytes) == point) {
            return true;
        }
        at += bytes;
    }
    return false;
}

stripped strip(std::string_view text, bool left, bool right, const std::string * chars) {
    const auto goes = [&](size_t at, size_t bytes) {
        work_on(4);
        return chars == nullptr ? is_space(code_point_at(text, at).value) : has_point(*chars, text.substr(at, bytes));
    };
    stripped kept{0, text.size()};
    while (left && kept.begin < kept.end) {
        const size_t bytes = code_point_at(text, kept.begin).bytes;
        if (!goes(kept.begin, bytes)) {
            break;
        }
        kept.begin += bytes;
    }
    while (right && kept.end > kept.begin) {
        size_t last = kept.end - 1;
        while (last > kept.begin && (static_cast<unsigned char>(text[last]) & 0xC0) == 0x80 && kept.end - last < 4) {
            --last;
        }
        if (last + code_point_at(text, last).bytes != kept.end) {
            last = kept.end - 1; // no code point
        }
        if (!goes(last, kept.end - last)) {
            break;
        }
        kept.end = last;
    }
    return kept;
}

} // namespace jinja
