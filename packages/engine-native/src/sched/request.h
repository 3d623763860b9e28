// The scheduler's plain data: a request as it sees it, the limits that it obeys, and the figures that it reports.
#pragma once

#include "base/types.h"
#include "sched/context_shift.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

/// Constant for the life of a scheduler; numbers are at least 1 unless noted otherwise.
struct Limits {
    /// Number of KV cells. At least context_length, so that any one request can run alone.
    int32_t cells;
    /// Maximum number of tokens per sequence.
    int32_t context_length;
    /// Maximum number of sequences that run at the same time.
    int32_t sequences;
    /// Maximum number of ended sequences in the prefix cache; 0 if cells cannot be shared.
    int32_t cached_sequences;
    /// Maximum number of tokens per step.
    int32_t batch_tokens;
    /// Maximum number of checkpoints, for models with recurrent state (convolutions, state spaces): such state is that of a
    /// sequence's last token only, so a prefix can be shared only where it was saved. 0 for models without such state.
    int32_t checkpoints;
    /// Number of cells reserved ahead for a sequence, so that it does not have to ask for each token.
    int32_t reserve_ahead;
    /// Whether an image's tokens attend to each other, so that one step computes all of them. Then no image may have more than
    /// batch_tokens.
    bool has_whole_images = false;
    /// Whether computed cells can be moved to other positions (ShiftCells).
    bool can_shift = false;
    /// Whether the sequences of a step have equally many drafts: a recurrent state is computed for equally many tokens of each
    /// sequence at a time.
    bool has_equal_drafts = false;
    /// Size of the host KV tier; 0 disables it.
    uint64_t host_tier_bytes = 0;
    /// Size of a checkpoint; 0 without checkpoints.
    uint64_t checkpoint_bytes = 0;
    /// Tokens per block in reports of reusable blocks (kv_blocks.h); 0 disables the reports.
    int32_t block_tokens = 0;
    uint64_t block_seed = 0;
};

/// The priority of requests that are computed only in steps in which no other request runs. They give way to others in slots and cells.
inline constexpr int32_t kBackground = -2;

struct Request {
    base::RequestId id;
    /// Requests of one client are served in order of arrival; clients share fairly.
    std::string client;
    /// Requests of a higher priority are served first, whoever sends them, and take the slots of those of a lower one. The lowest is
    /// kBackground.
    int32_t priority = 0;
    /// 1 … context_length - 1 tokens; its images are complete (base/types.h).
    std::vector<base::Token> prompt;
    /// Maximum number of tokens to generate, at least 1. Without `turns`, prompt and generated tokens must fit context_length.
    int32_t generate_max;
    /// Whether to use the prefix cache and leave the sequence there.
    bool uses_cache;
    /// Lengths of the prompt at which a checkpoint is worth saving: where messages end. Ascending, never inside an image, may
    /// be empty.
    std::vector<int32_t> boundaries = {};
    /// Set if the request continues when it fills the context; its oldest chat turns are then dropped.
    std::optional<ChatTurns> turns = std::nullopt;
    /// Names the adapters that it is computed with, and their scales; empty for none. A step computes with one set of adapters.
    std::string adapters = {};
    /// Requests share computed state, and texts to draft from, only with requests of the same salt. Empty: with all without one.
    std::string cache_salt = {};
    /// Whether logits are computed for every token of the prompt. REQUIRES: no images, no prefix cache.
    bool wants_prompt_logits = false;
    /// With the salt, names the request's text once it has ended (Scheduler::slot_text()); below 0 for no name.
    int32_t id_slot = -1;

    /// Computed state is shared within a space: of these adapters, and of this salt. Empty for the common one, with neither.
    std::string space() const { return cache_salt.empty() ? adapters : cache_salt + '\n' + adapters; }
};

/// Whether a text is a salt: at most 64 hexadecimal digits, so that it can name a folder.
inline bool is_salt(std::string_view text) {
    return text.size() <= 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Whether a space (`Request::space()`) is one of requests with this salt.
inline bool has_salt(std::string_view space, std::string_view salt) {
    const size_t end = space.find('\n');
    return salt == (end == std::string_view::npos ? std::string_view{} : space.substr(0, end));
}

/// Salts that begin alike, with so many digits, belong to one owner.
inline constexpr size_t kOwnerDigits = 32;

/// Whose memory a space counts against: empty for the common one.
inline std::string_view owner_of(std::string_view space) {
    const size_t end = space.find('\n');
    return end == std::string_view::npos ? std::string_view{} : space.substr(0, std::min(end, kOwnerDigits));
}

/// A client's name for a text: a number, among those of requests with the same salt.
struct SlotName {
    std::string cache_salt;
    int32_t id;

    auto operator<=>(const SlotName&) const = default;
};

/// A text that a client has named, as far as it was computed.
struct SlotText {
    std::vector<base::Token> tokens;
    std::string space;
};

/// Unless noted otherwise, counts are totals since the scheduler was created.
struct Counters {
    int32_t running = 0;
    /// Number of running sequences whose prompt is computed; without those that are set aside.
    int32_t decoding = 0;
    /// Number of sequences without a token yet that have a slot or find one, beside the decoding ones; none in the background.
    int32_t prompts = 0;
    int32_t waiting = 0;
    /// Cells that running sequences hold or have reserved.
    int32_t cells_reserved = 0;
    /// Cells that only cached sequences hold: they are evicted when cells are needed.
    int32_t cells_cached = 0;
    uint64_t preemptions = 0;
    uint64_t context_shifts = 0;
    /// Host memory of the segments' state and of their texts, and the number of segments.
    uint64_t host_tier_bytes = 0;
    uint64_t host_tier_text_bytes = 0;
    int32_t segments = 0;
    uint64_t swap_ins = 0;
};

} // namespace sched
