#include "sched/turns.h"

#include <algorithm>
#include <iterator>

namespace sched {

namespace {

/// Of a context, what is left free for the reply to a prompt that had to be cut, unless the reply may only be shorter.
constexpr int32_t kRoomShare = 4;

/// A prompt is cut in steps of such a share of the context, so that a chat's next turns are cut at the same place and
/// find computed what they begin with.
constexpr int32_t kStepShare = 4;

} // namespace

std::optional<Cut> Turns::cut_prompt(int32_t length, int32_t context_length, int32_t tokens_max) const {
    Cut cut{.keep = keep, .drop = 0};
    if (length < context_length) return cut;
    // What follows the last end is the template's opening of the reply, or a last message that does not end like the
    // others. The message before it stays in either case.
    if (ends.size() < 2) return std::nullopt;
    const auto last = std::prev(ends.end(), 2);
    const int32_t room_max = std::max(1, context_length / kRoomShare);
    const int32_t room = tokens_max < 1 ? room_max : std::min(tokens_max, room_max);
    const int32_t step = std::max(1, context_length / kStepShare);
    const int32_t over = length - (context_length - room);
    const int32_t steps = (over + step - 1) / step;
    cut.drop = *std::lower_bound(ends.begin(), last, keep + steps * step) - keep;
    if (length - cut.drop >= context_length) return std::nullopt;
    return cut;
}

Cut Turns::cut_running(int32_t length) const {
    const int32_t follows = length - keep;
    const int32_t half = follows / 2;
    const auto end = std::ranges::lower_bound(ends, keep + half);
    const bool is_near = end != ends.end() && *end <= keep + half + follows / 4;
    return {.keep = keep, .drop = is_near ? *end - keep : half};
}

void shorten(std::vector<int32_t>& lengths, const Cut& cut) {
    std::erase_if(lengths, [&](int32_t length) { return length > cut.keep && length <= cut.end(); });
    for (int32_t& length : lengths) {
        if (length > cut.keep) length -= cut.drop;
    }
}

} // namespace sched
