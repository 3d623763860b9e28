// The engine on tiny models with host memory for what its context has no room for, and with faults of llama.cpp on the way.
#include "check.h"
#include "engine_house.h"
#include "engine_questions.h"
#include "llama_faults.h"
#include "short_memory.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

using test::Answer;
using test::Call;
using test::EngineHouse;
using test::Question;

namespace {

engine::EngineOptions with_memory(uint64_t bytes) {
    engine::EngineOptions options = test::few_places();
    options.cache_ram_bytes = bytes;
    return options;
}

/// Three chats, of which the context holds two, and then a second turn of each.
std::vector<Question> chats(const test::ModelPtr& model) {
    const std::vector<base::Token> end{model->info().eos};
    std::vector<Question> questions;
    for (const int32_t number : {1, 2, 3}) {
        const std::vector<base::Token> first = test::joined(test::words(number, 100), end);
        questions.push_back({.prompt = first, .tokens = 3});
    }
    for (const int32_t number : {1, 2, 3}) {
        const Question& first = questions[static_cast<size_t>(number - 1)];
        questions.push_back({.prompt = test::joined(first.prompt, test::words(number + 3, 6)), .tokens = 5});
    }
    return questions;
}

std::vector<Answer> ask_in_turn(EngineHouse& house, const std::vector<Question>& questions) {
    std::vector<Answer> answers;
    for (const Question& question : questions) answers.push_back(house.ask(question));
    return answers;
}

} // namespace

TEST_CASE("engine: what the context has no room for comes back from host memory, within its limit") {
    for (const test::ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        CAPTURE(model->info().architecture);
        const std::vector<Question> questions = chats(model);
        const std::vector<std::string> texts = test::texts_alone(model, questions);
        EngineHouse house(model, with_memory(1 << 24));
        const std::vector<Answer> answers = ask_in_turn(house, questions);
        for (size_t i = 0; i < answers.size(); ++i) CHECK_EQ(answers[i].text, texts[i]);
        for (size_t i = 3; i < answers.size(); ++i) CHECK(answers[i].cached >= 101);
        const engine::Stats stats = house.engine->stats();
        CHECK(stats.cache_ram_hits >= 3);
        const uint64_t bytes_of_one = stats.cache_ram_bytes / static_cast<uint64_t>(stats.cache_ram_pieces);
        for (const uint64_t limit : {bytes_of_one / 2, 3 * bytes_of_one / 2}) {
            EngineHouse small(model, with_memory(limit));
            for (const Question& question : questions) {
                CHECK(small.ask(question).is_whole());
                CHECK(small.engine->stats().cache_ram_bytes <= limit);
            }
        }
    }
}

TEST_CASE("engine: when the n-th call of a copy throws, nobody's text changes") {
    using enum Call::Kind;
    for (const test::ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        const std::vector<Question> questions = chats(model);
        const std::vector<std::string> texts = test::texts_alone(model, questions);
        for (const Call::Kind kind : {remove, share, save, restore}) {
            for (const bool is_late : {false, true}) {
                int calls = 0;
                for (int n = 1; n == 1 || calls >= n; ++n) {
                    CAPTURE(model->info().architecture);
                    CAPTURE(static_cast<int>(kind));
                    CAPTURE(is_late);
                    CAPTURE(n);
                    EngineHouse house(model, with_memory(1 << 24));
                    calls = 0;
                    const auto fail_once = [&](const Call& call) {
                        return call.kind == kind && ++calls == n;
                    };
                    const test::WithFaults with({.other = fail_once, .is_late = is_late});
                    const std::vector<Answer> answers = ask_in_turn(house, questions);
                    int failed = 0;
                    for (size_t i = 0; i < answers.size(); ++i) {
                        failed += answers[i].error.has_value() ? 1 : 0;
                        CHECK_EQ(answers[i].text, answers[i].error ? "" : texts[i]);
                    }
                    CHECK(failed <= (kind == share || kind == restore ? 1 : 0));
                    CHECK_EQ(test::faults().misplaced, 0);
                }
                CHECK(calls > 0);
            }
        }
    }
}

