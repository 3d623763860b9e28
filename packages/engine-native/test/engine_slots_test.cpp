// Slots on tiny models: a text's state is saved, restored in another engine and erased, with and without faults of llama.cpp.
#include "check.h"
#include "engine_harness.h"
#include "engine_requests.h"
#include "llama_faults.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

using engine::SlotAction;
using test::Call;
using test::EngineHarness;
using test::TextRequest;

namespace {

/// A folder for the files of slots.
class SlotFolder {
public:
    SlotFolder() {
        options_.cache_ram_bytes = 1 << 24;
        options_.slot_dir = (std::filesystem::temp_directory_path() /
                             ("ingle-slots-" + std::to_string(std::random_device()())))
                                .string();
        std::filesystem::create_directory(options_.slot_dir);
    }
    ~SlotFolder() { std::filesystem::remove_all(options_.slot_dir); }
    SlotFolder(const SlotFolder&) = delete;
    SlotFolder& operator=(const SlotFolder&) = delete;

    const engine::EngineOptions& options() const { return options_; }

private:
    engine::EngineOptions options_ = test::few_places();
};

base::Result<engine::SlotChange> change(EngineHarness& harness, SlotAction action, int32_t id_slot = 0) {
    const std::atomic<bool> is_aborted = false;
    return harness.engine->change_slot({.action = action, .id_slot = id_slot, .file = "file"}, is_aborted);
}

/// A hybrid model's state is saved where a message ends.
TextRequest chat(const test::ModelPtr& model, int32_t id_slot = 0) {
    return {.prompt = test::joined(test::words(1, 99), {model->info().tokens.eos}),
            .tokens = 3,
            .id_slot = id_slot};
}

TextRequest continued(const test::ModelPtr& model) {
    return {.prompt = test::joined(chat(model).prompt, test::words(2, 6)), .tokens = 3, .id_slot = 1};
}

} // namespace

TEST_CASE("slots: a text is saved, restored in another engine, and erased, and its text stays the same") {
    for (const test::ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        CAPTURE(model->info().architecture);
        const SlotFolder folder;
        const std::string text = EngineHarness(model).generate(chat(model)).text;
        EngineHarness first(model, folder.options());
        CHECK_EQ(first.generate(chat(model)).text, text);
        const auto saved = change(first, SlotAction::save);
        REQUIRE(saved.has_value());
        CHECK_EQ(saved->tokens, 102);
        EngineHarness second(model, folder.options());
        CHECK_EQ(change(second, SlotAction::erase, 1).error().code, base::Code::invalid_argument);
        const auto restored = change(second, SlotAction::restore, 1);
        REQUIRE(restored.has_value());
        CHECK_EQ(restored->tokens, saved->tokens);
        CHECK_EQ(restored->bytes, saved->bytes);
        // Restored twice, it takes no more memory.
        const uint64_t bytes = second.engine->stats().cache_ram_bytes;
        REQUIRE(change(second, SlotAction::restore, 1).has_value());
        TextRequest next = continued(model);
        next.id_slot = 0;
        const test::Reply again = second.generate(next);
        CHECK_EQ(again.text, EngineHarness(model).generate(next).text);
        CHECK(again.cached > 0);
        CHECK(second.engine->stats().cache_ram_bytes <= std::max<uint64_t>(bytes, saved->bytes));
        for (const int32_t slot : {0, 1}) REQUIRE(change(second, SlotAction::erase, slot).has_value());
        const test::Reply computed = second.generate(next);
        CHECK_EQ(computed.text, again.text);
        CHECK_EQ(computed.cached, 0);
    }
}

TEST_CASE("slots: erasing keeps what another text shares, and what a running request has") {
    const test::ModelPtr model = test::tiny_llama();
    const SlotFolder folder;
    EngineHarness harness(model, folder.options());
    harness.generate(chat(model, 0));
    const TextRequest longer = continued(model);
    const std::string text = harness.generate(longer).text;
    REQUIRE(change(harness, SlotAction::erase, 0).has_value());
    const test::Reply again = harness.generate(longer);
    CHECK_EQ(again.text, text);
    CHECK(again.cached >= 100);
}

TEST_CASE(
    "slots: when the n-th call of a save fails, it leaves no file or a right one, and no text changes") {
    for (const test::ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        const std::string text = EngineHarness(model).generate(chat(model)).text;
        const std::string next = EngineHarness(model).generate(continued(model)).text;
        for (const bool is_late : {false, true}) {
            int calls = 0;
            for (int n = 1; n == 1 || calls >= n; ++n) {
                CAPTURE(model->info().architecture);
                CAPTURE(is_late);
                CAPTURE(n);
                const SlotFolder folder;
                EngineHarness harness(model, folder.options());
                harness.generate(chat(model));
                calls = 0;
                bool has_saved = false;
                {
                    const auto fail_once = [&](const Call&) { return ++calls == n; };
                    const test::WithFaults with({.other = fail_once, .is_late = is_late});
                    const auto saved = change(harness, SlotAction::save);
                    has_saved = saved.has_value();
                    CHECK(has_saved || calls >= n);
                    CHECK_EQ(std::filesystem::is_empty(folder.options().slot_dir), !has_saved);
                }
                CHECK_EQ(harness.generate(chat(model)).text, text);
                EngineHarness other(model, folder.options());
                CHECK_EQ(change(other, SlotAction::restore).has_value(), has_saved);
                CHECK_EQ(other.generate(continued(model)).text, next);
                CHECK_EQ(test::faults().misplaced, 0);
            }
            CHECK(calls > 0);
        }
    }
}

TEST_CASE("slots: a model without a host KV tier, a stopped engine and an aborted call are errors") {
    const test::ModelPtr model = test::tiny_llama();
    EngineHarness without(model);
    without.generate(chat(model));
    CHECK_EQ(change(without, SlotAction::erase).error().code, base::Code::invalid_argument);
    const SlotFolder folder;
    EngineHarness harness(model, folder.options());
    harness.generate(chat(model));
    for (const char* name : {"", ".", "..", "a/b", "../a", "/a"}) {
        const std::atomic<bool> is_aborted = false;
        const auto saved =
            harness.engine->change_slot({.action = SlotAction::save, .id_slot = 0, .file = name}, is_aborted);
        CHECK_EQ(saved.error().code, base::Code::invalid_argument);
    }
    const std::atomic<bool> is_aborted = true;
    const auto saved =
        harness.engine->change_slot({.action = SlotAction::save, .id_slot = 0, .file = "file"}, is_aborted);
    CHECK_EQ(saved.error().code, base::Code::aborted);
    harness.engine->stop();
    CHECK_EQ(change(harness, SlotAction::save).error().code, base::Code::disposed);
}
