#include "sched/stashes.h"

#include "base/image_tokens.h"
#include "base/result.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>

namespace sched {

using base::StashId;
using base::Token;

namespace {

/// A piece is copied back whole, and takes cells for a moment: it must give at least this share of its tokens, a quarter.
constexpr int32_t kShareOfPieceMin = 4;

int32_t common_length(std::span<const Token> a, std::span<const Token> b) {
    const auto [end_a, end_b] = std::ranges::mismatch(a, b);
    return static_cast<int32_t>(end_a - a.begin());
}

} // namespace

Stashes::Found Stashes::find(std::span<const Token> tokens, int32_t there) const {
    Found best;
    for (const Piece& piece : pieces_) {
        if (piece.first > there || piece.end() <= best.length) continue;
        const int32_t length = usable(piece, tokens);
        const int32_t gained = length - there;
        if (length <= best.length || gained < kPieceMin) continue;
        if (gained < (piece.end() - piece.first) / kShareOfPieceMin) continue;
        best = {.stash = piece.id, .first = piece.first, .end = piece.end(), .length = length};
    }
    return best;
}

int32_t Stashes::reach(std::span<const Token> tokens, int32_t there) const {
    for (Found found = find(tokens, there); found.stash != 0; found = find(tokens, there))
        there = found.length;
    return there;
}

/// How far a text goes that is computed up to where the piece begins.
int32_t Stashes::usable(const Piece& piece, std::span<const Token> tokens) const {
    const int32_t common = base::last_edge(tokens, common_length(piece.text, tokens));
    if (checkpoint_bytes_ == 0) return common;
    auto beyond = std::ranges::upper_bound(piece.stops, common);
    // A request that was cancelled inside of an image has left a stop there.
    while (beyond != piece.stops.begin() && base::is_inside_image(tokens, *std::prev(beyond))) --beyond;
    return beyond == piece.stops.begin() ? 0 : *std::prev(beyond);
}

StashId Stashes::add(std::vector<Token> text, int32_t first, std::vector<int32_t> checkpoints) {
    Piece piece{.id = ++made_, .text = std::move(text), .first = first, .stops = {}, .bytes = 0};
    if (checkpoint_bytes_ > 0) {
        piece.stops = std::move(checkpoints);
        piece.stops.push_back(piece.end());
    }
    piece.bytes = fixed_bytes(piece) + token_bytes_ * static_cast<uint64_t>(piece.end() - first);
    if (!make_room(piece.bytes, touch(piece.text))) return 0;
    bytes_ += piece.bytes;
    pieces_.push_back(std::move(piece));
    touch(std::vector(pieces_.back().text));
    return made_;
}

void Stashes::made(StashId stash, uint64_t bytes, bool is_kept) {
    const auto piece = find(stash);
    if (piece == pieces_.end()) return; // it went for another in the same turn
    const auto tokens = static_cast<uint64_t>(piece->end() - piece->first);
    const uint64_t fixed = std::min(bytes, fixed_bytes(*piece));
    token_bytes_ = std::max(token_bytes_, (bytes - fixed + tokens - 1) / tokens);
    bytes_ -= piece->bytes;
    if (!is_kept) {
        pieces_.erase(piece);
        if (bytes_ + bytes <= bytes_max_) bytes_max_ = bytes_;
        return;
    }
    piece->bytes = bytes;
    bytes_ += bytes;
}

void Stashes::use(StashId stash) {
    const auto piece = find(stash);
    INGLE_ASSERT(piece != pieces_.end());
    piece->uses += 1;
    touch(std::vector(piece->text));
}

void Stashes::used(StashId stash, bool is_ok) {
    const auto piece = find(stash);
    if (piece == pieces_.end()) return; // another's use of it failed
    piece->uses -= 1;
    if (is_ok) hits_ += 1;
    else remove(piece);
}

void Stashes::forget(StashId stash) {
    const auto piece = find(stash);
    if (piece == pieces_.end()) return; // it went for another in the same turn
    bytes_ -= piece->bytes;
    pieces_.erase(piece);
}

std::vector<Stashes::Kept> Stashes::all() const {
    std::vector<Kept> kept;
    for (const Piece& piece : pieces_)
        kept.push_back({.stash = piece.id, .text = piece.text, .first = piece.first});
    return kept;
}

void Stashes::give_up_uses() {
    for (Piece& piece : pieces_) piece.uses = 0;
}

/// Only the first, least recently used ones may be dropped: what the new piece leans on must stay.
bool Stashes::make_room(uint64_t bytes, size_t droppable) {
    if (bytes > bytes_max_) return false;
    const auto is_idle = [](const Piece& piece) { return piece.uses == 0; };
    while (bytes_ + bytes > bytes_max_ || pieces_.size() == kPiecesMax) {
        const auto end = pieces_.begin() + static_cast<std::ptrdiff_t>(droppable);
        const auto oldest = std::find_if(pieces_.begin(), end, is_idle);
        if (oldest == end) return false;
        remove(oldest);
        droppable -= 1;
    }
    return true;
}

/// All pieces that hold a part of this text become the most recently used, its beginning above all. How many do not.
size_t Stashes::touch(const std::vector<Token>& text) {
    const auto is_elsewhere = [&](const Piece& piece) {
        return common_length(piece.text, text) <= piece.first;
    };
    const auto touched = std::ranges::stable_partition(pieces_, is_elsewhere);
    std::ranges::stable_sort(touched, std::ranges::greater{}, &Piece::first);
    return static_cast<size_t>(touched.begin() - pieces_.begin());
}

void Stashes::remove(std::vector<Piece>::iterator piece) {
    dropped_.push_back(piece->id);
    bytes_ -= piece->bytes;
    pieces_.erase(piece);
}

std::vector<Stashes::Piece>::iterator Stashes::find(StashId stash) {
    return std::ranges::find(pieces_, stash, &Piece::id);
}

} // namespace sched
