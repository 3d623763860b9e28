// Follows a grammar through a reply: which tokens may come next, and the grammar's state after one. The rules are shared by
// all requests with the same grammar; a GrammarState belongs to one request.
#pragma once

#include "base/types.h"
#include "grammar/automaton.h"
#include "grammar/gbnf.h"
#include "grammar/partial_character.h"
#include "grammar/pieces.h"
#include "grammar/stack_set.h"
#include "grammar/token_set.h"

#include <memory>
#include <string_view>
#include <vector>

namespace grammar {

class GrammarState {
public:
    explicit GrammarState(std::shared_ptr<const Rules> rules, WorkShare* share = nullptr);

    /// Charges the work to `share` from now on; null charges nobody. After ShareUsedUp, the state is unchanged.
    void share_work(WorkShare* share) { stacks_.share_work(share); }

    /// Whether this token may come next. Its text must not be empty.
    bool allows(base::Token token, std::string_view text);

    /// Advances by a token. False if the grammar does not allow it; then nothing is allowed any more.
    bool accept(base::Token token, std::string_view text);

    /// Advances by a text, as if it were not one token.
    bool accept_text(std::string_view text) { return accept(kNoToken, text); }

    /// Whether the reply may end here.
    bool may_end() const;
    /// Whether nothing can follow.
    bool must_end() const { return may_end() && here().stacks.size() == 1; }

    /// Adds each token that may come next, never tokens without text. `allowed` has the size of the vocabulary.
    void add_allowed(const Pieces& pieces, TokenSet& allowed);

    /// Whether the grammar was too ambiguous to follow. Then nothing is allowed any more.
    bool is_overrun() const { return stacks_.is_overrun(); }

private:
    static constexpr base::Token kNoToken = -1;

    /// The grammar's state between two bytes of a text.
    struct Point {
        StackSet stacks = {};
        PartialCharacter character = {};
    };

    const Point& here() const { return points_.front(); }
    Point& point(size_t bytes);

    /// Advances from the point after `bytes` bytes by one more. False if the byte is not allowed there.
    bool step(size_t bytes, unsigned char byte);
    /// Computes the points after each byte of the text. False if the text is not allowed.
    bool walk(std::string_view text);
    bool waits_for_token() const;
    /// The stacks that follow after a token that the grammar asks for as such.
    StackSet behind(base::Token token);

    std::shared_ptr<const Rules> rules_;
    Stacks stacks_;
    /// Of `stacks_`; empty before the first mask.
    Automaton automaton_;
    /// The first is the state after the reply so far; the others are after each byte of the text that is being tested.
    std::vector<Point> points_;
};

} // namespace grammar
