// engine/state_file: what is written is read again, and nothing that was changed on the disk.
#include "engine/state_file.h"

#include "check.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

using engine::PieceView;
using engine::SavedPiece;
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

SavedPiece piece(base::Token from, int32_t tokens, size_t bytes) {
    SavedPiece saved{.text = {}, .first = tokens / 2, .piece = {}};
    for (int32_t i = 0; i < tokens; ++i) saved.text.push_back(from + i);
    saved.piece.state = {.bytes = std::make_unique<uint8_t[]>(bytes), .size = bytes};
    std::memset(saved.piece.state.bytes.get(), from, bytes);
    saved.piece.checkpoints[tokens / 2 + 1] = {1, 2, 3};
    return saved;
}

std::vector<SavedPiece> two_pieces() {
    std::vector<SavedPiece> pieces;
    pieces.push_back(piece(10, 8, 21));
    pieces.push_back(piece(50, 5, 40));
    return pieces;
}

bool write(const StateFile& file, const std::vector<SavedPiece>& pieces) {
    std::vector<PieceView> views;
    for (const SavedPiece& saved : pieces)
        views.push_back({.text = saved.text, .first = saved.first, .piece = &saved.piece});
    return engine::write_state_file(file, views);
}

bool is_equal(const SavedPiece& a, const SavedPiece& b) {
    const auto& [state_a, checkpoints_a, whole_a] = a.piece;
    const auto& [state_b, checkpoints_b, whole_b] = b.piece;
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

/// Whether all that was read is what was written, up to where the reading ended.
bool is_beginning(const std::vector<SavedPiece>& read, const std::vector<SavedPiece>& written) {
    return read.size() <= written.size() &&
           std::ranges::equal(read, std::span(written).first(read.size()), is_equal);
}

} // namespace

TEST_CASE("state file: what is written is read again, and takes the place of what was there") {
    const StateFile file = file_of("ingle-state-again");
    REQUIRE(write(file, {}));
    CHECK(engine::read_state_file(file, kPlenty, kAnyText).empty());
    const std::vector<SavedPiece> written = two_pieces();
    REQUIRE(write(file, written));
    const std::vector<SavedPiece> read = engine::read_state_file(file, kPlenty, kAnyText);
    CHECK_EQ(read.size(), 2);
    CHECK(is_beginning(read, written));
    CHECK(!std::filesystem::exists(file.path + ".part"));
}

TEST_CASE("state file: another key, foreign tokens and too much state are not read") {
    const StateFile file = file_of("ingle-state-foreign");
    REQUIRE(write(file, two_pieces()));
    StateFile other = file;
    other.key[31] += 1;
    CHECK(engine::read_state_file(other, kPlenty, kAnyText).empty());
    const engine::IsText is_small = [](std::span<const base::Token> text) { return text.back() < 50; };
    CHECK_EQ(engine::read_state_file(file, kPlenty, is_small).size(), 1);
    const uint64_t whole = 21 + 3 + 40 + 3;
    CHECK_EQ(engine::read_state_file(file, whole, kAnyText).size(), 2);
    CHECK_EQ(engine::read_state_file(file, whole - 1, kAnyText).size(), 1);
    CHECK_EQ(engine::read_state_file(file, 20, kAnyText).size(), 0);
    CHECK(engine::read_state_file(file_of("ingle-state-nowhere"), kPlenty, kAnyText).empty());
}

TEST_CASE("state file: cut anywhere, it is of use up to there") {
    const StateFile file = file_of("ingle-state-cut");
    const std::vector<SavedPiece> written = two_pieces();
    REQUIRE(write(file, written));
    const Bytes whole = content(file);
    for (size_t length = 0; length < whole.size(); ++length) {
        replace(file, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
        const std::vector<SavedPiece> read = engine::read_state_file(file, kPlenty, kAnyText);
        REQUIRE(read.size() < 2);
        REQUIRE(is_beginning(read, written));
    }
}

TEST_CASE("state file: no changed byte is believed") {
    const StateFile file = file_of("ingle-state-changed");
    const std::vector<SavedPiece> written = two_pieces();
    REQUIRE(write(file, written));
    const Bytes whole = content(file);
    for (size_t at = 0; at < whole.size(); ++at) {
        for (const int change : {0x01, 0x80, 0xFF}) {
            Bytes changed = whole;
            changed[at] = static_cast<char>(changed[at] ^ change);
            replace(file, changed);
            const std::vector<SavedPiece> read = engine::read_state_file(file, kPlenty, kAnyText);
            REQUIRE(read.size() < 2);
            REQUIRE(is_beginning(read, written));
        }
    }
}

TEST_CASE("state file: a folder that is not there is told, and nothing is left behind") {
    const StateFile file{.path = "/nowhere/at/all/ingle-state", .key = {}};
    CHECK(!write(file, two_pieces()));
}

TEST_CASE("state file: who holds what lay in its way open reads nothing of it") {
    const StateFile file = file_of("ingle-state-file-planted");
    const std::filesystem::path part = file.path + ".part";
    {
        std::ofstream planted(part, std::ios::binary);
    }
    std::filesystem::permissions(part, std::filesystem::perms::all);
    std::ifstream reader(part, std::ios::binary);
    REQUIRE(reader.good());
    REQUIRE(write(file, two_pieces()));
    CHECK_EQ(reader.get(), std::ifstream::traits_type::eof());
    CHECK_EQ(engine::read_state_file(file, kPlenty, kAnyText).size(), 2);
    using std::filesystem::perms;
    const perms others = perms::group_all | perms::others_all;
    CHECK((std::filesystem::status(file.path).permissions() & others) == perms::none);
    std::filesystem::remove(file.path);
}
