#include "sched/context_shift.h"

#include <algorithm>
#include <iterator>

namespace sched {

namespace {

/// A prompt that must be cut leaves this share of the context (a quarter) free for the reply, or less if the reply is limited to
/// less.
constexpr int32_t kReplyShare = 4;

/// A prompt is cut in multiples of this share of the context, so that a chat's next requests are cut at the same place and
/// find their prefix in the cache.
constexpr int32_t kGranularityShare = 4;

} // namespace

std::optional<Cut> ChatTurns::cut_prompt(int32_t length, int32_t context_length, int32_t tokens_max) const {
    Cut cut{.keep = keep, .drop = 0};
    if (length < context_length) return cut;
    // The last boundary is followed by the template's opening of the reply, or by a last message that ends differently. The
    // message before it stays in either case.
    if (ends.size() < 2) return std::nullopt;
    const auto last = std::prev(ends.end(), 2);
    const int32_t reply_max = std::max(1, context_length / kReplyShare);
    const int32_t reply = tokens_max < 1 ? reply_max : std::min(tokens_max, reply_max);
    const int32_t granularity = std::max(1, context_length / kGranularityShare);
    const int32_t over = length - (context_length - reply);
    const int32_t parts = (over + granularity - 1) / granularity;
    cut.drop = *std::lower_bound(ends.begin(), last, keep + parts * granularity) - keep;
    if (length - cut.drop >= context_length) return std::nullopt;
    return cut;
}

Cut ChatTurns::cut_running(int32_t length) const {
    const int32_t follows = length - keep;
    const int32_t half = follows / 2;
    const auto end = std::ranges::lower_bound(ends, keep + half);
    const bool is_near = end != ends.end() && *end <= keep + half + follows / 4;
    return {.keep = keep, .drop = is_near ? *end - keep : half};
}

void apply_cut(std::vector<int32_t>& lengths, const Cut& cut) {
    std::erase_if(lengths, [&](int32_t length) { return length > cut.keep && length <= cut.end(); });
    for (int32_t& length : lengths) {
        if (length > cut.keep) length -= cut.drop;
    }
}

} // namespace sched
