// Follows a grammar through a reply: which tokens may come next, and the grammar's state after one. The rules are shared by
// all requests with the same grammar; a GrammarState belongs to one request.
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

    /// Calls allow(token) for each token that may come next, never for tokens without text.
    template <class Allow>
    void for_each_allowed(const Pieces& pieces, const Allow& allow);

    /// Whether the grammar was too ambiguous to follow. Then nothing is allowed any more.
    bool is_overrun() const { return stacks_.is_overrun(); }

private:
    static constexpr base::Token kNoToken = -1;

    /// The grammar's state between two bytes of a text.
    struct Point {
        StackSet stacks = {};
        /// Of an incomplete character: its bits so far, how many bytes are missing, and how many it has in total.
        uint32_t bits = 0;
        int missing = 0;
        int bytes = 0;
    };

    const Point& here() const { return points_.front(); }
    Point& point(size_t bytes);

    /// Advances from the point after `bytes` bytes by one more. False if the byte is not allowed there.
    bool step(size_t bytes, unsigned char byte);
    bool begin_character(const Point& from, unsigned char lead, Point& to) const;
    bool take_character(const Point& from, uint32_t character, Point& to);
    bool can_complete(const Point& point) const;
    /// Computes the points after each byte of the text. False if the text is not allowed.
    bool walk(std::string_view text);
    bool waits_for_token() const;
    /// The stacks that follow after a token that the grammar asks for as such.
    StackSet behind(base::Token token);

    std::shared_ptr<const Rules> rules_;
    Stacks stacks_;
    /// The first is the state after the reply so far; the others are after each byte of the text that is being tested.
    std::vector<Point> points_;
};

template <class Allow>
void GrammarState::for_each_allowed(const Pieces& pieces, const Allow& allow) {
    const bool by_token = waits_for_token();
    // Allowed bytes of the previous entry. An entry that shares more with it is not allowed.
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
