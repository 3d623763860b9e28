// Holds a reply to a grammar: which token may come next, and where the grammar stands after it. The rules are shared by
// all requests with the same grammar; a GrammarState belongs to one. Used by Constraint.
#pragma once

#include "base/types.h"
#include "llama/grammar/gbnf.h"
#include "llama/grammar/pieces.h"
#include "llama/grammar/stack_set.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace llama_rt {

class GrammarState {
public:
    explicit GrammarState(std::shared_ptr<const Rules> rules, WorkShare* share = nullptr);

    /// Whose share the work is taken off; null for nobody's. When it throws ShareUsedUp, the grammar stands where it stood.
    void share_work(WorkShare* share) { stacks_.share_work(share); }

    /// Whether the reply may go on with this token, whose text is not empty.
    bool allows(base::Token token, std::string_view text);

    /// Goes on with it. False, and nothing is allowed any more, when the grammar does not allow it.
    bool accept(base::Token token, std::string_view text);

    /// Goes on with a text that is no token of its own.
    bool accept_text(std::string_view text);

    /// The reply may end here.
    bool may_end() const;
    /// Nothing can follow.
    bool must_end() const { return may_end() && here().stacks.size() == 1; }

    /// Calls allow(token) for each token that may come next; tokens without a text are never among them.
    template <class Allow>
    void for_each_allowed(const Pieces& pieces, const Allow& allow);

    /// The grammar is so ambiguous that following it was given up. Nothing is allowed any more.
    bool is_overrun() const { return stacks_.is_overrun(); }

private:
    /// A place between two bytes of a text.
    struct Point {
        StackSet stacks = {};
        /// Of a character that is not whole yet: its bits so far, how many bytes are missing, and how many it has in all.
        uint32_t bits = 0;
        int missing = 0;
        int bytes = 0;
    };

    const Point& here() const { return points_.front(); }
    Point& point(size_t bytes);

    /// From the point after `bytes` bytes to the one after the next. False when the byte is not allowed there.
    bool step(size_t bytes, unsigned char byte);
    bool begin_character(const Point& from, unsigned char lead, Point& to) const;
    bool take_character(const Point& from, uint32_t character, Point& to);
    bool can_complete(const Point& point) const;
    /// To the point behind the text.
    bool walk(std::string_view text);
    bool waits_for_token() const;
    void stand_at(Point point);

    std::shared_ptr<const Rules> rules_;
    Stacks stacks_;
    /// The first is where the reply stands; the others are behind each byte of a text that is looked at.
    std::vector<Point> points_;
};

template <class Allow>
void GrammarState::for_each_allowed(const Pieces& pieces, const Allow& allow) {
    const bool by_token = waits_for_token();
    // How much of the entry before is allowed: what begins with one byte more of it is not.
    size_t good = 0;
    for (const Pieces::Entry& entry : pieces.entries()) {
        const std::string_view text = pieces.text(entry);
        if (by_token) {
            if (allows(entry.token, text)) allow(entry.token);
            continue;
        }
        if (entry.shared > good) continue;
        good = entry.shared;
        while (good < text.size() && step(good, static_cast<unsigned char>(text[good]))) good += 1;
        if (good == text.size()) allow(entry.token);
    }
}

} // namespace llama_rt
