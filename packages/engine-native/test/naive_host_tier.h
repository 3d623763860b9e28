// The host KV tier of naive_engine.h: segments of state, each cell with the text that it was computed after.
#pragma once

#include "random.h"
#include "sched/request.h"
#include "sched/step.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace test {

struct NaiveCell {
    size_t name;
    base::Token token;
    /// Stands for the token, the whole text before it and its space.
    uint64_t path;
    /// Computed after a text that has been dropped.
    bool is_moved = false;
};

inline uint64_t path_after(uint64_t path, base::Token token) {
    return (path ^ static_cast<uint64_t>(token + 1)) * 0x9E3779B97F4A7C15ULL + 1;
}

using NaiveCells = std::vector<NaiveCell>;

/// The path before a text's first token, which tells spaces apart.
inline uint64_t path_of(const std::string& space) {
    uint64_t path = 0;
    for (const char character : space) path = path_after(path, character);
    return path;
}

/// Whether each cell has its token of the text, and was computed in this space after the tokens before it.
inline bool are_computed_from(const NaiveCells& cells, const std::vector<base::Token>& text,
                              const std::string& space) {
    uint64_t path = path_of(space);
    return std::equal(cells.begin(), cells.end(), text.begin(),
                      [&](const NaiveCell& cell, base::Token token) {
                          path = cell.is_moved ? cell.path : path_after(path, token);
                          return cell.token == token && cell.path == path;
                      });
}

class NaiveHostTier {
public:
    explicit NaiveHostTier(const sched::Limits& limits) : limits_(limits) {}

    /// Before the step after the first segments, nobody knows how much memory they take.
    void begin_step() {
        are_bytes_known_ |= !swapped_out.empty();
        swapped_out.clear();
        failed_.clear();
    }

    /// Returns what is wrong, as swap_in() does; nullptr if nothing is.
    const char* swap_out(const sched::SwapOut& op, const NaiveCells& cells, bool is_failed) {
        Segment& segment = segments_[op.segment];
        const auto length = static_cast<size_t>(op.length);
        if (!segment.cells.empty() || op.first < 0 || op.first >= op.length || length > cells.size())
            return "something is swapped out that is not there";
        if (limits_.checkpoints > 0 && length != cells.size())
            return "a state is swapped out that is not the slot's";
        for (const sched::Checkpoint& checkpoint : op.checkpoints) {
            if (!segment.stops.insert(static_cast<size_t>(checkpoint.length)).second)
                return "a checkpoint is swapped out twice";
        }
        segment.first = static_cast<size_t>(op.first);
        segment.cells.assign(cells.begin() + op.first, cells.begin() + op.length);
        if (*segment.stops.insert(length).first <= segment.first || *segment.stops.begin() <= segment.first)
            return "a checkpoint is swapped out that is before the segment";
        if (std::ranges::any_of(segment.cells, &NaiveCell::is_moved)) return "moved cells are swapped out";
        const uint64_t bytes = bytes_of(segment);
        const bool fits = bytes_ + bytes <= limits_.host_tier_bytes;
        if (!fits && are_bytes_known_) return "more is swapped out than host memory has room for";
        const bool is_done = fits && !is_failed;
        swapped_out.push_back(
            {.copied = is_done ? sched::Copied::done : sched::Copied::failed, .bytes = bytes});
        if (is_done) {
            bytes_ += bytes;
        } else {
            segments_.erase(op.segment);
            failed_.insert(op.segment);
        }
        return nullptr;
    }

    /// It was to be swapped out in this step, before it was to be swapped in, and failed.
    bool has_failed(base::SegmentId segment) const { return failed_.contains(segment); }

    void drop(base::SegmentId segment) {
        const auto found = segments_.find(segment);
        if (found == segments_.end()) return; // it could not be swapped out
        bytes_ -= bytes_of(found->second);
        segments_.erase(found);
    }

    /// `free` cells are there to copy the whole segment into.
    const char* swap_in(const sched::SwapIn& op, NaiveCells& cells, size_t free, size_t& next_name) {
        const auto found = segments_.find(op.segment);
        if (found == segments_.end()) return "something is swapped in that is not there";
        const Segment& segment = found->second;
        const auto first = static_cast<size_t>(op.first);
        const auto length = static_cast<size_t>(op.length);
        if (cells.size() != first || segment.first > first || first >= length ||
            length > segment.first + segment.cells.size())
            return "a part of a state is swapped in that does not fit";
        if (limits_.checkpoints > 0 && !segment.stops.contains(length))
            return "a state is cut that cannot be cut";
        if (segment.cells.size() > free) return "there are not enough cells to swap a segment in";
        for (size_t i = first; i < length; ++i) {
            cells.push_back(segment.cells[i - segment.first]);
            cells.back().name = next_name++;
        }
        return nullptr;
    }

    /// Of this step, in the plan's order.
    std::vector<sched::SwappedOut> swapped_out;

    uint64_t bytes() const { return bytes_; }
    size_t size() const { return segments_.size(); }

private:
    struct Segment {
        size_t first = 0;
        NaiveCells cells;
        /// Where it can be cut if it cannot be cut everywhere, and its end.
        std::set<size_t> stops;
    };

    static constexpr uint64_t kTokenBytes = 10;

    uint64_t bytes_of(const Segment& segment) const {
        return kTokenBytes * segment.cells.size() + limits_.checkpoint_bytes * segment.stops.size();
    }

    const sched::Limits limits_;
    std::map<base::SegmentId, Segment> segments_;
    std::set<base::SegmentId> failed_;
    uint64_t bytes_ = 0;
    bool are_bytes_known_ = false;
};

} // namespace test
