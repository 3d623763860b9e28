#include "sched/prefix_tree.h"

#include "check.h"
#include "random.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

using base::Slot;
using base::Token;
using sched::PrefixTree;

namespace {

using Tokens = std::vector<Token>;

TEST_CASE("an empty tree matches nothing") {
    const PrefixTree tree(2);
    CHECK_EQ(tree.longest(Tokens{1, 2, 3}).length, 0);
    CHECK_EQ(tree.cells(), 0);
}

TEST_CASE("a prefix in the tree is found, and shared without new cells") {
    PrefixTree tree(3);
    tree.append(0, Tokens{1, 2, 3, 4, 5});
    const PrefixTree::Match match = tree.longest(Tokens{1, 2, 3, 9});
    CHECK_EQ(match.length, 3);
    CHECK_EQ(match.holder, 0);
    tree.share(1, match);
    tree.append(1, Tokens{9, 9});
    CHECK_EQ(tree.cells(), 7);
    CHECK_EQ(tree.length(1), 5);
    CHECK_EQ(tree.longest(Tokens{1, 2, 3, 9, 9, 9}).length, 5);
    CHECK_EQ(tree.longest(Tokens{1, 2, 3, 4, 9}).length, 4);
}

TEST_CASE("cells stay while one sequence holds them, and are freed with the last") {
    PrefixTree tree(2);
    tree.append(0, Tokens{1, 2, 3, 4});
    tree.share(1, tree.longest(Tokens{1, 2}));
    tree.release(0);
    CHECK_EQ(tree.cells(), 2);
    CHECK_EQ(tree.longest(Tokens{1, 2, 3}).length, 2);
    tree.release(1);
    CHECK_EQ(tree.cells(), 0);
    CHECK_EQ(tree.longest(Tokens{1}).length, 0);
}

TEST_CASE("truncated cells are freed if no other slot holds them") {
    PrefixTree tree(2);
    tree.append(0, Tokens{1, 2, 3, 4, 5, 6});
    tree.share(1, tree.longest(Tokens{1, 2, 3, 4}));
    tree.truncate(0, 2);
    CHECK_EQ(tree.length(0), 2);
    CHECK_EQ(tree.cells(), 4);
    CHECK_EQ(tree.longest(Tokens{1, 2, 3, 4, 5}).length, 4);
    tree.append(0, Tokens{7});
    CHECK_EQ(tree.longest(Tokens{1, 2, 7}).length, 3);
}

TEST_CASE("moved cells never match, nor does what follows them") {
    PrefixTree tree(2);
    tree.append(0, Tokens{1, 2, 3, 4, 5, 6});
    CHECK(tree.sharers(0, 4).empty());
    tree.shift(0, {.keep = 2, .drop = 2});
    tree.append(0, Tokens{7});
    CHECK_EQ(tree.length(0), 5);
    CHECK_EQ(tree.unmoved_length(0), 2);
    CHECK_EQ(tree.cells(), 5);
    CHECK_EQ(tree.longest(Tokens{1, 2, 5, 6, 7}).length, 2);
    CHECK_EQ(tree.longest(Tokens{1, 2, 0, 0, 7}).length, 2);
    tree.truncate(0, 2);
    tree.append(0, Tokens{5, 6});
    CHECK_EQ(tree.longest(Tokens{1, 2, 5, 6}).length, 4);
}

TEST_CASE("sharers are those of cells beyond a length") {
    PrefixTree tree(3);
    tree.append(0, Tokens{1, 2, 3, 4, 5, 6});
    tree.share(1, tree.longest(Tokens{1, 2}));
    tree.share(2, tree.longest(Tokens{1, 2, 3, 4}));
    CHECK_EQ(tree.sharers(0, 1).size(), 2U);
    CHECK(tree.sharers(0, 2) == std::vector<Slot>{2});
    CHECK(tree.sharers(0, 4).empty());
}

TEST_CASE("a slot's text and the checkpoints on its path are known, whichever slots share it") {
    PrefixTree tree(3);
    tree.append(0, Tokens{1, 2, 3});
    tree.mark(0, 7);
    tree.append(0, Tokens{4, 5});
    tree.share(1, tree.longest(Tokens{1, 2, 3, 4}));
    tree.append(1, Tokens{6});
    tree.mark(1, 8);
    CHECK_EQ(tree.text(0), Tokens{1, 2, 3, 4, 5});
    CHECK_EQ(tree.text(1), Tokens{1, 2, 3, 4, 6});
    CHECK(tree.text(2).empty());
    const auto checkpoints = tree.checkpoints_of(1);
    REQUIRE_EQ(checkpoints.size(), 2);
    CHECK_EQ(checkpoints[0].length, 3);
    CHECK_EQ(checkpoints[0].id, 7);
    CHECK_EQ(checkpoints[1].length, 5);
    CHECK_EQ(tree.checkpoint_before(1, 5), 5);
    CHECK_EQ(tree.checkpoint_before(1, 4), 3);
    CHECK_EQ(tree.checkpoint_before(1, 2), 0);
}

TEST_CASE("the private length of a slot is what no other slot holds") {
    PrefixTree tree(2);
    tree.append(0, Tokens{1, 2, 3});
    CHECK_EQ(tree.private_length(0), 3);
    tree.share(1, tree.longest(Tokens{1, 2, 3}));
    tree.append(1, Tokens{4});
    CHECK_EQ(tree.private_length(0), 0);
    CHECK_EQ(tree.private_length(1), 1);
    tree.append(1, Tokens{5});
    CHECK_EQ(tree.private_length(1), 2);
}

TEST_CASE("pinned cells are counted once, however many pin them") {
    PrefixTree tree(3);
    tree.append(0, Tokens{1, 2, 3});
    tree.share(1, tree.longest(Tokens{1, 2}));
    tree.pin(1);
    CHECK_EQ(tree.cells_pinned(), 2);
    tree.pin(0);
    CHECK_EQ(tree.cells_pinned(), 3);
    tree.append(1, Tokens{7});
    CHECK_EQ(tree.cells_pinned(), 4);
    tree.unpin(0);
    CHECK_EQ(tree.cells_pinned(), 3);
    tree.unpin(1);
    CHECK_EQ(tree.cells_pinned(), 0);
    CHECK_EQ(tree.cells(), 4);
}

/// Cells with names instead of a tree: each computed token gets a new cell, sharing copies names.
class NaiveCells {
    static constexpr Token kMoved = -1;

public:
    explicit NaiveCells(size_t slots) : held_(slots) {}

