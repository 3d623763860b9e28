#include "engine/thought.h"

#include "engine/text_stream.h"

#include <algorithm>
#include <span>
#include <utility>

namespace engine {

namespace {

/// Whether a text ends inside a character of several bytes.
bool is_cut(std::string_view text) {
    return complete_utf8_length(text) < text.size();
}

/// At least the longest character, so that the tail tells whether it is cut.
size_t longest_mark(const ThoughtRules& rules) {
    size_t longest = std::max(rules.begin.size(), size_t{4});
    for (const std::string& end : rules.ends) longest = std::max(longest, end.size());
    return longest;
}

/// Where the first of the marks ends in a text; npos without one.
size_t end_of_first(std::string_view text, std::span<const std::string> marks) {
    size_t first = std::string::npos;
    size_t end = std::string::npos;
    for (const std::string& mark : marks) {
        const size_t at = mark.empty() ? std::string::npos : text.find(mark);
        if (at == std::string::npos || at > first) continue;
        // Of two that begin at one place, the longer one.
        end = at == first ? std::max(end, at + mark.size()) : at + mark.size();
        first = at;
    }
    return end;
}

} // namespace

Thought::Thought(ThoughtRules rules)
    : rules_(std::move(rules)),
      mark_bytes_(longest_mark(rules_)),
      place_(rules_.is_open && is_followed() ? Place::inside : Place::outside) {
    close_if_due();
}

std::optional<base::Token> Thought::next() const {
    return place_ == Place::closing ? std::optional(rules_.closing[closed_]) : std::nullopt;
}

bool Thought::may_close_within(size_t tokens) const {
    if (place_ == Place::closing || is_asked_to_end_) return true;
    return is_followed() && rules_.tokens_max >= 0 &&
           static_cast<int64_t>(rules_.tokens_max) - spent_ <= static_cast<int64_t>(tokens);
}

void Thought::note(std::string_view piece) {
    if (!is_followed()) return;
    if (place_ != Place::outside) tokens_ += 1;
    if (place_ == Place::closing) {
        closed_ += 1;
        if (closed_ < rules_.closing.size()) return;
        place_ = Place::outside;
        tail_.clear();
        return;
    }
    if (place_ == Place::inside) spent_ += 1;
    tail_ += piece;
    look_for_marks();
    close_if_due();
}

/// A token may hold several marks.
void Thought::look_for_marks() {
    for (;;) {
        const std::span<const std::string> marks =
            place_ == Place::outside ? std::span(&rules_.begin, 1) : std::span(rules_.ends);
        const size_t end = end_of_first(tail_, marks);
        if (end == std::string::npos) break;
        tail_.erase(0, end);
        place_ = place_ == Place::outside ? Place::inside : Place::outside;
        is_asked_to_end_ = false;
    }
    if (tail_.size() > mark_bytes_) tail_.erase(0, tail_.size() - mark_bytes_);
}

void Thought::close_if_due() {
    if (place_ != Place::inside || rules_.closing.empty() || is_cut(tail_)) return;
    if (!has_used_all() && !is_asked_to_end_) return;
    place_ = Place::closing;
    is_asked_to_end_ = false;
    closed_ = 0;
}

bool Thought::end() {
    if (place_ == Place::outside || rules_.closing.empty()) return false;
    is_asked_to_end_ = place_ == Place::inside;
    close_if_due();
    return true;
}

void Thought::give_up() {
    place_ = Place::outside;
    tail_.clear();
}

} // namespace engine
