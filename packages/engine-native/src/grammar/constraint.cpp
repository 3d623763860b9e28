#include "grammar/constraint.h"

#include "grammar/grammars.h"

#include <algorithm>
#include <utility>

namespace grammar {

namespace {

/// Bytes of a reply's end that are searched for triggers: longer than any trigger, and short enough to search for each token.
constexpr size_t kTailBytesMax = 512;

} // namespace

base::Result<std::shared_ptr<const Constraint>> Constraint::from_grammar(Grammars& grammars,
                                                                         std::string_view text) {
    base::Result<std::shared_ptr<const Rules>> rules = grammars.rules(text);
    if (!rules) return std::unexpected(rules.error());
    return std::make_shared<const Constraint>(
        Constraint{.rules = std::move(*rules), .pieces = grammars.pieces()});
}

std::string_view Constraint::text_of(base::Token token) const {
    const auto found = std::ranges::find(spelled, token, &SpelledToken::token);
    return found == spelled.end() ? pieces->text_of(token) : std::string_view(found->text);
}

ConstraintState::ConstraintState(std::shared_ptr<const Constraint> constraint, WorkShare* share)
    : constraint_(std::move(constraint)), grammar_(constraint_->rules, share) {
    if (constraint_->triggers) phase_ = Phase::waiting;
    else if (!constraint_->begun.empty()) grammar_.accept_text(constraint_->begun);
}

bool ConstraintState::allows(base::Token token) {
    if (phase_ != Phase::holding) return true;
    if (constraint_->pieces->is_end(token)) return grammar_.may_end();
    const std::string_view text = constraint_->text_of(token);
    return !text.empty() && grammar_.allows(token, text);
}

void ConstraintState::find_allowed(TokenSet& allowed) {
    const Pieces& pieces = *constraint_->pieces;
    allowed.reset(pieces.size());
    grammar_.add_allowed(pieces, allowed);
    for (const auto& [token, text] : constraint_->spelled) {
        if (grammar_.allows(token, text)) allowed.add(token);
    }
    if (!grammar_.may_end()) return;
    for (const base::Token end : pieces.ends()) allowed.add(end);
}

void ConstraintState::accept(base::Token token) {
    if (phase_ == Phase::released || constraint_->pieces->is_end(token)) return;
    const std::string_view text = constraint_->text_of(token);
    if (phase_ != Phase::waiting) {
        grammar_.accept(token, text);
        return;
    }
    const size_t before = tail_.size();
    try {
        look_for_trigger(token, text);
    } catch (const ShareUsedUp&) {
        tail_.resize(before);
        throw;
    }
}

void ConstraintState::look_for_trigger(base::Token token, std::string_view text) {
    const size_t before = tail_.size();
    tail_ += text;
    if (std::ranges::find(constraint_->triggers->tokens, token) != constraint_->triggers->tokens.end()) {
        begin_at(before);
        return;
    }
    if (const size_t begin = find_trigger(); begin != std::string::npos) {
        begin_at(begin);
        return;
    }
    if (tail_.size() <= kTailBytesMax) return;
    tail_.erase(0, tail_.size() - kTailBytesMax);
    is_tail_whole_ = false;
}

size_t ConstraintState::find_trigger() const {
    size_t first = std::string::npos;
    for (const std::string& word : constraint_->triggers->words) first = std::min(first, tail_.find(word));
    for (const auto& [regex, is_whole] : constraint_->triggers->patterns) {
        std::smatch match;
        const bool matches = is_whole ? is_tail_whole_ && std::regex_match(tail_, match, regex)
                                      : std::regex_search(tail_, match, regex);
        if (!matches) continue;
        const auto group = std::ranges::find_if(match.begin() + 1, match.end(),
                                                [](const auto& part) { return part.length() > 0; });
        const auto begin = group == match.end() ? match.position() : group->first - tail_.begin();
        first = std::min(first, static_cast<size_t>(begin));
    }
    return first;
}

void ConstraintState::begin_at(size_t begin) {
    const bool is_grammars = grammar_.accept_text(std::string_view(tail_).substr(begin));
    phase_ = is_grammars ? Phase::holding : Phase::released;
    tail_.clear();
}

} // namespace grammar
