// What of a conversation stays and what goes when it is too long for its context: the beginning (the system message)
// stays, the oldest turns after it go. Lengths only; where messages end is found by engine/fit_context.cpp. The engine cuts
// prompts before it takes them, the scheduler cuts what is running.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sched {

/// Tokens [keep, keep + drop) of a text go, and what follows moves down.
struct Cut {
    int32_t keep;
    int32_t drop;
    /// Length of the part that goes and all before it.
    int32_t end() const { return keep + drop; }
};

struct Turns {
    /// Tokens at the beginning that are never dropped: less than half of the context.
    int32_t keep = 0;
    /// Lengths of the text at which later messages end, ascending.
    std::vector<int32_t> ends = {};

    /// What has to go of a prompt of `length` tokens; `drop` is 0 where all of it fits. Whole messages only, and never
    /// the last one: nothing when that alone is too long. `tokens_max` is what the reply may have, below 1 for as much
    /// as it likes.
    std::optional<Cut> cut_prompt(int32_t length, int32_t context_length, int32_t tokens_max) const;

    /// What goes of a text that fills a context of `length` tokens, at least 3: up to a message's end that lies between
    /// a half and three quarters of what follows the kept part, else just the half. The last token stays.
    Cut cut_running(int32_t length) const;
};

/// Moves lengths of a text, ascending, down with it; those in the part that goes are gone too.
void shorten(std::vector<int32_t>& lengths, const Cut& cut);

} // namespace sched
