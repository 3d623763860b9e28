// Decides what a chat drops when it is too long for its context: the first message (often the system message) stays, the oldest
// turns after it are dropped. Works on lengths only; engine/limits.cpp finds where messages end. The engine cuts prompts before
// it accepts them, the scheduler cuts running sequences.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sched {

/// Tokens [keep, keep + drop) of a text are dropped, and the rest moves down.
struct Cut {
    int32_t keep;
    int32_t drop;
    /// Length of the dropped part and everything before it.
    int32_t end() const { return keep + drop; }
};

struct ChatTurns {
    /// Tokens at the start that are never dropped: less than half of the context.
    int32_t keep = 0;
    /// Lengths of the text at which later messages end, ascending.
    std::vector<int32_t> ends = {};

    /// What to drop from a prompt of `length` tokens; `drop` is 0 if all of it fits. Drops only whole messages, and never the
    /// last one: returns nothing if that alone is too long. `tokens_max` is the reply's limit; below 1 means none.
    std::optional<Cut> cut_prompt(int32_t length, int32_t context_length, int32_t tokens_max) const;

    /// What to drop from a text that fills a context of `length` tokens, at least 3: up to a message's end between a half and
    /// three quarters of what follows the kept part, otherwise exactly half. The last token stays.
    Cut cut_running(int32_t length) const;
};

/// Adjusts ascending lengths of a text to a cut: those inside the dropped part are removed, later ones move down.
void apply_cut(std::vector<int32_t>& lengths, const Cut& cut);

} // namespace sched