    struct Cell {
        size_t name = 0;
        Token token = 0;
    };

    size_t longest(const Tokens& tokens) const {
        size_t best = 0;
        for (const auto& cells : held_) {
            size_t length = 0;
            while (length < cells.size() && length < tokens.size() && cells[length].token == tokens[length])
                ++length;
            best = std::max(best, length);
        }
        return best;
    }

    bool holds(Slot slot, const Tokens& tokens, size_t length) const {
        const auto& cells = held_[static_cast<size_t>(slot)];
        return cells.size() >= length &&
               std::equal(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(length), tokens.begin(),
                          tokens.begin() + static_cast<std::ptrdiff_t>(length),
                          [](const Cell& cell, Token token) { return cell.token == token; });
    }

    void share(size_t slot, Slot from, size_t length) {
        const auto& source = held_[static_cast<size_t>(from)];
        held_[slot].assign(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(length));
    }

    void append(size_t slot, const Tokens& tokens) {
        for (const Token token : tokens) held_[slot].push_back({.name = next_++, .token = token});
    }

    void truncate(size_t slot, size_t length) { held_[slot].resize(length); }

    void shift(size_t slot, const sched::Cut& cut) {
        auto& cells = held_[slot];
        const auto first = cells.begin() + cut.keep;
        for (auto cell = cells.erase(first, first + cut.drop); cell != cells.end(); ++cell)
            cell->token = kMoved;
    }

