#include "grammar/grammars.h"

#include "grammar/grammar.h"

#include <utility>

namespace grammar {

namespace {

/// Maximum number of grammars in the cache, and of the bytes of their texts. Reading takes about a microsecond for ten bytes, and
/// rules take about ten times the memory of their text.
constexpr size_t kEntriesMax = 64;
constexpr size_t kBytesMax = size_t{4} * 1024 * 1024;

} // namespace

Grammars::Grammars(TokenFinder find_token, std::function<std::shared_ptr<const Pieces>()> make_pieces)
    : find_token_(std::move(find_token)), make_pieces_(std::move(make_pieces)) {}

std::shared_ptr<const Pieces> Grammars::pieces() {
    std::call_once(pieces_made_, [this] { pieces_ = make_pieces_(); });
    return pieces_;
}

base::Result<std::shared_ptr<const Rules>> Grammars::rules(std::string_view text) {
    if (std::shared_ptr<const Rules> known = find(text)) return known;
    base::Result<Rules> read = read_gbnf(text, find_token_);
    if (!read) return std::unexpected(read.error());
    auto rules = std::make_shared<const Rules>(std::move(*read));
    if (GrammarState(rules).is_overrun())
        return base::fail(base::Code::invalid_argument, "The grammar is wrong: it is far too ambiguous.");
    keep(text, rules);
    return rules;
}

std::shared_ptr<const Rules> Grammars::find(std::string_view text) {
    std::lock_guard lock(mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
        if (entry->text != text) continue;
        entries_.splice(entries_.begin(), entries_, entry);
        return entry->rules;
    }
    return nullptr;
}

void Grammars::keep(std::string_view text, const std::shared_ptr<const Rules>& rules) {
    if (text.size() > kBytesMax) return;
    std::lock_guard lock(mutex_);
    bytes_ += text.size();
    entries_.push_front({.text = std::string(text), .rules = rules});
    while (entries_.size() > kEntriesMax || bytes_ > kBytesMax) {
        bytes_ -= entries_.back().text.size();
        entries_.pop_back();
    }
}

} // namespace grammar
