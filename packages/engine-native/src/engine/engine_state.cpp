// The part of the engine that keeps what is computed for the next process, read when it starts and written when it stops, and that
// tells which of it can be reused.
#include "engine/engine.h"
#include "llama/backend/backend.h"

#include <algorithm>
#include <utility>

namespace engine {

void Engine::load_state() {
    if (options_.state_file.path.empty()) return;
    const auto is_text = [this](std::span<const base::Token> text) {
        const base::Token vocabulary_size = model_->info().vocabulary_size;
        return std::ranges::all_of(text,
                                   [&](base::Token token) { return token >= 0 && token < vocabulary_size; });
    };
    for (SavedPiece& saved : read_state_file(options_.state_file, host_memory_.bytes_max(), is_text)) {
        std::vector<int32_t> checkpoints;
        for (const auto& [length, bytes] : saved.piece.checkpoints) checkpoints.push_back(length);
        const uint64_t bytes = HostMemory::size_of(saved.piece);
        const base::StashId stash = scheduler_.adopt(saved.text, saved.first, std::move(checkpoints), bytes);
        if (stash != 0) host_memory_.adopt(stash, std::move(saved.piece));
    }
}

/// Also what the context still holds of earlier conversations.
void Engine::save_state() {
    if (options_.state_file.path.empty()) return;
    while (true) {
        const sched::Plan& plan = scheduler_.give_up_donors();
        if (plan.cells.empty()) break;
        prepare_cells(plan);
    }
    const std::vector<sched::Stashes::Kept> kept = scheduler_.stashes().all();
    std::vector<PieceView> pieces;
    for (const auto& [stash, text, first] : kept) {
        const HostMemory::Piece* piece = host_memory_.find(stash);
        // Which image an id stands for is known to this process alone.
        if (std::ranges::any_of(text, base::is_image)) continue;
        if (piece != nullptr) pieces.push_back({.text = text, .first = first, .piece = piece});
    }
    if (!write_state_file(options_.state_file, pieces))
        llama_rt::log_debug("The state of conversations could not be written to the disk.\n");
}

void Engine::add_block_report() {
    sched::KvBlocks* blocks = scheduler_.cells().blocks();
    if (blocks == nullptr) return;
    const BlocksWanted wanted = blocks_wanted_.exchange(BlocksWanted::nothing);
    if (wanted == BlocksWanted::nothing) return;
    if (wanted == BlocksWanted::all) blocks->restate();
    if (blocks->has_changes()) {
        sched::KvReport report = blocks->take_report();
        if (report.is_restated || !report.removed.empty() || !report.stored.empty()) {
            events_.emplace_back(KvBlocksEvent{.report = std::move(report)});
            return;
        }
    }
    auto nothing = BlocksWanted::nothing; // somebody may want all of it by now
    blocks_wanted_.compare_exchange_strong(nothing, BlocksWanted::changes);
}

} // namespace engine
