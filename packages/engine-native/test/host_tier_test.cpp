// sched::HostTier: which pieces of state host memory keeps, and what they are of use for.
#include "sched/host_tier.h"

#include "base/types.h"
#include "check.h"

#include <numeric>
#include <string>
#include <vector>

using base::SegmentId;
using base::Token;
using sched::Copied;
using sched::HostTier;

namespace {

using Tokens = std::vector<Token>;

constexpr uint64_t kTokenBytes = 10;
/// What a token of a segment takes, with its place in the text.
constexpr uint64_t kWithTextBytes = kTokenBytes + sizeof(Token);

/// A text whose first `common` tokens are the same in all texts.
Tokens text(Token name, int32_t length, int32_t common = 0) {
    Tokens tokens(static_cast<size_t>(length));
    std::iota(tokens.begin(), tokens.end(), 10'000 * name);
    std::iota(tokens.begin(), tokens.begin() + common, 0);
    return tokens;
}

Tokens first(const Tokens& tokens, int32_t length) {
    return {tokens.begin(), tokens.begin() + length};
}

/// Adds a segment as an engine with enough memory does.
SegmentId add(HostTier& host_tier, const Tokens& tokens, int32_t from = 0) {
    const SegmentId segment = host_tier.add(tokens, from, {});
    if (segment != 0)
        host_tier.swapped_out(segment, {.copied = Copied::done,
                                        .bytes = kTokenBytes * (tokens.size() - static_cast<size_t>(from))});
    return segment;
}

/// The segment that leads furthest in a text of which `computed` tokens are computed.
HostTier::Match find(const HostTier& host_tier, const Tokens& tokens, int32_t computed) {
    return host_tier.find(host_tier.look_up(tokens), computed);
}

} // namespace

TEST_CASE("host tier: a text finds the segment that leads furthest, as far as their tokens are the same") {
    HostTier host_tier(1'000'000, 0);
    CHECK_EQ(find(host_tier, text(1, 300), 0).segment, 0);
    add(host_tier, text(1, 200));
    const SegmentId longer = add(host_tier, text(1, 300));
    const HostTier::Match found = find(host_tier, text(1, 400), 0);
    CHECK_EQ(found.segment, longer);
    CHECK_EQ(found.length, 300);
    Tokens other = text(1, 400);
    other[150] = 0;
    CHECK_EQ(find(host_tier, other, 0).length, 150);
    CHECK_EQ(find(host_tier, text(2, 400), 0).segment, 0);
}

TEST_CASE("host tier: a segment that ends inside an image is usable up to the image") {
    HostTier host_tier(1'000'000, 0);
    Tokens tokens = text(1, 400);
    for (size_t i = 140; i < 160; ++i) tokens[i] = base::image_token(1, i == 140);
    add(host_tier, first(tokens, 150));
    CHECK_EQ(find(host_tier, tokens, 0).length, 140);
}

TEST_CASE("host tier: a segment that gains little is not swapped in") {
    HostTier host_tier(1'000'000, 0);
    add(host_tier, text(1, 400));
    add(host_tier, text(2, 200));
    CHECK_EQ(find(host_tier, text(2, 200), 200 - HostTier::kSegmentMin).length, 200);
    CHECK_EQ(find(host_tier, text(2, 200), 200 - HostTier::kSegmentMin + 1).segment, 0);
    CHECK_EQ(find(host_tier, text(1, 99), 0).segment, 0); // less than a quarter
    CHECK_EQ(find(host_tier, text(1, 100), 0).length, 100);
}

TEST_CASE("host tier: a segment is usable once its text is computed up to its first token") {
    HostTier host_tier(1'000'000, 0);
    const SegmentId end = add(host_tier, text(1, 300), 200);
    CHECK_EQ(find(host_tier, text(1, 300), 199).segment, 0);
    CHECK_EQ(find(host_tier, text(1, 300), 200).segment, end);
    CHECK_EQ(host_tier.reach(text(1, 300), 0), 0);
    add(host_tier, text(1, 200));
    CHECK_EQ(host_tier.reach(text(1, 300), 0), 300);
    // The same tokens after another prefix have another state.
    Tokens other = text(1, 300);
    other[10] = 0;
    CHECK_EQ(find(host_tier, other, 200).segment, 0);
}

TEST_CASE("host tier: a state that cannot be cut is usable as a whole or up to its checkpoints") {
    HostTier host_tier(1'000'000, 7);
    const SegmentId segment = host_tier.add(text(1, 300), 0, {120, 200});
    host_tier.swapped_out(segment, {.copied = Copied::done, .bytes = 300 * kTokenBytes + 3 * 7});
    CHECK_EQ(find(host_tier, text(1, 300), 0).length, 300);
    CHECK_EQ(find(host_tier, text(1, 299), 0).length, 200);
    CHECK_EQ(find(host_tier, text(1, 199), 0).length, 120);
    CHECK_EQ(find(host_tier, text(1, 119), 0).segment, 0);
}

TEST_CASE("host tier: the least recently used segment is dropped when there is no room") {
    HostTier host_tier(3 * 100 * kWithTextBytes, 0);
    const SegmentId a = add(host_tier, text(1, 100));
    const SegmentId b = add(host_tier, text(2, 100));
    add(host_tier, text(3, 100));
    CHECK(host_tier.take_dropped().empty());
    host_tier.begin_swap_in(a);
    host_tier.swapped_in(a, Copied::done);
    CHECK_EQ(host_tier.swap_ins(), 1);
    add(host_tier, text(4, 100));
    CHECK_EQ(host_tier.take_dropped(), std::vector{b});
    CHECK_EQ(host_tier.bytes(), 3 * 100 * kTokenBytes);
}

TEST_CASE("host tier: one owner's many segments push out its own, not what another one has less of") {
    HostTier host_tier(1'000 * kWithTextBytes, 0);
    const std::string few = std::string(32, 'a') + "01\n";
    const auto of_owner = [&](const Tokens& tokens, const std::string& space) {
        const SegmentId segment = host_tier.add({tokens, space}, 0, {});
        REQUIRE(segment != 0);
        host_tier.swapped_out(segment, {.copied = Copied::done, .bytes = kTokenBytes * tokens.size()});
    };
    const auto has = [&](const Tokens& tokens, const std::string& space) {
        return host_tier.reach({tokens, space}, 0) == static_cast<int32_t>(tokens.size());
    };
    of_owner(text(1, 300), few);
    // Many salts of one owner are one owner.
    for (Token name = 2; name < 20; ++name)
        of_owner(text(name, 200), std::string(32, 'b') + std::to_string(name) + "\n");
    CHECK(has(text(1, 300), few));
    CHECK(has(text(19, 200), std::string(32, 'b') + "19\n"));
    CHECK(!has(text(2, 200), std::string(32, 'b') + "2\n"));
    // With more than half, the other one gives way, by its least recently used.
    of_owner(text(30, 300), few);
    of_owner(text(31, 300), few);
    CHECK(!has(text(1, 300), few));
    CHECK(has(text(31, 300), few));
    CHECK(has(text(19, 200), std::string(32, 'b') + "19\n"));
    CHECK(host_tier.bytes() + host_tier.text_bytes() <= 1'000 * kWithTextBytes);
}

TEST_CASE("host tier: of a chain the end is dropped first, and nothing is dropped for what continues it") {
    HostTier host_tier(3 * 100 * kWithTextBytes, 0);
    const Tokens long_text = text(1, 400);
    const SegmentId first_part = add(host_tier, first(long_text, 100));
    const SegmentId middle = add(host_tier, first(long_text, 200), 100);
    const SegmentId end = add(host_tier, first(long_text, 300), 200);
    CHECK_EQ(add(host_tier, long_text, 300), 0);
    CHECK(host_tier.take_dropped().empty());
    add(host_tier, text(2, 100));
    add(host_tier, text(3, 100));
    CHECK_EQ(host_tier.take_dropped(), std::vector{end, middle});
    CHECK_EQ(find(host_tier, long_text, 0).segment, first_part);
}

TEST_CASE("host tier: a segment that is about to be swapped in is not dropped") {
    HostTier host_tier(2 * 100 * kWithTextBytes, 0);
    const SegmentId a = add(host_tier, text(1, 100));
    const SegmentId b = add(host_tier, text(2, 100));
    host_tier.begin_swap_in(a);
    host_tier.begin_swap_in(b);
    CHECK_EQ(add(host_tier, text(3, 100)), 0);
    host_tier.swapped_in(a, Copied::done);
    CHECK(add(host_tier, text(3, 100)) != 0);
    CHECK_EQ(host_tier.take_dropped(), std::vector{a});
}

TEST_CASE("host tier: a segment that could not be swapped in is dropped") {
    HostTier host_tier(1'000'000, 0);
    const SegmentId segment = add(host_tier, text(1, 100));
    host_tier.begin_swap_in(segment);
    host_tier.swapped_in(segment, Copied::failed);
    CHECK_EQ(find(host_tier, text(1, 100), 0).segment, 0);
    CHECK_EQ(host_tier.take_dropped(), std::vector{segment});
    CHECK_EQ(host_tier.bytes(), 0);
    CHECK_EQ(host_tier.swap_ins(), 0);
}

TEST_CASE("host tier: a segment that is too large is not added, and nothing is dropped for it") {
    HostTier host_tier(1000 * kWithTextBytes, 0);
    add(host_tier, text(1, 500));
    CHECK_EQ(add(host_tier, text(2, 1001)), 0);
    CHECK(host_tier.take_dropped().empty());
}

TEST_CASE("host tier: when the machine has no more memory, what is in use becomes the limit") {
    HostTier host_tier(1'000'000, 0);
    const SegmentId a = add(host_tier, text(1, 100));
    const SegmentId b = host_tier.add(text(2, 100), 0, {});
    host_tier.swapped_out(b, {.copied = Copied::failed, .bytes = 100 * kTokenBytes});
    CHECK_EQ(find(host_tier, text(2, 100), 0).segment, 0);
    CHECK_EQ(host_tier.bytes(), 100 * kTokenBytes);
    add(host_tier, text(3, 100));
    CHECK_EQ(host_tier.take_dropped(), std::vector{a});
}

TEST_CASE("host tier: looking up a text compares each of its tokens once, however many segments there are") {
    constexpr int32_t kLength = 65'536;
    constexpr int32_t kPiece = HostTier::kSegmentMax;
    HostTier host_tier(1'000'000'000, 0);
    const Tokens chat = text(1, kLength);
    for (int32_t at = 0; at < kLength; at += kPiece) add(host_tier, first(chat, at + kPiece), at);
    // Other texts share a prefix with it and leave it at many places.
    for (Token name = 2; name < 402; ++name) {
        Tokens other = chat;
        const auto parts = static_cast<size_t>(name * 150);
        other[parts] = 0;
        add(host_tier, first(other, static_cast<int32_t>(parts) + 100), static_cast<int32_t>(parts) - 10);
    }
    const uint64_t before = host_tier.compared();
    CHECK_EQ(host_tier.reach(chat, 0), kLength);
    const auto pieces = static_cast<uint64_t>(host_tier.size());
    CHECK(host_tier.compared() - before <= kLength + 3 * pieces);
    CHECK(host_tier.compared() - before >= kLength);
}

TEST_CASE("host tier: a chain's texts take memory once, and their memory counts") {
    HostTier host_tier(1'000'000, 0);
    const Tokens chat = text(1, 2000);
    for (int32_t at = 0; at < 2000; at += 500) add(host_tier, first(chat, at + 500), at);
    CHECK_EQ(host_tier.text_bytes(), 2000 * sizeof(Token));
    CHECK_EQ(host_tier.bytes(), 2000 * kTokenBytes);
    // A segment whose prefix is in no other segment adds all of its text.
    HostTier alone(100 * kTokenBytes + 1000 * sizeof(Token), 0);
    CHECK(add(alone, first(chat, 1000), 900) != 0);
    CHECK_EQ(alone.text_bytes(), 1000 * sizeof(Token));
    HostTier tight(100 * kTokenBytes + 999 * sizeof(Token), 0);
    add(tight, first(chat, 1000), 900);
    CHECK_EQ(tight.size(), 0);
    CHECK_EQ(tight.text_bytes(), 0);
}
