// The engine and a state file in which somebody has changed a number, with the checksum made anew: what it says is looked
// at before anything is done about it.
#include "check.h"
#include "engine/state_file.h"
#include "engine_house.h"
#include "engine_questions.h"
#include "short_memory.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <vector>

using engine::SavedPiece;
using test::EngineHouse;
using test::Question;

namespace {

/// Far more cells than any context has; of no type of number is there room for so many in what a test spares.
constexpr uint32_t kCells = 1 << 24;
constexpr size_t kLarge = size_t{16} << 20;
constexpr uint32_t kBelowZero = 0x80000005;

/// Numbers in llama.cpp's state of a sequence, by place. Cells of attention come first, after magic, sequence and streams.
constexpr size_t kCount = 3;
constexpr size_t kPosition = 4;

uint32_t number_at(const SavedPiece& saved, size_t byte) {
    uint32_t number = 0;
    std::memcpy(&number, saved.piece.state.bytes.get() + byte, sizeof(number));
    return number;
}

size_t attention(const SavedPiece& saved, size_t place) {
    REQUIRE_EQ(number_at(saved, kCount * 4), saved.text.size() - saved.first);
    return place * 4;
}

/// Behind all of that is the one cell of the recurrent layers: its number, its position, and two zeros.
size_t recurrent(const SavedPiece& saved, size_t place) {
    const auto last = static_cast<uint32_t>(saved.text.size() - 1);
    const uint32_t cell[] = {1, last, 0, 0};
    const std::span bytes(saved.piece.state.bytes.get(), saved.piece.state.size);
    const auto raw = std::as_bytes(std::span(cell));
    const auto found = std::ranges::find_end(std::as_bytes(bytes), raw);
    REQUIRE(!found.empty());
    return static_cast<size_t>(found.begin() - std::as_bytes(bytes).begin()) + (place - kCount) * 4;
}

struct Change {
    test::ModelPtr model;
    size_t (*find)(const SavedPiece& saved, size_t place);
    size_t place;
    uint32_t number;
};

/// Where one engine leaves its state for the next one.
class StateFolder {
public:
    StateFolder() {
        options_.cache_ram_bytes = 1 << 24;
        options_.state_file.path = (std::filesystem::temp_directory_path() /
                                    ("ingle-state-" + std::to_string(std::random_device()())))
                                       .string();
    }
    ~StateFolder() { std::filesystem::remove(options_.state_file.path); }
    StateFolder(const StateFolder&) = delete;
    StateFolder& operator=(const StateFolder&) = delete;

    const engine::EngineOptions& options() const { return options_; }

    void change(const Change& change) const {
        const auto is_text = [](std::span<const base::Token>) { return true; };
        std::vector<SavedPiece> pieces =
            engine::read_state_file(options_.state_file, options_.cache_ram_bytes, is_text);
        REQUIRE_EQ(pieces.size(), 1);
        const size_t byte = change.find(pieces[0], change.place);
        std::memcpy(pieces[0].piece.state.bytes.get() + byte, &change.number, sizeof(change.number));
        const std::vector<engine::PieceView> views{
            {.text = pieces[0].text, .first = pieces[0].first, .piece = &pieces[0].piece}};
        REQUIRE(engine::write_state_file(options_.state_file, views));
    }

private:
    engine::EngineOptions options_ = test::few_places();
};

} // namespace

TEST_CASE("engine: a state with cells or positions that cannot be is not taken, and takes nothing") {
    // Where a message ends, a hybrid model's state is saved.
    const std::vector<base::Token> first = test::joined(test::words(1, 99), {test::tiny_lfm2()->info().eos});
    const Question next{.prompt = test::joined(first, test::words(2, 6)), .tokens = 3};
    // They take nearly all of the context's cells.
    const std::vector<Question> others{{.prompt = test::words(3, 115), .tokens = 3},
                                       {.prompt = test::words(4, 115), .tokens = 3}};
    const std::vector<Change> changes{
        {test::tiny_llama(), attention, kCount, kCells},
        {test::tiny_llama(), attention, kPosition, kBelowZero},
        {test::tiny_lfm2(), attention, kCount, kCells},
        {test::tiny_lfm2(), recurrent, kCount, kCells},
        {test::tiny_lfm2(), recurrent, kPosition, kBelowZero},
    };
    for (size_t i = 0; i < changes.size(); ++i) {
        CAPTURE(i);
        const std::vector<std::string> texts = test::texts_alone(changes[i].model, others);
        const std::string text = EngineHouse(changes[i].model).ask(next).text;
        const StateFolder folder;
        EngineHouse(changes[i].model, folder.options()).ask({.prompt = first, .tokens = 3});
        folder.change(changes[i]);
        EngineHouse house(changes[i].model, folder.options());
        const test::ShortMemory memory(kLarge);
        const test::Answer answer = house.ask(next);
        CHECK_EQ(answer.text, text);
        CHECK_EQ(answer.cached, 0);
        CHECK_EQ(test::ShortMemory::asked(), 0);
        const std::vector<test::Answer> answers = house.ask_all(others);
        for (size_t other = 0; other < others.size(); ++other) CHECK_EQ(answers[other].text, texts[other]);
    }
}
