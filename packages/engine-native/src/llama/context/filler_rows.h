// How many rows a batch of replies has where a device computes it: a graph is built for a number of rows, and building one takes longer
// than computing a few rows more. So batches are filled up with rows of no reply, and a reply that ends or begins changes nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace llama {

/// From 8 rows on, devices multiply in tiles of 8 or 16 rows, so most of what is filled costs nothing.
inline constexpr std::array<int32_t, 11> kFilledRows = {1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128};

/// The number of rows that a batch of `rows` replies is filled up to. More than the largest are left as they are.
constexpr int32_t filled_rows(int32_t rows) {
    const auto* const filled = std::ranges::lower_bound(kFilledRows, rows);
    return filled == kFilledRows.end() ? rows : *filled;
}

/// The most rows that fill a batch of up to `replies` replies.
constexpr int32_t filler_rows_max(int32_t replies) {
    int32_t most = 0;
    for (int32_t rows = 1; rows <= std::min(replies, kFilledRows.back()); ++rows)
        most = std::max(most, filled_rows(rows) - rows);
    return most;
}

} // namespace llama
