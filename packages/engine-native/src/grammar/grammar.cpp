#include "grammar/grammar.h"

#include "grammar/mask_walk.h"

#include <algorithm>
#include <span>
#include <utility>

namespace grammar {

GrammarState::GrammarState(std::shared_ptr<const Rules> rules, WorkShare* share)
    : rules_(std::move(rules)), stacks_(*rules_), points_(1) {
    stacks_.share_work(share);
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
    if (stacks_.tidy(next.stacks)) automaton_.clear();
    stacks_.start_token();
    points_.front() = std::move(next);
    return !here().stacks.empty();
}

void GrammarState::add_allowed(const Pieces& pieces, TokenSet& allowed) {
    if (is_overrun()) return;
    if (here().character.missing() > 0) {
        for (const base::Token token : pieces.continuations()) {
            if (walk(pieces.text_of(token))) allowed.add(token);
        }
        return;
    }
    MaskWalk mask(stacks_, automaton_, here().stacks, allowed);
    mask.add(pieces.plain());
    mask.add(pieces.others());
    for (const StackId stack : here().stacks) stacks_.add_tokens(stack, pieces.with_text(), allowed);
}

StackSet GrammarState::behind(base::Token token) {
    StackSet behind;
    if (token == kNoToken || !waits_for_token() || here().character.missing() > 0) return behind;
    stacks_.advance_by_token(here().stacks, token, behind);
    return behind;
}

bool GrammarState::may_end() const {
    return here().character.missing() == 0 &&
           std::ranges::find(here().stacks, kEmptyStack) != here().stacks.end();
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
    to.character = from.character;
    if (!to.character.add(byte)) return false;
    if (to.character.missing() > 0) {
        to.stacks = from.stacks;
        return std::ranges::any_of(to.stacks, [&](StackId stack) {
            return stacks_.accepts_any(stack, to.character.first(), to.character.last());
        });
    }
    stacks_.advance(from.stacks, to.character.first(), to.stacks);
    return !to.stacks.empty() && !is_overrun();
}

} // namespace grammar
