#include "sched/stashes.h"

#include "base/image_tokens.h"
#include "base/result.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace sched {

using base::StashId;
using base::Token;

namespace {

/// A piece is copied back whole, and takes cells for a moment: it must give at least this share of its tokens, a quarter.
constexpr int32_t kShareOfPieceMin = 4;

} // namespace

Stashes::Way Stashes::look_up(std::span<const Token> tokens) const {
    Way way;
    if (pieces_.empty()) return way;
    texts_.visit(tokens, [&](StashId id, int32_t common) {
        const Piece& piece = *by_id_.at(id);
        const int32_t length = common > piece.first ? usable(piece, tokens, common) : 0;
        if (length > piece.first)
            way.push_back({.stash = id, .first = piece.first, .end = piece.end, .length = length});
    });
    return way;
}

Stashes::Found Stashes::find(const Way& way, int32_t there) const {
    Found best;
    for (const Found& found : way) {
        const int32_t gained = found.length - there;
        if (found.first > there || found.length <= best.length || gained < kPieceMin) continue;
        if (gained < (found.end - found.first) / kShareOfPieceMin || !by_id_.contains(found.stash)) continue;
        best = found;
    }
    return best;
}

int32_t Stashes::reach(std::span<const Token> tokens, int32_t there) const {
    const Way way = look_up(tokens);
    for (Found found = find(way, there); found.stash != 0; found = find(way, there)) there = found.length;
    return there;
}

/// How far a text goes that is computed up to where the piece begins.
int32_t Stashes::usable(const Piece& piece, std::span<const Token> tokens, int32_t common) const {
    common = base::last_edge(tokens, common);
    if (checkpoint_bytes_ == 0) return common;
    auto beyond = std::ranges::upper_bound(piece.stops, common);
    // A request that was cancelled inside of an image has left a stop there.
    while (beyond != piece.stops.begin() && base::is_inside_image(tokens, *std::prev(beyond))) --beyond;
    return beyond == piece.stops.begin() ? 0 : *std::prev(beyond);
}

StashId Stashes::add(std::span<const Token> text, int32_t first, std::vector<int32_t> checkpoints) {
    const auto end = static_cast<int32_t>(text.size());
    Piece piece{.id = ++made_, .text = nullptr, .first = first, .end = end, .stops = {}, .bytes = 0};
    if (checkpoint_bytes_ > 0) {
        piece.stops = std::move(checkpoints);
        piece.stops.push_back(end);
    }
    piece.bytes = fixed_bytes(piece) + token_bytes_ * static_cast<uint64_t>(end - first);
    if (piece.bytes + text.size_bytes() > bytes_max_) return 0; // even alone: nobody goes for it
    const size_t droppable = touch(text);
    piece.text = texts_.add(text, piece.id);
    if (!make_room(piece.bytes, droppable)) {
        texts_.remove(piece.text, piece.id);
        return 0;
    }
    bytes_ += piece.bytes;
    by_id_.emplace(piece.id, pieces_.insert(pieces_.end(), std::move(piece)));
    touch(text);
    if (blocks_ != nullptr) blocks_->keep({.kind = KvBlocks::Kind::piece, .id = made_}, text, first);
    return made_;
}

void Stashes::made(StashId stash, uint64_t bytes, bool is_kept) {
    const auto piece = find(stash);
    if (piece == pieces_.end()) return; // it went for another in the same turn
    const auto tokens = static_cast<uint64_t>(piece->end - piece->first);
    const uint64_t fixed = std::min(bytes, fixed_bytes(*piece));
    token_bytes_ = std::max(token_bytes_, (bytes - fixed + tokens - 1) / tokens);
    if (!is_kept) {
        erase(piece);
        if (fits(bytes)) bytes_max_ = bytes_ + texts_.bytes();
        return;
    }
    bytes_ += bytes - piece->bytes;
    piece->bytes = bytes;
    // It may have become more than was thought, and the engine does not count texts.
    make_room(0, pieces_.size());
}

void Stashes::use(StashId stash) {
    const auto piece = find(stash);
    INGLE_ASSERT(piece != pieces_.end());
    piece->uses += 1;
    touch(TextTree::text_of(piece->text));
}

void Stashes::used(StashId stash, bool is_ok) {
    const auto piece = find(stash);
    if (piece == pieces_.end()) return; // another's use of it failed
    piece->uses -= 1;
    if (is_ok) hits_ += 1;
    else drop(piece);
}

void Stashes::forget(StashId stash) {
    const auto piece = find(stash);
    if (piece == pieces_.end()) return; // it went for another in the same turn
    erase(piece);
}

std::vector<Stashes::Kept> Stashes::all() const {
    std::vector<Kept> kept;
    for (const Piece& piece : pieces_)
        kept.push_back({.stash = piece.id, .text = TextTree::text_of(piece.text), .first = piece.first});
    return kept;
}

void Stashes::give_up_uses() {
    for (Piece& piece : pieces_) piece.uses = 0;
}

/// Only the first, least recently used ones may be dropped: what the new piece leans on must stay.
bool Stashes::make_room(uint64_t bytes, size_t droppable) {
    auto oldest = pieces_.begin();
    for (; !fits(bytes) || pieces_.size() == kPiecesMax; --droppable) {
        while (droppable > 0 && oldest->uses > 0) {
            ++oldest;
            --droppable;
        }
        if (droppable == 0) return false;
        drop(oldest++);
    }
    return true;
}

/// All pieces that hold a part of this text become the most recently used, its beginning above all. How many do not.
size_t Stashes::touch(std::span<const Token> text) {
    std::vector<Pieces::iterator> touched;
    texts_.visit(text, [&](StashId id, int32_t common) {
        const Pieces::iterator piece = by_id_.at(id);
        if (common > piece->first) touched.push_back(piece);
    });
    const auto begins_later = [](Pieces::iterator a, Pieces::iterator b) {
        return a->first != b->first ? a->first > b->first : a->id < b->id;
    };
    std::ranges::sort(touched, begins_later);
    for (const Pieces::iterator piece : touched) pieces_.splice(pieces_.end(), pieces_, piece);
    return pieces_.size() - touched.size();
}

/// For the engine to let go of it, too.
void Stashes::drop(Pieces::iterator piece) {
    dropped_.push_back(piece->id);
    erase(piece);
}

void Stashes::erase(Pieces::iterator piece) {
    if (blocks_ != nullptr) blocks_->release({.kind = KvBlocks::Kind::piece, .id = piece->id});
    bytes_ -= piece->bytes;
    texts_.remove(piece->text, piece->id);
    by_id_.erase(piece->id);
    pieces_.erase(piece);
}

Stashes::Pieces::iterator Stashes::find(StashId stash) {
    const auto found = by_id_.find(stash);
    return found == by_id_.end() ? pieces_.end() : found->second;
}

} // namespace sched
