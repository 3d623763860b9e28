// The engine and a state file in which a number was changed, with a matching checksum: every number is checked before it is used.
#include "check.h"
#include "engine/state_file.h"
#include "engine_harness.h"
#include "engine_requests.h"
#include "short_memory.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <vector>

using engine::SavedSegment;
using test::EngineHarness;
using test::TextRequest;

namespace {

/// Far more cells than any context has: a state of so many is larger than what the test allows to allocate.
constexpr uint32_t kCells = 1 << 24;
constexpr size_t kLarge = size_t{16} << 20;
constexpr uint32_t kBelowZero = 0x80000005;

/// Places of numbers in llama.cpp's state of a sequence. Attention cells come first, after magic, sequence and streams.
constexpr size_t kCount = 3;
constexpr size_t kPosition = 4;

uint32_t number_at(const SavedSegment& saved, size_t byte) {
    uint32_t number = 0;
    std::memcpy(&number, saved.segment.state.bytes.get() + byte, sizeof(number));
    return number;
}

size_t attention(const SavedSegment& saved, size_t place) {
    REQUIRE_EQ(number_at(saved, kCount * 4), saved.text.size() - saved.first);
    return place * 4;
}

/// The one cell of the recurrent layers comes after all of that: its number, its position, and two zeros.
size_t recurrent(const SavedSegment& saved, size_t place) {
    const auto last = static_cast<uint32_t>(saved.text.size() - 1);
    const uint32_t cell[] = {1, last, 0, 0};
    const std::span bytes(saved.segment.state.bytes.get(), saved.segment.state.size);
    const auto raw = std::as_bytes(std::span(cell));
    const auto found = std::ranges::find_end(std::as_bytes(bytes), raw);
    REQUIRE(!found.empty());
    return static_cast<size_t>(found.begin() - std::as_bytes(bytes).begin()) + (place - kCount) * 4;
}

struct Change {
    test::ModelPtr model;
    size_t (*find)(const SavedSegment& saved, size_t place);
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
        std::vector<SavedSegment> segments =
            engine::read_state_file(options_.state_file, options_.cache_ram_bytes, is_text).segments;
        REQUIRE_EQ(segments.size(), 1);
        const size_t byte = change.find(segments[0], change.place);
        std::memcpy(segments[0].segment.state.bytes.get() + byte, &change.number, sizeof(change.number));
        const std::vector<engine::SegmentView> views{
            {.text = segments[0].text, .first = segments[0].first, .segment = &segments[0].segment}};
        REQUIRE(engine::write_state_file(options_.state_file, views) == engine::StateWrite::done);
    }

private:
    engine::EngineOptions options_ = test::few_places();
};

} // namespace

TEST_CASE("engine: a state with impossible cells or positions is refused, and allocates nothing") {
    // A hybrid model's state is saved where a message ends.
    const std::vector<base::Token> first =
        test::joined(test::words(1, 99), {test::tiny_lfm2()->info().tokens.eos});
    const TextRequest next{.prompt = test::joined(first, test::words(2, 6)), .tokens = 3};
    // Their tokens take nearly all cells of the context.
    const std::vector<TextRequest> others{{.prompt = test::words(3, 115), .tokens = 3},
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
        const std::string text = EngineHarness(changes[i].model).generate(next).text;
        const StateFolder folder;
        EngineHarness(changes[i].model, folder.options()).generate({.prompt = first, .tokens = 3});
        folder.change(changes[i]);
        EngineHarness harness(changes[i].model, folder.options());
        const test::ShortMemory memory(kLarge);
        const test::Reply reply = harness.generate(next);
        CHECK_EQ(reply.text, text);
        CHECK_EQ(reply.cached, 0);
        CHECK_EQ(test::ShortMemory::asked(), 0);
        const std::vector<test::Reply> replies = harness.generate_all(others);
        for (size_t other = 0; other < others.size(); ++other) CHECK_EQ(replies[other].text, texts[other]);
    }
}
