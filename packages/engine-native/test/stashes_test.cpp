// sched::Stashes: which pieces of state host memory keeps, and what they are of use for.
#include "sched/stashes.h"

#include "base/image_tokens.h"
#include "check.h"

#include <numeric>
#include <vector>

using base::StashId;
using base::Token;
using sched::Stashes;

namespace {

using Tokens = std::vector<Token>;

constexpr uint64_t kTokenBytes = 10;
/// What a token of a piece takes, with its place in the text.
constexpr uint64_t kWithTextBytes = kTokenBytes + sizeof(Token);

/// A text that begins with `common` tokens of everybody's.
Tokens text(Token name, int32_t length, int32_t common = 0) {
    Tokens tokens(static_cast<size_t>(length));
    std::iota(tokens.begin(), tokens.end(), 10'000 * name);
    std::iota(tokens.begin(), tokens.begin() + common, 0);
    return tokens;
}

Tokens first(const Tokens& tokens, int32_t length) {
    return {tokens.begin(), tokens.begin() + length};
}

/// As an engine would that has memory for it.
StashId add(Stashes& stashes, const Tokens& tokens, int32_t from = 0) {
    const StashId stash = stashes.add(tokens, from, {});
    if (stash != 0) stashes.made(stash, kTokenBytes * (tokens.size() - static_cast<size_t>(from)), true);
    return stash;
}

} // namespace

TEST_CASE("stashes: a text finds the piece that leads furthest, as far as they have the same tokens") {
    Stashes stashes(1'000'000, 0);
    CHECK_EQ(stashes.find(text(1, 300), 0).stash, 0);
    add(stashes, text(1, 200));
    const StashId longer = add(stashes, text(1, 300));
    const Stashes::Found found = stashes.find(text(1, 400), 0);
    CHECK_EQ(found.stash, longer);
    CHECK_EQ(found.length, 300);
    Tokens other = text(1, 400);
    other[150] = 0;
    CHECK_EQ(stashes.find(other, 0).length, 150);
    CHECK_EQ(stashes.find(text(2, 400), 0).stash, 0);
}

TEST_CASE("stashes: of a piece that ends inside of an image, what is before the image is found") {
    Stashes stashes(1'000'000, 0);
    Tokens tokens = text(1, 400);
    for (size_t i = 140; i < 160; ++i) tokens[i] = base::image_token(1, i == 140);
    add(stashes, first(tokens, 150));
    CHECK_EQ(stashes.find(tokens, 0).length, 140);
}

TEST_CASE("stashes: what is nearly there already is not copied back, nor much for a little") {
    Stashes stashes(1'000'000, 0);
    add(stashes, text(1, 400));
    add(stashes, text(2, 200));
    CHECK_EQ(stashes.find(text(2, 200), 200 - Stashes::kPieceMin).length, 200);
    CHECK_EQ(stashes.find(text(2, 200), 200 - Stashes::kPieceMin + 1).stash, 0);
    CHECK_EQ(stashes.find(text(1, 99), 0).stash, 0); // less than a quarter
    CHECK_EQ(stashes.find(text(1, 100), 0).length, 100);
}

TEST_CASE("stashes: a piece that begins later is of use once its text is there up to its beginning") {
    Stashes stashes(1'000'000, 0);
    const StashId end = add(stashes, text(1, 300), 200);
    CHECK_EQ(stashes.find(text(1, 300), 199).stash, 0);
    CHECK_EQ(stashes.find(text(1, 300), 200).stash, end);
    CHECK_EQ(stashes.reach(text(1, 300), 0), 0);
    add(stashes, text(1, 200));
    CHECK_EQ(stashes.reach(text(1, 300), 0), 300);
    // The same tokens after another beginning have another state.
    Tokens other = text(1, 300);
    other[10] = 0;
    CHECK_EQ(stashes.find(other, 200).stash, 0);
}

TEST_CASE("stashes: a state that cannot be cut is of use as a whole or up to its checkpoints") {
    Stashes stashes(1'000'000, 7);
    const StashId stash = stashes.add(text(1, 300), 0, {120, 200});
    stashes.made(stash, 300 * kTokenBytes + 3 * 7, true);
    CHECK_EQ(stashes.find(text(1, 300), 0).length, 300);
    CHECK_EQ(stashes.find(text(1, 299), 0).length, 200);
    CHECK_EQ(stashes.find(text(1, 199), 0).length, 120);
    CHECK_EQ(stashes.find(text(1, 119), 0).stash, 0);
}

TEST_CASE("stashes: the least recently used piece goes when there is no room") {
    Stashes stashes(3 * 100 * kWithTextBytes, 0);
    const StashId a = add(stashes, text(1, 100));
    const StashId b = add(stashes, text(2, 100));
    add(stashes, text(3, 100));
    CHECK(stashes.take_dropped().empty());
    stashes.use(a);
    stashes.used(a, true);
    CHECK_EQ(stashes.hits(), 1);
    add(stashes, text(4, 100));
    CHECK_EQ(stashes.take_dropped(), std::vector{b});
    CHECK_EQ(stashes.bytes(), 3 * 100 * kTokenBytes);
}

TEST_CASE("stashes: of a chain the end goes first, and never for one that leans on it") {
    Stashes stashes(3 * 100 * kWithTextBytes, 0);
    const Tokens long_text = text(1, 400);
    const StashId beginning = add(stashes, first(long_text, 100));
    const StashId middle = add(stashes, first(long_text, 200), 100);
    const StashId end = add(stashes, first(long_text, 300), 200);
    CHECK_EQ(add(stashes, long_text, 300), 0);
    CHECK(stashes.take_dropped().empty());
    add(stashes, text(2, 100));
    add(stashes, text(3, 100));
    CHECK_EQ(stashes.take_dropped(), std::vector{end, middle});
    CHECK_EQ(stashes.find(long_text, 0).stash, beginning);
}

TEST_CASE("stashes: a piece that is about to be copied back stays") {
    Stashes stashes(2 * 100 * kWithTextBytes, 0);
    const StashId a = add(stashes, text(1, 100));
    const StashId b = add(stashes, text(2, 100));
    stashes.use(a);
    stashes.use(b);
    CHECK_EQ(add(stashes, text(3, 100)), 0);
    stashes.used(a, true);
    CHECK(add(stashes, text(3, 100)) != 0);
    CHECK_EQ(stashes.take_dropped(), std::vector{a});
}

TEST_CASE("stashes: a piece that could not be copied back is tried no more") {
    Stashes stashes(1'000'000, 0);
    const StashId stash = add(stashes, text(1, 100));
    stashes.use(stash);
    stashes.used(stash, false);
    CHECK_EQ(stashes.find(text(1, 100), 0).stash, 0);
    CHECK_EQ(stashes.take_dropped(), std::vector{stash});
    CHECK_EQ(stashes.bytes(), 0);
    CHECK_EQ(stashes.hits(), 0);
}

TEST_CASE("stashes: what is too large has no place, and takes none from others") {
    Stashes stashes(1000 * kWithTextBytes, 0);
    add(stashes, text(1, 500));
    CHECK_EQ(add(stashes, text(2, 1001)), 0);
    CHECK(stashes.take_dropped().empty());
}

TEST_CASE("stashes: when the machine has no more memory, there is as much as there was before") {
    Stashes stashes(1'000'000, 0);
    const StashId a = add(stashes, text(1, 100));
    const StashId b = stashes.add(text(2, 100), 0, {});
    stashes.made(b, 100 * kTokenBytes, false);
    CHECK_EQ(stashes.find(text(2, 100), 0).stash, 0);
    CHECK_EQ(stashes.bytes(), 100 * kTokenBytes);
    add(stashes, text(3, 100));
    CHECK_EQ(stashes.take_dropped(), std::vector{a});
}

TEST_CASE("stashes: looking up a text compares each of its tokens once, however many pieces there are") {
    constexpr int32_t kLength = 65'536;
    constexpr int32_t kPiece = Stashes::kPieceMax;
    Stashes stashes(1'000'000'000, 0);
    const Tokens chat = text(1, kLength);
    for (int32_t at = 0; at < kLength; at += kPiece) add(stashes, first(chat, at + kPiece), at);
    // Others begin alike and leave it at many places.
    for (Token name = 2; name < 402; ++name) {
        Tokens other = chat;
        const auto parts = static_cast<size_t>(name * 150);
        other[parts] = 0;
        add(stashes, first(other, static_cast<int32_t>(parts) + 100), static_cast<int32_t>(parts) - 10);
    }
    const uint64_t before = stashes.compared();
    CHECK_EQ(stashes.reach(chat, 0), kLength);
    const auto pieces = static_cast<uint64_t>(stashes.size());
    CHECK(stashes.compared() - before <= kLength + 3 * pieces);
    CHECK(stashes.compared() - before >= kLength);
}

TEST_CASE("stashes: a chain's texts take memory once, and what they take counts") {
    Stashes stashes(1'000'000, 0);
    const Tokens chat = text(1, 2000);
    for (int32_t at = 0; at < 2000; at += 500) add(stashes, first(chat, at + 500), at);
    CHECK_EQ(stashes.text_bytes(), 2000 * sizeof(Token));
    CHECK_EQ(stashes.bytes(), 2000 * kTokenBytes);
    // A piece whose beginning is not kept brings all of its text along.
    Stashes alone(100 * kTokenBytes + 1000 * sizeof(Token), 0);
    CHECK(add(alone, first(chat, 1000), 900) != 0);
    CHECK_EQ(alone.text_bytes(), 1000 * sizeof(Token));
    Stashes tight(100 * kTokenBytes + 999 * sizeof(Token), 0);
    add(tight, first(chat, 1000), 900);
    CHECK_EQ(tight.size(), 0);
    CHECK_EQ(tight.text_bytes(), 0);
}
