#include "engine/host_memory.h"

#include <new>
#include <utility>

namespace engine {

using llama_rt::Context;

void HostMemory::keep(base::StashId stash, int32_t length, const std::vector<uint8_t>& checkpoint) {
    Piece& piece = pieces_[stash];
    piece.is_whole &= !checkpoint.empty();
    try {
        piece.checkpoints.emplace(length, checkpoint);
        bytes_ += checkpoint.size();
    } catch (const std::bad_alloc&) {
        piece.is_whole = false;
    }
}

std::optional<HostMemory::Made> HostMemory::stash(Context& context, const sched::CellOp& op) {
    Piece& piece = pieces_[op.stash];
    if (!piece.is_whole) {
        discard(op.stash);
        return std::nullopt;
    }
    const uint64_t room = bytes_ < bytes_max_ ? bytes_max_ - bytes_ : 0;
    piece.state = context.copy_out(op.slot, op.first, op.length, room);
    const Made made{.bytes = size_of(piece), .is_kept = piece.state.bytes != nullptr};
    bytes_ += piece.state.size;
    if (!made.is_kept) discard(op.stash);
    return made;
}

bool HostMemory::restore(Context& context, const sched::Restore& restore) const {
    const auto found = pieces_.find(restore.stash);
    if (found == pieces_.end()) return false;
    const auto& [state, checkpoints, is_whole] = found->second;
    const auto checkpoint = checkpoints.find(restore.length);
    return context.copy_in(restore.slot,
                           {.state = state,
                            .first = restore.first,
                            .length = restore.length,
                            .checkpoint = checkpoint == checkpoints.end() ? nullptr : &checkpoint->second});
}

void HostMemory::discard(base::StashId stash) {
    const auto found = pieces_.find(stash);
    if (found == pieces_.end()) return; // it could not be kept
    bytes_ -= size_of(found->second);
    pieces_.erase(found);
}

void HostMemory::adopt(base::StashId stash, Piece piece) {
    bytes_ += size_of(piece);
    pieces_.emplace(stash, std::move(piece));
}

const HostMemory::Piece* HostMemory::find(base::StashId stash) const {
    const auto found = pieces_.find(stash);
    return found == pieces_.end() ? nullptr : &found->second;
}

uint64_t HostMemory::size_of(const Piece& piece) {
    uint64_t bytes = piece.state.size;
    for (const auto& [length, checkpoint] : piece.checkpoints) bytes += checkpoint.size();
    return bytes;
}

} // namespace engine
