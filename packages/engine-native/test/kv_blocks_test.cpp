#include "sched/kv_blocks.h"

#include "base/types.h"
#include "check.h"
#include "kv_follower.h"
#include "random.h"

#include <map>
#include <utility>
#include <vector>

using base::Token;
using sched::KvBlocks;
using sched::KvMedium;
using sched::KvReport;
using test::KvFollower;
using test::Text;

namespace {

constexpr int32_t kBlock = 4;

KvBlocks::Keeper sequence(uint64_t id) {
    return {.kind = KvBlocks::Kind::sequence, .id = id};
}

KvBlocks::Keeper segment(uint64_t id) {
    return {.kind = KvBlocks::Kind::segment, .id = id};
}

Text tokens(Token first, size_t count) {
    Text text;
    for (size_t i = 0; i < count; ++i) text.push_back(first + static_cast<Token>(i));
    return text;
}

Text together(Text text, const Text& more) {
    text.insert(text.end(), more.begin(), more.end());
    return text;
}

/// KvBlocks and a follower of its reports.
struct Followed {
    KvBlocks blocks{kBlock, 7};
    KvFollower follower{kBlock};

    std::map<Text, KvMedium> known() {
        CHECK_EQ(follower.follow(blocks.take_report()), "");
        CHECK(!blocks.has_changes());
        return follower.known();
    }
};

TEST_CASE("kv blocks: whole blocks of what a sequence has computed are reported, once") {
    Followed log;
    log.blocks.keep(sequence(1), {});
    log.blocks.append(sequence(1), tokens(10, 9));
    CHECK_EQ(log.known().size(), 2);
    CHECK(!log.blocks.has_changes());
    log.blocks.append(sequence(1), tokens(19, 2));
    CHECK_EQ(log.known().size(), 2);
    log.blocks.append(sequence(1), tokens(21, 1));
    const auto known = log.known();
    CHECK_EQ(known.size(), 3);
    CHECK(known.contains(tokens(10, 12)));
    log.blocks.release(sequence(1));
    CHECK_EQ(log.known().size(), 0);
}

TEST_CASE("kv blocks: a block stays reported while something keeps it") {
    Followed log;
    log.blocks.keep(sequence(1), tokens(1, 8));
    log.blocks.keep(sequence(2), together(tokens(1, 4), tokens(100, 4)));
    CHECK_EQ(log.known().size(), 3);
    log.blocks.release(sequence(1));
    const auto known = log.known();
    CHECK_EQ(known.size(), 2);
    CHECK(known.contains(tokens(1, 4)));
    log.blocks.truncate(sequence(2), 5);
    CHECK_EQ(log.known().size(), 1);
}

TEST_CASE("kv blocks: tokens computed one by one along another text are the same blocks") {
    Followed log;
    log.blocks.keep(sequence(1), tokens(1, 12));
    log.blocks.keep(sequence(2), {});
    for (Token token = 1; token <= 12; ++token) log.blocks.append(sequence(2), Text{token});
    CHECK_EQ(log.known().size(), 3);
    log.blocks.release(sequence(1));
    CHECK(!log.blocks.has_changes());
    log.blocks.append(sequence(2), tokens(13, 4));
    CHECK_EQ(log.known().size(), 4);
}

TEST_CASE("kv blocks: a segment counts if everything before it can be reused") {
    Followed log;
    const Text chat = tokens(1, 16);
    log.blocks.keep(sequence(1), tokens(1, 6));
    log.blocks.keep(segment(1), chat, 6);
    auto known = log.known();
    CHECK_EQ(known.size(), 4);
    CHECK(known.at(tokens(1, 4)) == KvMedium::device);
    CHECK(known.at(tokens(1, 8)) == KvMedium::host); // a part of it is in the KV cache
    log.blocks.release(sequence(1));
    CHECK_EQ(log.known().size(), 0);
    log.blocks.keep(sequence(2), together(tokens(1, 6), tokens(50, 2)));
    known = log.known();
    CHECK_EQ(known.size(), 5);
    CHECK(known.at(chat) == KvMedium::host);
    log.blocks.release(segment(1));
    CHECK_EQ(log.known().size(), 2);
}

TEST_CASE("kv blocks: a block that is swapped in is reported in the KV cache") {
    Followed log;
    log.blocks.keep(segment(1), tokens(1, 8));
    CHECK(log.known().at(tokens(1, 8)) == KvMedium::host);
    log.blocks.keep(sequence(1), {});
    log.blocks.append(sequence(1), tokens(1, 8));
    CHECK(log.known().at(tokens(1, 8)) == KvMedium::device);
    log.blocks.release(sequence(1));
    CHECK(log.known().at(tokens(1, 8)) == KvMedium::host);
}

TEST_CASE("kv blocks: what came and went between two reports is in neither") {
    Followed log;
    log.blocks.keep(sequence(1), tokens(1, 8));
    log.blocks.release(sequence(1));
    const KvReport report = log.blocks.take_report();
    CHECK(report.removed.empty());
    CHECK(report.stored.empty());
}

TEST_CASE("kv blocks: neither an image nor what follows it is reported") {
    Followed log;
    Text text = tokens(1, 6);
    text.push_back(base::image_token(1, true));
    log.blocks.keep(sequence(1), together(text, tokens(20, 9)));
    CHECK_EQ(log.known().size(), 1);
}

TEST_CASE("kv blocks: equal texts have equal hashes, but not with another seed") {
    KvBlocks one(kBlock, 1);
    KvBlocks same(kBlock, 1);
    KvBlocks other(kBlock, 2);
    for (KvBlocks* blocks : {&one, &same, &other}) blocks->keep(sequence(1), tokens(1, 8));
    const auto hashes = one.take_report().stored.front().hashes;
    CHECK_EQ(hashes, same.take_report().stored.front().hashes);
    CHECK(hashes != other.take_report().stored.front().hashes);
}

TEST_CASE("kv blocks: a restatement reports everything again") {
    Followed log;
    log.blocks.keep(sequence(1), tokens(1, 8));
    log.blocks.keep(sequence(2), together(tokens(1, 4), tokens(50, 4)));
    CHECK_EQ(log.known().size(), 3);
    log.blocks.restate();
    log.follower = KvFollower(kBlock);
    const auto known = log.known();
    CHECK_EQ(known.size(), 3);
}

/// Blocks stored in all reports until there is nothing to report, and how many reports that took.
std::pair<size_t, size_t> stored_in_all(KvBlocks& blocks) {
    size_t all = 0;
    size_t reports = 0;
    for (; blocks.has_changes(); ++reports) {
        size_t stored = 0;
        for (const KvReport::Stored& one : blocks.take_report().stored) stored += one.hashes.size();
        CHECK(stored <= KvBlocks::kStoredMax);
        all += stored;
    }
    return {all, reports};
}

TEST_CASE("kv blocks: removals that are not taken are bounded") {
    KvBlocks blocks(kBlock, 1);
    blocks.keep(sequence(1), tokens(1, kBlock * (KvBlocks::kRemovedMax + 2)));
    CHECK_EQ(stored_in_all(blocks).first, KvBlocks::kRemovedMax + 2);
    blocks.release(sequence(1));
    const KvReport report = blocks.take_report();
    CHECK(report.is_restated);
    CHECK(report.removed.empty());
}

TEST_CASE("kv blocks: a report has at most so many blocks, and the next ones have the rest") {
    KvBlocks blocks(kBlock, 1);
    for (uint64_t id = 1; id <= 8; ++id) {
        const auto first = static_cast<Token>(1'000'000 * id);
        blocks.keep(sequence(id), tokens(first, kBlock * KvBlocks::kStoredMax / 2));
    }
    blocks.keep(sequence(9), tokens(9'000'000, kBlock * KvBlocks::kStoredMax * 2));
    const auto [stored, reports] = stored_in_all(blocks);
    CHECK_EQ(stored, 6 * KvBlocks::kStoredMax);
    CHECK_EQ(reports, 6);
}

} // namespace
