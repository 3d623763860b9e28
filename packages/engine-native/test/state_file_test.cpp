// engine/state_file: reads what was written, and nothing that was changed on the disk.
#include "engine/state_file.h"

#include "check.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

using engine::SavedSegment;
using engine::SegmentView;
using engine::StateFile;

namespace {

using Bytes = std::vector<char>;

const engine::IsText kAnyText = [](std::span<const base::Token>) { return true; };
constexpr uint64_t kPlenty = 1'000'000;

StateFile file_of(const char* name) {
    StateFile file{.path = (std::filesystem::temp_directory_path() / name).string(), .key = {}};
    file.key.fill(7);
    return file;
}

SavedSegment segment(base::Token from, int32_t tokens, size_t bytes) {
    SavedSegment saved{.text = {}, .first = tokens / 2, .segment = {}};
    for (int32_t i = 0; i < tokens; ++i) saved.text.push_back(from + i);
    saved.segment.state = {.bytes = std::make_unique<uint8_t[]>(bytes), .size = bytes};
    std::memset(saved.segment.state.bytes.get(), from, bytes);
    saved.segment.checkpoints[tokens / 2 + 1] = {1, 2, 3};
    return saved;
}

std::vector<SavedSegment> two_segments() {
    std::vector<SavedSegment> segments;
    segments.push_back(segment(10, 8, 21));
    segments.push_back(segment(50, 5, 40));
    return segments;
}

bool write(const StateFile& file, const std::vector<SavedSegment>& segments) {
    std::vector<SegmentView> views;
    for (const SavedSegment& saved : segments)
        views.push_back({.text = saved.text, .first = saved.first, .segment = &saved.segment});
    return engine::write_state_file(file, views) == engine::StateWrite::done;
}

bool is_equal(const SavedSegment& a, const SavedSegment& b) {
    const auto& [state_a, checkpoints_a] = a.segment;
    const auto& [state_b, checkpoints_b] = b.segment;
    return a.text == b.text && a.first == b.first && checkpoints_a == checkpoints_b &&
           state_a.size == state_b.size &&
           std::memcmp(state_a.bytes.get(), state_b.bytes.get(), state_a.size) == 0;
}

Bytes content(const StateFile& file) {
    std::ifstream stream(file.path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void replace(const StateFile& file, const Bytes& bytes) {
    std::ofstream(file.path, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Whether the segments that were read are the first of those that were written.
bool are_first_of(const std::vector<SavedSegment>& read, const std::vector<SavedSegment>& written) {
    return read.size() <= written.size() &&
           std::ranges::equal(read, std::span(written).first(read.size()), is_equal);
}

} // namespace

TEST_CASE("state file: reads what was written, and replaces what was there") {
    const StateFile file = file_of("ingle-state-again");
    REQUIRE(write(file, {}));
    CHECK(engine::read_state_file(file, kPlenty, kAnyText).segments.empty());
    const std::vector<SavedSegment> written = two_segments();
    REQUIRE(write(file, written));
    const std::vector<SavedSegment> read = engine::read_state_file(file, kPlenty, kAnyText).segments;
    CHECK_EQ(read.size(), 2);
    CHECK(are_first_of(read, written));
}

TEST_CASE("state file: another key, unknown tokens and too much state are not read") {
    const StateFile file = file_of("ingle-state-foreign");
    REQUIRE(write(file, two_segments()));
    StateFile other = file;
    other.key[31] += 1;
    CHECK(engine::read_state_file(other, kPlenty, kAnyText).segments.empty());
    const engine::IsText is_small = [](std::span<const base::Token> text) { return text.back() < 50; };
    CHECK_EQ(engine::read_state_file(file, kPlenty, is_small).segments.size(), 1);
    const uint64_t whole = 21 + 3 + 40 + 3;
    CHECK_EQ(engine::read_state_file(file, whole, kAnyText).segments.size(), 2);
    CHECK_EQ(engine::read_state_file(file, whole - 1, kAnyText).segments.size(), 1);
    CHECK_EQ(engine::read_state_file(file, 20, kAnyText).segments.size(), 0);
    CHECK(engine::read_state_file(file_of("ingle-state-nowhere"), kPlenty, kAnyText).segments.empty());
}

TEST_CASE("state file: a segment of a file with another key is not read") {
    const StateFile own = file_of("ingle-state-own");
    StateFile foreign = file_of("ingle-state-moved");
    for (const size_t place : {0, 31}) {
        foreign.key.fill(7);
        foreign.key[place] += 1;
        REQUIRE(write(own, {}));
        Bytes moved = content(own);
        REQUIRE(write(foreign, two_segments()));
        const Bytes other = content(foreign);
        moved.insert(moved.end(), other.begin() + static_cast<std::ptrdiff_t>(moved.size()), other.end());
        replace(own, moved);
        const engine::StateRead read = engine::read_state_file(own, kPlenty, kAnyText);
        CHECK(read.segments.empty());
        CHECK(read.end == engine::StateRead::End::damaged);
    }
}

TEST_CASE("state file: a file that was cut is used up to there") {
    const StateFile file = file_of("ingle-state-cut");
    const std::vector<SavedSegment> written = two_segments();
    REQUIRE(write(file, written));
    const Bytes whole = content(file);
    for (size_t length = 0; length < whole.size(); ++length) {
        replace(file, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
        const std::vector<SavedSegment> read = engine::read_state_file(file, kPlenty, kAnyText).segments;
        REQUIRE(read.size() < 2);
        REQUIRE(are_first_of(read, written));
    }
}

TEST_CASE("state file: no changed byte is used") {
    const StateFile file = file_of("ingle-state-changed");
    const std::vector<SavedSegment> written = two_segments();
    REQUIRE(write(file, written));
    const Bytes whole = content(file);
    for (size_t at = 0; at < whole.size(); ++at) {
        for (const int change : {0x01, 0x80, 0xFF}) {
            Bytes changed = whole;
            changed[at] = static_cast<char>(changed[at] ^ change);
            replace(file, changed);
            const std::vector<SavedSegment> read = engine::read_state_file(file, kPlenty, kAnyText).segments;
            REQUIRE(read.size() < 2);
            REQUIRE(are_first_of(read, written));
        }
    }
}

TEST_CASE("state file: a missing folder is reported, and nothing is left over") {
    const StateFile file{.path = "/nowhere/at/all/ingle-state", .key = {}};
    CHECK(!write(file, two_segments()));
}

TEST_CASE("state file: writers of one file do not disturb each other, and leave nothing") {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "ingle-state-writers";
    std::filesystem::create_directories(folder);
    const StateFile file{.path = (folder / "state").string(), .key = {}};
    const std::vector<SavedSegment> written = two_segments();
    std::atomic<int> failures = 0;
    {
        std::vector<std::jthread> writers;
        for (int i = 0; i < 8; ++i)
            writers.emplace_back([&] {
                for (int again = 0; again < 20; ++again) failures += write(file, written) ? 0 : 1;
            });
    }
    CHECK_EQ(failures.load(), 0);
    CHECK_EQ(engine::read_state_file(file, kPlenty, kAnyText).segments.size(), 2);
    const std::filesystem::directory_iterator files(folder);
    CHECK_EQ(std::distance(begin(files), end(files)), 1);
    std::filesystem::remove_all(folder);
}

TEST_CASE("state file: what a killed process left is removed, and a folder in the way is reported") {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "ingle-state-abandoned";
    std::filesystem::create_directories(folder / "taken");
    const std::filesystem::path old = folder / ".0123.saving";
    const std::filesystem::path fresh = folder / ".4567.saving";
    for (const auto& path : {old, fresh}) std::ofstream(path, std::ios::binary) << "a part";
    const auto now = std::filesystem::file_time_type::clock::now();
    std::filesystem::last_write_time(old, now - std::chrono::hours(2));
    REQUIRE(write({.path = (folder / "state").string(), .key = {}}, two_segments()));
    CHECK(!std::filesystem::exists(old));
    CHECK(std::filesystem::exists(fresh));
    CHECK(engine::write_state_file({.path = (folder / "taken").string(), .key = {}}, {}) ==
          engine::StateWrite::in_the_way);
    std::filesystem::remove_all(folder);
}

TEST_CASE("state file: a process that holds a planted file open reads nothing of the new one") {
    const StateFile file = file_of("ingle-state-file-planted");
    {
        std::ofstream planted(file.path, std::ios::binary);
    }
    std::filesystem::permissions(file.path, std::filesystem::perms::all);
    std::ifstream reader(file.path, std::ios::binary);
    REQUIRE(reader.good());
    REQUIRE(write(file, two_segments()));
    CHECK_EQ(reader.get(), std::ifstream::traits_type::eof());
    CHECK_EQ(engine::read_state_file(file, kPlenty, kAnyText).segments.size(), 2);
    using std::filesystem::perms;
    const perms others = perms::group_all | perms::others_all;
    CHECK((std::filesystem::status(file.path).permissions() & others) == perms::none);
    std::filesystem::remove(file.path);
}
