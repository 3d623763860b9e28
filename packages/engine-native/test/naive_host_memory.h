// The host memory of naive_engine.h: pieces of state, each cell with the text that it was computed after.
#pragma once

#include "random.h"
#include "sched/request.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace test {

struct NaiveCell {
    size_t name;
    base::Token token;
    /// Stands for the token and the whole text before it.
    uint64_t path;
    /// It was computed after a text that is gone.
    bool is_moved = false;
};

inline uint64_t path_after(uint64_t path, base::Token token) {
    return (path ^ static_cast<uint64_t>(token + 1)) * 0x9E3779B97F4A7C15ULL + 1;
}

using NaiveCells = std::vector<NaiveCell>;

class NaiveHostMemory {
public:
    explicit NaiveHostMemory(const sched::Limits& limits) : limits_(limits) {}

    struct Made {
        base::StashId stash;
        uint64_t bytes;
        bool is_kept;
    };

    /// Before the turn after the first pieces nobody knows what they take.
    void begin_turn() {
        are_bytes_known_ |= !made.empty();
        made.clear();
    }

    /// What is wrong, as in all of these; nullptr when nothing is.
    const char* keep(const sched::CellOp& op) {
        const bool is_new = pieces_[op.stash].stops.insert(static_cast<size_t>(op.length)).second;
        return is_new ? nullptr : "a checkpoint is kept twice";
    }

    const char* stash(const sched::CellOp& op, const NaiveCells& cells, bool is_failed) {
        Piece& piece = pieces_[op.stash];
        const auto length = static_cast<size_t>(op.length);
        if (!piece.cells.empty() || op.first < 0 || op.first >= op.length || length > cells.size())
            return "something is copied out that is not there";
        if (limits_.checkpoints > 0 && length != cells.size())
            return "a state is copied out that is not the slot's";
        piece.first = static_cast<size_t>(op.first);
        piece.cells.assign(cells.begin() + op.first, cells.begin() + op.length);
        if (*piece.stops.insert(length).first <= piece.first || *piece.stops.begin() <= piece.first)
            return "a checkpoint is kept that is before the piece";
        if (std::ranges::any_of(piece.cells, &NaiveCell::is_moved)) return "moved cells are copied out";
        const uint64_t bytes = bytes_of(piece);
        const bool fits = bytes_ + bytes <= limits_.stash_bytes;
        if (!fits && are_bytes_known_) return "more is put into host memory than there is";
        made.push_back({.stash = op.stash, .bytes = bytes, .is_kept = fits && !is_failed});
        if (made.back().is_kept) bytes_ += bytes;
        else pieces_.erase(op.stash);
        return nullptr;
    }

    /// It was to be made in this turn, before it was to be copied back, and could not be kept.
    bool has_failed(base::StashId stash) const {
        return std::ranges::any_of(made, [&](const Made& one) { return one.stash == stash && !one.is_kept; });
    }

    void discard(base::StashId stash) {
        const auto found = pieces_.find(stash);
        if (found == pieces_.end()) return; // it could not be kept
        bytes_ -= bytes_of(found->second);
        pieces_.erase(found);
    }

    /// `free` cells are there to copy the whole piece into.
    const char* restore(const sched::Restore& restore, NaiveCells& cells, size_t free, size_t& next_name) {
        const auto found = pieces_.find(restore.stash);
        if (found == pieces_.end()) return "something is copied back that is not there";
        const Piece& piece = found->second;
        const auto first = static_cast<size_t>(restore.first);
        const auto length = static_cast<size_t>(restore.length);
        if (cells.size() != first || piece.first > first || first >= length ||
            length > piece.first + piece.cells.size())
            return "a part of a state is copied back that does not fit";
        if (limits_.checkpoints > 0 && !piece.stops.contains(length))
            return "a state is cut that cannot be cut";
        if (piece.cells.size() > free) return "there are not enough cells to copy a state back";
        for (size_t i = first; i < length; ++i) {
            cells.push_back(piece.cells[i - piece.first]);
            cells.back().name = next_name++;
        }
        return nullptr;
    }

    /// Of the turn, for Scheduler::stashed().
    std::vector<Made> made;

    uint64_t bytes() const { return bytes_; }
    size_t size() const { return pieces_.size(); }

private:
    struct Piece {
        size_t first = 0;
        NaiveCells cells;
        /// Where it can be cut, if it cannot be cut everywhere, and its end.
        std::set<size_t> stops;
    };

    static constexpr uint64_t kTokenBytes = 10;

    uint64_t bytes_of(const Piece& piece) const {
        return kTokenBytes * piece.cells.size() + limits_.checkpoint_bytes * piece.stops.size();
    }

    const sched::Limits limits_;
    std::map<base::StashId, Piece> pieces_;
    uint64_t bytes_ = 0;
    bool are_bytes_known_ = false;
};

} // namespace test
