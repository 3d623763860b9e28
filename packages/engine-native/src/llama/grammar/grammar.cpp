#include "llama/grammar/grammar.h"

#include <algorithm>
#include <array>
#include <utility>

namespace llama_rt {

namespace {

/// By number of bytes, the lowest character that UTF-8 encodes with as many; lower ones are overlong, which is invalid.
constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};

} // namespace

GrammarState::GrammarState(std::shared_ptr<const Rules> rules, WorkShare* share)
    : rules_(std::move(rules)), stacks_(*rules_), points_(1) {
    stacks_.share_work(share);
    stacks_.start_set();
    stacks_.begin(points_.front().stacks);
}

bool GrammarState::allows(base::Token token, std::string_view text) {
    if (is_overrun()) return false;
    return !behind(token).empty() || walk(text);
}

bool GrammarState::accept(base::Token token, std::string_view text) {
    const StackSet by_token = behind(token);
    Point next;
    if (walk(text)) next = std::move(point(text.size()));
    for (const StackId stack : by_token) {
        if (std::ranges::find(next.stacks, stack) == next.stacks.end()) next.stacks.push_back(stack);
    }
    if (is_overrun()) next.stacks.clear();
    stacks_.tidy(next.stacks);
    stacks_.start_token();
    points_.front() = std::move(next);
    return !here().stacks.empty();
}

StackSet GrammarState::behind(base::Token token) {
    StackSet behind;
    if (token == kNoToken || !waits_for_token() || here().missing > 0) return behind;
    stacks_.count_look_through(here().stacks.size());
    stacks_.start_set();
    for (const StackId stack : here().stacks) stacks_.advance_by_token(stack, token, behind);
    return behind;
}

bool GrammarState::may_end() const {
    return here().missing == 0 && std::ranges::find(here().stacks, kEmptyStack) != here().stacks.end();
}

bool GrammarState::waits_for_token() const {
    return std::ranges::any_of(here().stacks,
                               [this](StackId stack) { return stacks_.waits_for_token(stack); });
}

GrammarState::Point& GrammarState::point(size_t bytes) {
    if (points_.size() <= bytes) points_.resize(bytes + 1);
    return points_[bytes];
}

bool GrammarState::walk(std::string_view text) {
    for (size_t i = 0; i < text.size(); ++i) {
        if (!step(i, static_cast<unsigned char>(text[i]))) return false;
    }
    return true;
}

bool GrammarState::step(size_t bytes, unsigned char byte) {
    Point& to = point(bytes + 1);
    const Point& from = points_[bytes];
    to.stacks.clear();
    if (from.missing == 0)
        return byte < 0x80 ? take_character(from, byte, to) : begin_character(from, byte, to);
    if ((byte & 0xC0) != 0x80) return false;
    to.bits = from.bits << 6 | (byte & 0x3FU);
    to.missing = from.missing - 1;
    to.bytes = from.bytes;
    if (to.missing == 0)
        return to.bits >= kLeast[static_cast<size_t>(to.bytes)] && take_character(from, to.bits, to);
    to.stacks = from.stacks;
    return can_complete(to);
}

bool GrammarState::begin_character(const Point& from, unsigned char lead, Point& to) const {
    if (lead < 0xC2 || lead > 0xF4) return false;
    if (lead >= 0xF0) to.bytes = 4;
    else to.bytes = lead >= 0xE0 ? 3 : 2;
    to.missing = to.bytes - 1;
    to.bits = lead & (0x7FU >> to.bytes);
    to.stacks = from.stacks;
    return can_complete(to);
}

bool GrammarState::take_character(const Point& from, uint32_t character, Point& to) {
    to.missing = 0;
    stacks_.count_look_through(from.stacks.size());
    stacks_.start_set();
    for (const StackId stack : from.stacks) stacks_.advance(stack, character, to.stacks);
    return !to.stacks.empty() && !is_overrun();
}

/// Whether any character that begins with these bytes is allowed.
bool GrammarState::can_complete(const Point& point) const {
    const int bits_missing = 6 * point.missing;
    const uint32_t low = point.bits << bits_missing;
    const uint32_t high = low | ((1U << bits_missing) - 1);
    const uint32_t first = std::max(low, kLeast[static_cast<size_t>(point.bytes)]);
    const uint32_t last = std::min(high, kCharMax);
    return first <= last && std::ranges::any_of(point.stacks, [&](StackId stack) {
               return stacks_.accepts_any(stack, first, last);
           });
}

} // namespace llama_rt
