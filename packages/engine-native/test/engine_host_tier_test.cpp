// The engine on tiny models with a host KV tier for what the KV cache has no cells for, with and without faults of llama.cpp.
#include "check.h"
#include "engine_harness.h"
#include "engine_requests.h"
#include "llama_faults.h"
#include "short_memory.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

using test::Call;
using test::EngineHarness;
using test::Reply;
using test::TextRequest;

namespace {

engine::EngineOptions with_memory(uint64_t bytes) {
    engine::EngineOptions options = test::few_places();
    options.cache_ram_bytes = bytes;
    return options;
}

/// Three chats, of which the KV cache holds two, and then a second request of each.
std::vector<TextRequest> chats(const test::ModelPtr& model) {
    const std::vector<base::Token> end{model->info().tokens.eos};
    std::vector<TextRequest> requests;
    for (const int32_t number : {1, 2, 3}) {
        const std::vector<base::Token> first = test::joined(test::words(number, 100), end);
        requests.push_back({.prompt = first, .tokens = 3});
    }
    for (const int32_t number : {1, 2, 3}) {
        const TextRequest& first = requests[static_cast<size_t>(number - 1)];
        requests.push_back({.prompt = test::joined(first.prompt, test::words(number + 3, 6)), .tokens = 5});
    }
    return requests;
}

std::vector<Reply> generate_one_by_one(EngineHarness& harness, const std::vector<TextRequest>& requests) {
    std::vector<Reply> replies;
    for (const TextRequest& request : requests) replies.push_back(harness.generate(request));
    return replies;
}

} // namespace

TEST_CASE("engine: evicted state is swapped in again, and host memory stays within its limit") {
    for (const test::ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        CAPTURE(model->info().architecture);
        const std::vector<TextRequest> requests = chats(model);
        const std::vector<std::string> texts = test::texts_alone(model, requests);
        EngineHarness harness(model, with_memory(1 << 24));
        const std::vector<Reply> replies = generate_one_by_one(harness, requests);
        for (size_t i = 0; i < replies.size(); ++i) CHECK_EQ(replies[i].text, texts[i]);
        for (size_t i = 3; i < replies.size(); ++i) CHECK(replies[i].cached >= 101);
        const engine::Stats stats = harness.engine->stats();
        CHECK(stats.cache_ram_hits >= 3);
        const uint64_t bytes_of_one = stats.cache_ram_bytes / static_cast<uint64_t>(stats.cache_ram_pieces);
        for (const uint64_t limit : {bytes_of_one / 2, 3 * bytes_of_one / 2}) {
            EngineHarness small(model, with_memory(limit));
            for (const TextRequest& request : requests) {
                CHECK(small.generate(request).is_whole());
                CHECK(small.engine->stats().cache_ram_bytes <= limit);
            }
        }
    }
}

TEST_CASE("engine: when the n-th call of a copy throws, no text changes") {
    using enum Call::Kind;
    for (const test::ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        const std::vector<TextRequest> requests = chats(model);
        const std::vector<std::string> texts = test::texts_alone(model, requests);
        for (const Call::Kind kind : {remove, share, save, restore}) {
            for (const bool is_late : {false, true}) {
                int calls = 0;
                for (int n = 1; n == 1 || calls >= n; ++n) {
                    CAPTURE(model->info().architecture);
                    CAPTURE(static_cast<int>(kind));
                    CAPTURE(is_late);
                    CAPTURE(n);
                    EngineHarness harness(model, with_memory(1 << 24));
                    calls = 0;
                    const auto fail_once = [&](const Call& call) {
                        return call.kind == kind && ++calls == n;
                    };
                    const test::WithFaults with({.other = fail_once, .is_late = is_late});
                    const std::vector<Reply> replies = generate_one_by_one(harness, requests);
                    int failed = 0;
                    for (size_t i = 0; i < replies.size(); ++i) {
                        failed += replies[i].error.has_value() ? 1 : 0;
                        CHECK_EQ(replies[i].text, replies[i].error ? "" : texts[i]);
                    }
                    CHECK(failed <= (kind == share || kind == restore ? 1 : 0));
                    CHECK_EQ(test::faults().misplaced, 0);
                }
                CHECK(calls > 0);
            }
        }
    }
}

