// Which state lies in host memory, after its cells were needed for something else. Used by Cells, which decides when
// something is copied; the bytes themselves are the engine's.
//
// A piece is the state of a part of a text: only what could not be had from anywhere else when it was made. A chat that
// is given up again and again leaves a chain of pieces, and chats with one system message lean on one piece of it:
//
//     [0, 900) system message and a first chat        [900, 1400) its next turns
//     [0, 800) of it is also the beginning of ...     [800, 1300) a second chat
//
// The state of a token depends on all tokens before it, so each piece knows its whole text: it is of use where that very
// text is computed up to where the piece begins, by whomever. Pieces are never wrong, only idle; the least recently used
// go first, and of a chain the end goes before what it leans on.
//
// Their texts lie in a tree (text_tree.h), each common prefix once: looking up a text takes one walk along it, and what the
// texts take counts as host memory like the state itself.
#pragma once

#include "base/types.h"
#include "sched/kv_blocks.h"
#include "sched/text_tree.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sched {

class Stashes {
public:
    /// Fewer tokens are computed again: a copy's fixed costs would not pay.
    static constexpr int32_t kPieceMin = 64;

    /// Where a state can be cut, a longer one is kept in pieces: a text takes of them what it needs, and copies of a
    /// long one are spread over turns.
    static constexpr int32_t kPieceMax = 512;

    /// Those that share a prefix with a text are looked at one by one, for each request in line.
    static constexpr size_t kPiecesMax = 1024;

    /// Where `checkpoint_bytes` is not 0, a piece is of use only as a whole or up to one of its checkpoints.
    Stashes(uint64_t bytes_max, uint64_t checkpoint_bytes)
        : bytes_max_(bytes_max), checkpoint_bytes_(checkpoint_bytes) {}

    /// Tells `blocks` of each piece that comes and goes from now on.
    void tell(KvBlocks* blocks) { blocks_ = blocks; }

    struct Found {
        base::StashId stash = 0;
        /// Where the piece begins and ends, and how much of the text is there once it is copied back.
        int32_t first = 0;
        int32_t end = 0;
        int32_t length = 0;

        /// What is copied back beside those tokens that are not there yet.
        int32_t surplus(int32_t there) const { return (end - first) - (length - there); }
    };

    /// The pieces that hold a part of one text, each up to where it is of use.
    using Way = std::vector<Found>;
    Way look_up(std::span<const base::Token> tokens) const;

    /// The piece that leads furthest in a text of which `there` tokens are computed; stash 0 when none is worth it. Pieces
    /// that went since look_up() are left out.
    Found find(const Way& way, int32_t there) const;
    Found find(std::span<const base::Token> tokens, int32_t there) const {
        return find(look_up(tokens), there);
    }

    /// How much of a text would be there, piece after piece.
    int32_t reach(std::span<const base::Token> tokens, int32_t there) const;

    /// A new piece of `text`, from `first` on, with checkpoints at these lengths. Pieces of other texts go for it; 0 when
    /// it has no place even then.
    base::StashId add(std::span<const base::Token> text, int32_t first, std::vector<int32_t> checkpoints);

    /// The engine needed so many bytes for a piece. If it could not keep it, the piece is forgotten, and when that was
    /// not for the limit, what is there now is taken for all that can be had.
    void made(base::StashId stash, uint64_t bytes, bool is_kept);

    /// A piece was not even tried.
    void forget(base::StashId stash);

    /// A piece is about to be copied back: it does not go until used() tells how that went. One that failed goes.
    void use(base::StashId stash);
    void used(base::StashId stash, bool is_ok);

    struct Kept {
        base::StashId stash;
        std::vector<base::Token> text;
        int32_t first;
    };
    /// All pieces, least recently used first.
    std::vector<Kept> all() const;

    /// Nothing is about to be copied back any more.
    void give_up_uses();

    /// Pieces that went since the last call, but for those that the engine does not have.
    std::vector<base::StashId> take_dropped() { return std::exchange(dropped_, {}); }

    /// Pieces that take_dropped() has yet to tell of.
    size_t dropped() const { return dropped_.size(); }

    /// Bytes of the state in all pieces, as far as they are known, and of their texts. Together they are at most bytes_max.
    uint64_t bytes() const { return bytes_; }
    uint64_t text_bytes() const { return texts_.bytes(); }
    /// Tokens that were compared so far, to look up texts.
    uint64_t compared() const { return texts_.compared(); }
    int32_t size() const { return static_cast<int32_t>(pieces_.size()); }
    uint64_t hits() const { return hits_; }

private:
    struct Piece {
        base::StashId id;
        /// Where its text ends in texts_.
        TextTree::Node* text;
        int32_t first;
        int32_t end;
        /// Ascending, the text's length included; not asked where a piece can be cut anywhere.
        std::vector<int32_t> stops;
        uint64_t bytes;
        int32_t uses = 0;
    };
    using Pieces = std::list<Piece>;

    int32_t usable(const Piece& piece, std::span<const base::Token> tokens, int32_t common) const;
    uint64_t fixed_bytes(const Piece& piece) const { return checkpoint_bytes_ * piece.stops.size(); }
    bool fits(uint64_t bytes) const { return bytes_ + bytes + texts_.bytes() <= bytes_max_; }
    bool make_room(uint64_t bytes, size_t droppable);
    size_t touch(std::span<const base::Token> text);
    void drop(Pieces::iterator piece);
    void erase(Pieces::iterator piece);
    Pieces::iterator find(base::StashId stash);

    uint64_t bytes_max_;
    const uint64_t checkpoint_bytes_;
    /// Least recently used first.
    Pieces pieces_;
    std::unordered_map<base::StashId, Pieces::iterator> by_id_;
    TextTree texts_;
    std::vector<base::StashId> dropped_;
    uint64_t bytes_ = 0;
    /// The most that a token has taken so far; 0 before the first piece.
    uint64_t token_bytes_ = 0;
    base::StashId made_ = 0;
    uint64_t hits_ = 0;
    /// Null: nobody wants to know.
    KvBlocks* blocks_ = nullptr;
};

} // namespace sched
