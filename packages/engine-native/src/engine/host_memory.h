// The bytes of evicted state in host memory: what sched/stashes.h decides about. Engine thread only.
#pragma once

#include "base/types.h"
#include "llama/context/context.h"
#include "sched/request.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace engine {

class HostMemory {
public:
    /// Never holds more than `bytes_max`, but for checkpoints of a piece that is then not made.
    explicit HostMemory(uint64_t bytes_max) : bytes_max_(bytes_max) {}

    /// A copy of a checkpoint, for a piece that is about to be made. Where there is no memory for it, the piece lacks it.
    void keep(base::StashId stash, int32_t length, const std::vector<uint8_t>& checkpoint);

    struct Made {
        /// What the piece takes, or would have taken.
        uint64_t bytes;
        bool is_kept;
    };
    /// Makes a piece, if there is memory for it. Nothing when it lacks a checkpoint.
    std::optional<Made> stash(llama_rt::Context& context, const sched::CellOp& op);

    /// Copies some of a piece back. False when it is not there or does not fit; see Context::copy_in().
    bool restore(llama_rt::Context& context, const sched::Restore& restore) const;

    void discard(base::StashId stash);

    struct Piece {
        llama_rt::State state;
        /// By length: what lets the state be cut there.
        std::map<int32_t, std::vector<uint8_t>> checkpoints;
        /// No checkpoint is missing.
        bool is_whole = true;
    };
    static uint64_t size_of(const Piece& piece);

    /// A piece that another engine made of the same model.
    void adopt(base::StashId stash, Piece piece);

    /// Null when it is not there.
    const Piece* find(base::StashId stash) const;

    /// Pieces, also such as are about to be made.
    size_t size() const { return pieces_.size(); }
    uint64_t bytes() const { return bytes_; }
    uint64_t bytes_max() const { return bytes_max_; }

private:
    const uint64_t bytes_max_;
    uint64_t bytes_ = 0;
    std::unordered_map<base::StashId, Piece> pieces_;
};

} // namespace engine