    /// How many other slots hold a slot's cells beyond a length.
    size_t sharers(size_t slot, size_t length) const {
        if (length >= held_[slot].size()) return 0;
        const size_t name = held_[slot][length].name;
        const auto holds_it = [name](const auto& cells) {
            return std::ranges::find(cells, name, &Cell::name) != cells.end();
        };
        return static_cast<size_t>(std::ranges::count_if(held_, holds_it)) - 1;
    }

    /// Tokens before the first that was moved.
    size_t unmoved_length(size_t slot) const {
        const auto& cells = held_[slot];
        return static_cast<size_t>(std::ranges::find(cells, kMoved, &Cell::token) - cells.begin());
    }

    void release(size_t slot) { held_[slot].clear(); }
    size_t length(size_t slot) const { return held_[slot].size(); }

    size_t cells(const std::vector<bool>& slots) const {
        std::set<size_t> names;
        for (size_t slot = 0; slot < held_.size(); ++slot) {
            if (!slots[slot]) continue;
            for (const Cell& cell : held_[slot]) names.insert(cell.name);
        }
        return names.size();
    }

private:
    std::vector<std::vector<Cell>> held_;
    size_t next_ = 0;
};

TEST_CASE("after any sequence of calls the tree agrees with cells that have names") {
    constexpr size_t kSlots = 6;
    for (const uint64_t seed : test::seeds(30)) {
        CAPTURE(seed);
        test::Random random(seed);
        PrefixTree tree(kSlots);
        NaiveCells naive(kSlots);
        std::vector<bool> is_pinned(kSlots, false);
        // Two tokens only, so that common prefixes are frequent.
        const auto some_tokens = [&] {
            Tokens tokens;
            for (int32_t i = random.between(1, 12); i > 0; --i) tokens.push_back(random.between(0, 1));
            return tokens;
        };
        for (int step = 0; step < 400; ++step) {
            const size_t slot = random.below(kSlots);
            const auto s = static_cast<Slot>(slot);
            switch (random.below(6)) {
                case 0: {
                    if (naive.length(slot) > 0) break;
                    const Tokens tokens = some_tokens();
                    const PrefixTree::Match match = tree.longest(tokens);
                    REQUIRE(static_cast<size_t>(match.length) == naive.longest(tokens));
                    if (match.length == 0) break;
                    REQUIRE(naive.holds(match.holder, tokens, static_cast<size_t>(match.length)));
                    tree.share(s, match);
                    naive.share(slot, match.holder, static_cast<size_t>(match.length));
                    break;
                }
                case 1: {
                    const Tokens tokens = some_tokens();
                    tree.append(s, tokens);
                    naive.append(slot, tokens);
                    break;
                }
                case 2: {
                    const size_t length = random.below(naive.length(slot) + 1);
                    tree.truncate(s, static_cast<int32_t>(length));
                    naive.truncate(slot, length);
                    break;
                }
                case 3: {
                    const auto length = static_cast<int32_t>(naive.length(slot));
                    const auto keep_max = static_cast<int32_t>(naive.unmoved_length(slot));
                    const int32_t keep = random.between(0, keep_max);
                    const sched::Cut cut{.keep = keep, .drop = random.between(0, length - keep)};
                    const size_t sharers = tree.sharers(s, cut.end()).size();
                    REQUIRE(sharers == naive.sharers(slot, static_cast<size_t>(cut.end())));
                    if (cut.drop == 0 || sharers > 0) break;
                    tree.shift(s, cut);
                    naive.shift(slot, cut);
                    break;
                }
                case 4:
                    if (is_pinned[slot]) break;
                    tree.release(s);
                    naive.release(slot);
                    break;
                default:
                    if (is_pinned[slot]) tree.unpin(s);
                    else tree.pin(s);
                    is_pinned[slot] = !is_pinned[slot];
            }
            REQUIRE(static_cast<size_t>(tree.cells()) == naive.cells(std::vector<bool>(kSlots, true)));
            REQUIRE(static_cast<size_t>(tree.cells_pinned()) == naive.cells(is_pinned));
            REQUIRE(static_cast<size_t>(tree.length(s)) == naive.length(slot));
            REQUIRE(static_cast<size_t>(tree.unmoved_length(s)) == naive.unmoved_length(slot));
        }
    }
}

} // namespace