TEST_CASE("engine: what was about to be kept when a context was torn is not kept in half") {
    const test::ModelPtr model = test::tiny_lfm2();
    const std::vector<base::Token> end{model->info().eos};
    const auto message = [&](int32_t seed, int32_t count) {
        return test::joined(test::words(seed, count), end);
    };
    EngineHouse house(model, with_memory(1 << 24));
    const std::vector<base::Token> system = message(1, 40);
    house.ask({.prompt = test::joined(message(2, 40), message(3, 60)), .tokens = 3});
    house.ask({.prompt = test::joined(system, message(4, 60)), .tokens = 3});
    const Question next{.prompt = test::joined(system, message(5, 60)), .tokens = 3};
    {
        // It begins with the second chat's system message, and the first chat goes for it.
        bool is_failed = false;
        const auto fail_once = [&](const Call& call) {
            return call.kind == Call::Kind::share && !std::exchange(is_failed, true);
        };
        const test::WithFaults with({.other = fail_once});
        CHECK_EQ(house.ask(next).error, base::Code::engine_failed);
    }
    CHECK_EQ(house.engine->stats().cache_ram_bytes, 0);
    CHECK_EQ(house.ask(next).text, EngineHouse(model).ask(next).text);
}

TEST_CASE("engine: copies that always fail leave everything to be computed") {
    using enum Call::Kind;
    for (const test::ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        const std::vector<Question> questions = chats(model);
        const std::vector<std::string> texts = test::texts_alone(model, questions);
        for (const Call::Kind kind : {save, restore}) {
            CAPTURE(model->info().architecture);
            CAPTURE(static_cast<int>(kind));
            EngineHouse house(model, with_memory(1 << 24));
            const test::WithFaults with({.other = [&](const Call& call) { return call.kind == kind; }});
            const std::vector<Answer> answers = ask_in_turn(house, questions);
            for (size_t i = 0; i < answers.size(); ++i)
                CHECK_EQ(answers[i].text, answers[i].error ? "" : texts[i]);
            CHECK_EQ(house.engine->stats().cache_ram_hits, 0);
            if (kind == save) CHECK_EQ(house.engine->stats().cache_ram_bytes, 0);
        }
    }
}

TEST_CASE("engine: what is kept when it is stopped at any moment is right for the next one") {
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("ingle-stopped-" + std::to_string(std::random_device()()));
    for (const test::ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        CAPTURE(model->info().architecture);
        const std::vector<Question> questions = test::questions(model);
        const std::vector<std::string> texts = test::texts_alone(model, questions);
        engine::EngineOptions options = with_memory(1 << 24);
        options.state_file = {.path = file.string()};
        for (int32_t delay = 0; delay < 20; ++delay) {
            {
                EngineHouse house(model, options);
                for (const Question& question : questions) house.submit(question);
                std::this_thread::sleep_for(std::chrono::microseconds(delay * 500));
                house.engine->stop();
            }
            EngineHouse next(model, options);
            for (size_t i = 0; i < questions.size(); ++i) CHECK_EQ(next.ask(questions[i]).text, texts[i]);
        }
        std::filesystem::remove(file);
    }
}

TEST_CASE(
    "host memory: a checkpoint that there is no memory for is not kept, and its piece will not be made") {
    engine::HostMemory memory(1 << 24);
    const std::vector<uint8_t> small(100);
    const std::vector<uint8_t> large(1 << 20);
    const test::ShortMemory is_short(large.size() - 1);
    std::thread([&] {
        memory.keep(1, 10, small);
        memory.keep(1, 20, large);
    }).join();
    CHECK_EQ(memory.bytes(), small.size());
    CHECK(!memory.find(1)->is_whole);
    memory.discard(1);
    CHECK_EQ(memory.bytes(), 0);
}
