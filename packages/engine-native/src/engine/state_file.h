// A state file keeps segments of the host KV tier on disk: all of them, read when an engine starts and written when it stops, or those
// of one text, when a client asks for it (slot_states.h).
//
//     "INGLEST3"  checksum of these and the key  { segment  checksum } ...
//     a segment:  lengths of what follows, its space, its text's tokens, its checkpoints, its state
//
// The key is made of a secret and of everything that must be the same to reuse a state: model, build, types of the KV cache. It is in no
// file, and the checksums need it: only who has the secret can write a segment that is read. A damaged, altered or truncated file is used
// up to that place; a file with another key is ignored. Numbers have the machine's byte order: the file is only for this machine.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "base/types.h"
#include "engine/host_tier_store.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

using StateKey = std::array<uint8_t, 32>;

struct StateFile {
    /// UTF-8; empty disables the file.
    std::string path;
    StateKey key{};
};

constexpr auto fields_of(const StateFile*) {
    return base::rows(base::field("stateFile", &StateFile::path), base::field("stateKey", &StateFile::key));
}

/// A segment that was read, with its text (sched/host_tier.h).
struct SavedSegment {
    std::vector<base::Token> text;
    /// sched::Request::space() of the text.
    std::string space = {};
    int32_t first = 0;
    HostTierStore::Segment segment;
};

/// A segment to be written; does not own its bytes.
struct SegmentView {
    std::span<const base::Token> text;
    std::string_view space = {};
    int32_t first = 0;
    const HostTierStore::Segment* segment = nullptr;
};

/// Why a file was not written. In the way: there is something else with its name, such as a folder.
enum class StateWrite { done, aborted, in_the_way, no_space, failed };

/// Replaces the whole file, or leaves it unchanged. Writers of the same file do not disturb each other: each writes one of its own, with a
/// random name that begins with a dot, and the last one to finish wins. Only the file's owner may read it.
StateWrite write_state_file(const StateFile& file, std::span<const SegmentView> segments,
                            const std::atomic<bool>* is_aborted = nullptr);

/// Whether a text can be this engine's: the state of unknown tokens is not even read.
using IsText = std::function<bool(std::span<const base::Token>)>;

/// Whether all tokens are in a vocabulary of this size.
IsText text_in(base::Token vocabulary_size);

struct StateRead {
    /// Why there are no more segments than these. Foreign: it has another key, or is no state file. Damaged: or altered without the key.
    enum class End { complete, absent, foreign, damaged, too_large };
    End end;
    /// In the file's order.
    std::vector<SavedSegment> segments = {};
    /// The size of the file.
    uint64_t bytes = 0;
};

/// Reads at most `bytes_max` of state and checkpoints.
StateRead read_state_file(const StateFile& file, uint64_t bytes_max, const IsText& is_text);

} // namespace engine
