#include "engine/limits.h"

#include <algorithm>
#include <cstddef>

namespace engine {

namespace {

/// Cells that a sequence reserves ahead: few enough to admit many sequences, enough to ask rarely.
constexpr int32_t kReserveAhead = 64;

/// Ended sequences in the prefix cache. Each costs a slot of llama.cpp's, and cells only while no other sequence needs them.
constexpr int32_t kCached = 32;

/// Cells of a context in which nothing is computed.
constexpr int32_t kIdleCells = 64;

/// Recurrent states take memory for every slot, used or not.
constexpr int32_t kCachedRecurrent = 8;

/// Memory for checkpoints, and how many there may be whatever their size.
constexpr size_t kCheckpointBytesMax = size_t{256} * 1024 * 1024;
constexpr size_t kCheckpointsMax = 256;

/// Besides at the ends of messages, checkpoints are saved at multiples of this many tokens.
constexpr int32_t kBoundaryEvery = 1024;

/// Tiles of one image have fewer tokens between them, which say where each tile belongs.
constexpr int32_t kTilesApartMax = 16;

int32_t cached_sequences_of(const llama_rt::Model& model, const llama_rt::ContextOptions& context) {
    // One slot is spare: copies go through it.
    const int32_t room = llama_rt::kSlotsMax - 1 - context.sequences;
    return std::clamp(room, 0, model.info().is_recurrent ? kCachedRecurrent : kCached);
}

} // namespace

llama_rt::ContextOptions options_for(const llama_rt::Model& model, llama_rt::ContextOptions options) {
    if (model.info().is_causal) return options;
    options.context_length = options.cells = options.batch_tokens = kIdleCells;
    options.sequences = 1;
    return options;
}

int32_t slots_of(const llama_rt::Model& model, const llama_rt::ContextOptions& options) {
    return options.sequences + cached_sequences_of(model, options);
}

sched::Limits limits_of(const llama_rt::Model& model, llama_rt::Context& context,
                        const llama_rt::ContextOptions& options, uint64_t host_tier_bytes) {
    sched::Limits limits{.cells = options.cells,
                         .context_length = options.context_length,
                         .sequences = options.sequences,
                         .cached_sequences = cached_sequences_of(model, options),
                         .batch_tokens = options.batch_tokens,
                         .checkpoints = 0,
                         .reserve_ahead = kReserveAhead,
                         .can_shift = context.can_shift(),
                         // A copy of a sliding window has only the window: it cannot be cut or split.
                         .host_tier_bytes = model.info().has_sliding_window ? 0 : host_tier_bytes};
    limits.has_whole_images = model.vision() != nullptr && model.vision()->has_whole_images();
    if (limits.cached_sequences == 0) limits.host_tier_bytes = 0;
    if (!model.info().is_recurrent) return limits;
    const size_t bytes = context.measure_state_bytes();
    if (bytes > 0)
        limits.checkpoints = static_cast<int32_t>(std::min(kCheckpointBytesMax / bytes, kCheckpointsMax));
    limits.checkpoint_bytes = bytes;
    // Without checkpoints, no prefix of such a state can be shared.
    if (limits.checkpoints == 0) limits.cached_sequences = 0;
    if (limits.cached_sequences == 0) limits.host_tier_bytes = 0;
    return limits;
}

/// Where images end: other questions about an image share everything up to there. The tiles of one image stand close together.
void add_ends_of_images(const std::vector<base::Token>& prompt, std::vector<int32_t>& lengths) {
    const auto length = static_cast<int32_t>(prompt.size());
    int32_t end = 0;
    for (int32_t at = 0; at < length; at = base::end_of_kind(prompt, at)) {
        if (!base::is_image(prompt[static_cast<size_t>(at)])) continue;
        if (end > 0 && at - end >= kTilesApartMax) lengths.push_back(end);
        end = base::end_of_kind(prompt, at);
    }
    if (end > 0) lengths.push_back(end);
}

/// Where a chat's messages end: after the tokens that end a generation. Other requests share the first message (often the system
/// message), the chat's next request shares all up to the last. Long prompts get some more in between.
std::vector<int32_t> boundaries_of(const llama_rt::Model& model, const std::vector<base::Token>& prompt) {
    std::vector<int32_t> lengths;
    if (!model.info().is_recurrent) return lengths;
    const auto length = static_cast<int32_t>(prompt.size());
    for (int32_t at = kBoundaryEvery; at < length; at += kBoundaryEvery)
        lengths.push_back(base::last_edge(prompt, at));
    add_ends_of_images(prompt, lengths);
    const auto ends_message = [&model](base::Token token) { return model.is_end_of_generation(token); };
    const auto first = std::ranges::find_if(prompt, ends_message);
    if (first != prompt.end()) {
        const auto last = std::find_if(prompt.rbegin(), prompt.rend(), ends_message);
        lengths.push_back(static_cast<int32_t>(first - prompt.begin()) + 1);
        lengths.push_back(static_cast<int32_t>(last.base() - prompt.begin()));
    }
    std::ranges::sort(lengths);
    lengths.erase(std::ranges::unique(lengths).begin(), lengths.end());
    return lengths;
}

} // namespace engine