TEST_CASE("engine: a segment that was about to be swapped out when the cache was lost is not kept") {
    const test::ModelPtr model = test::tiny_lfm2();
    const std::vector<base::Token> end{model->info().tokens.eos};
    const auto message = [&](int32_t seed, int32_t count) {
        return test::joined(test::words(seed, count), end);
    };
    EngineHarness harness(model, with_memory(1 << 24));
    const std::vector<base::Token> system = message(1, 40);
    // They leave more than a quarter of the cells, so that an idle engine copies neither of them ahead.
    harness.generate({.prompt = message(2, 71), .tokens = 3});
    harness.generate({.prompt = test::joined(system, message(4, 60)), .tokens = 3});
    const TextRequest next{.prompt = test::joined(system, message(5, 79)), .tokens = 3};
    {
        // It shares the second chat's system message, and the first chat is evicted for it.
        bool is_failed = false;
        const auto fail_once = [&](const Call& call) {
            return call.kind == Call::Kind::share && !std::exchange(is_failed, true);
        };
        const test::WithFaults with({.other = fail_once});
        CHECK_EQ(harness.generate(next).error, base::Code::engine_failed);
        CHECK(is_failed);
    }
    CHECK_EQ(harness.engine->stats().cache_ram_bytes, 0);
    CHECK_EQ(harness.generate(next).text, EngineHarness(model).generate(next).text);
}

TEST_CASE("engine: if copies always fail, everything is computed") {
    using enum Call::Kind;
    for (const test::ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        const std::vector<TextRequest> requests = chats(model);
        const std::vector<std::string> texts = test::texts_alone(model, requests);
        for (const Call::Kind kind : {save, restore}) {
            CAPTURE(model->info().architecture);
            CAPTURE(static_cast<int>(kind));
            EngineHarness harness(model, with_memory(1 << 24));
            const test::WithFaults with({.other = [&](const Call& call) { return call.kind == kind; }});
            const std::vector<Reply> replies = generate_one_by_one(harness, requests);
            for (size_t i = 0; i < replies.size(); ++i)
                CHECK_EQ(replies[i].text, replies[i].error ? "" : texts[i]);
            CHECK_EQ(harness.engine->stats().cache_ram_hits, 0);
            if (kind == save) CHECK_EQ(harness.engine->stats().cache_ram_bytes, 0);
        }
    }
}

TEST_CASE("engine: stopped at any moment, it leaves a state file that is right for the next one") {
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("ingle-stopped-" + std::to_string(std::random_device()()));
    for (const test::ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        CAPTURE(model->info().architecture);
        const std::vector<TextRequest> requests = test::requests(model);
        const std::vector<std::string> texts = test::texts_alone(model, requests);
        engine::EngineOptions options = with_memory(1 << 24);
        options.state_file = {.path = file.string()};
        for (int32_t delay = 0; delay < 20; ++delay) {
            {
                EngineHarness harness(model, options);
                for (const TextRequest& request : requests) harness.submit(request);
                std::this_thread::sleep_for(std::chrono::microseconds(delay * 500));
                harness.engine->stop();
            }
            EngineHarness next(model, options);
            for (size_t i = 0; i < requests.size(); ++i) CHECK_EQ(next.generate(requests[i]).text, texts[i]);
        }
        std::filesystem::remove(file);
    }
}

TEST_CASE("host tier: a segment with a checkpoint that there is no memory for is not kept at all") {
    const test::ModelPtr model = test::tiny_lfm2();
    auto context = llama::Context::create(model, test::few_places().context, 4);
    REQUIRE(context.has_value());
    engine::HostTierStore store(1 << 24);
    const engine::Checkpoints checkpoints{{7, std::vector<uint8_t>(100)}, {8, std::vector<uint8_t>(1 << 20)}};
    const sched::SwapOut op{.segment = 1,
                            .slot = 0,
                            .first = 0,
                            .length = 30,
                            .checkpoints = {{.length = 10, .id = 7}, {.length = 20, .id = 8}}};
    sched::SwappedOut swapped{};
    {
        const test::ShortMemory is_short((1 << 20) - 1);
        std::thread([&] { swapped = store.swap_out(**context, op, checkpoints); }).join();
    }
    CHECK(swapped.copied == sched::Copied::not_tried);
    CHECK(store.find(1) == nullptr);
    CHECK_EQ(store.bytes(), 0);
}
