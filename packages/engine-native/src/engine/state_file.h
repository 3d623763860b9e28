// The pieces of state that host memory holds, in a file, so that they outlive the process. Used by the engine when it
// starts and when it stops.
//
//     "INGLEST1"  key, 32 bytes  { piece  checksum } ...
//     a piece:    lengths of what follows, its text's tokens, its checkpoints, its state
//
// The key stands for all that must be the same for a state to be of use: model, build, types of the cache. A file that is
// damaged or cut is of use up to there; one with another key is not. Numbers are the machine's own: the file does not travel.
#pragma once

#include "base/result.h"
#include "base/types.h"
#include "engine/host_memory.h"

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace engine {

using StateKey = std::array<uint8_t, 32>;

struct StateFile {
    /// UTF-8; empty for none.
    std::string path;
    StateKey key{};
};

/// A piece without its text is of no use: see sched/stashes.h.
struct SavedPiece {
    std::vector<base::Token> text;
    int32_t first = 0;
    HostMemory::Piece piece;
};

/// What is to be written of a piece; it belongs to others.
struct PieceView {
    std::span<const base::Token> text;
    int32_t first = 0;
    const HostMemory::Piece* piece = nullptr;
};

/// Replaces the file as a whole, or leaves it as it is; only its owner may read it. False when it cannot be written.
bool write_state_file(const StateFile& file, std::span<const PieceView> pieces);

/// Whether a text may be one of this engine's: state of foreign tokens is not even read.
using IsText = std::function<bool(std::span<const base::Token>)>;

/// The file's pieces in their order, of at most `bytes_max` of state and checkpoints; none when there is no file, or
/// another engine's.
std::vector<SavedPiece> read_state_file(const StateFile& file, uint64_t bytes_max, const IsText& is_text);

} // namespace engine
