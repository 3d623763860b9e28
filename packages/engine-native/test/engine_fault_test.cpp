// The engine on tiny models while llama.cpp fails: the n-th call, for n = 1, 2, 3 and so on until a run has fewer calls.
// The listener asserts after each step that scheduler and context agree (Engine::check_integrity).
#include "check.h"
#include "engine_harness.h"
#include "engine_requests.h"
#include "llama_faults.h"
#include "short_memory.h"

#include <algorithm>
#include <locale>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

using base::Code;
using test::Call;
using test::EngineHarness;
using test::Fault;
using test::Reply;
using test::TextRequest;

namespace {

const std::vector<Fault> kFaults = {Fault::refused,     Fault::no_cell,        Fault::no_memory,
                                    Fault::late,        Fault::late_no_memory, Fault::no_memory_thrown,
                                    Fault::late_thrown, Fault::broken_at_once, Fault::broken_midway};

/// From one n to the next. ThreadSanitizer takes forty times as long, and what it looks for does not depend on n.
#ifdef __SANITIZE_THREAD__
constexpr int kStride = 7;
#else
constexpr int kStride = 1;
#endif

std::vector<test::ModelPtr> models() {
    return {test::tiny_llama(), test::tiny_lfm2()};
}

/// Without faults, the next request gets its text, and nothing is left over.
void check_is_alive(EngineHarness& harness, const TextRequest& request, const std::string& text) {
    test::faults() = {};
    CHECK_EQ(harness.generate(request).text, text);
    const engine::Stats stats = harness.engine->stats();
    CHECK_EQ(stats.running, 0);
    CHECK_EQ(stats.waiting, 0);
}

/// Fails one request from a position on, whichever slot it has. Its first token identifies it.
class Poison {
public:
    Poison(base::Token first, llama_pos from) : first_(first), from_(from) {}

    bool is_in(const llama_batch& batch) {
        bool is_in = false;
        for (int32_t i = 0; i < batch.n_tokens; ++i) {
            const llama_seq_id slot = batch.seq_id[i][0];
            if (batch.pos[i] == 0 && batch.token[i] == first_) slot_ = slot;
            is_in |= slot == slot_ && batch.pos[i] >= from_;
        }
        return is_in;
    }

    /// From then on, the slot may belong to another request.
    void note(const Call& call) {
        const bool is_removed = call.kind == Call::Kind::remove && call.slot == slot_ && call.from == 0;
        if (is_removed || call.kind == Call::Kind::clear) slot_ = -1;
    }

private:
    base::Token first_;
    llama_pos from_;
    llama_seq_id slot_ = -1;
};

} // namespace

TEST_CASE("engine: whatever way the n-th decode fails once, every request gets its whole text") {
    for (const test::ModelPtr& model : models()) {
        const std::vector<TextRequest> requests = test::requests(model);
        const std::vector<std::string> texts = test::texts_alone(model, requests);
        for (const Fault fault : kFaults) {
            int decodes = 0;
            for (int n = 1; n == 1 || decodes >= n; n += kStride) {
                CAPTURE(model->info().architecture);
                CAPTURE(static_cast<int>(fault));
                CAPTURE(n);
                EngineHarness harness(model);
                decodes = 0;
                const auto fail_once = [&](const llama_batch&) {
                    return ++decodes == n ? fault : Fault::none;
                };
                const test::WithFaults with({.decode = fail_once});
                const std::vector<Reply> replies = harness.generate_all(requests);
                for (size_t i = 0; i < replies.size(); ++i) {
                    CAPTURE(i);
                    CHECK(replies[i].is_whole());
                    CHECK_EQ(replies[i].text, texts[i]);
                }
                CHECK_EQ(test::faults().misplaced, 0);
                check_is_alive(harness, requests[0], texts[0]);
            }
            CHECK(decodes > 20);
        }
    }
}

TEST_CASE("engine: a request that cannot be computed fails alone, in its prompt and in its reply") {
    for (const test::ModelPtr& model : models()) {
        std::vector<TextRequest> requests = test::requests(model);
        for (TextRequest& request : requests) request.tokens += 8;
        // The one without the prefix cache: it always computes its own first token.
        constexpr size_t kPoisoned = 4;
        const std::vector<std::string> texts = test::texts_alone(model, requests);
        for (const Fault fault : kFaults) {
            for (const llama_pos from : {0, 4, 5, 9, 20}) {
                CAPTURE(model->info().architecture);
                CAPTURE(static_cast<int>(fault));
                CAPTURE(from);
                EngineHarness harness(model);
                Poison poison(requests[kPoisoned].prompt[0], from);
                const test::WithFaults with(
                    {.decode =
                         [&](const llama_batch& batch) { return poison.is_in(batch) ? fault : Fault::none; },
                     .other =
                         [&](const Call& call) {
                             poison.note(call);
                             return false;
                         }});
                const std::vector<Reply> replies = harness.generate_all(requests);
                const bool is_memory = fault == Fault::no_cell || fault == Fault::no_memory ||
                                       fault == Fault::late_no_memory || fault == Fault::no_memory_thrown;
                for (size_t i = 0; i < replies.size(); ++i) {
                    CAPTURE(i);
                    if (i == kPoisoned) {
                        CHECK(replies[i].error == (is_memory ? Code::out_of_memory : Code::engine_failed));
                        CHECK(texts[i].starts_with(replies[i].text));
                    } else {
                        CHECK(replies[i].is_whole());
                        CHECK_EQ(replies[i].text, texts[i]);
                    }
                }
                CHECK_EQ(test::faults().misplaced, 0);
                check_is_alive(harness, requests[kPoisoned], texts[kPoisoned]);
            }
        }
    }
}

TEST_CASE(
    "engine: when every decode fails every request ends with an error, and later ones get their texts") {
    for (const test::ModelPtr& model : models()) {
        const std::vector<TextRequest> requests = test::requests(model);
        const std::vector<std::string> texts = test::texts_alone(model, requests);
        for (const Fault fault : kFaults) {
            CAPTURE(model->info().architecture);
            CAPTURE(static_cast<int>(fault));
            EngineHarness harness(model);
            const test::WithFaults with({.decode = [&](const llama_batch&) { return fault; }});
            for (const Reply& reply : harness.generate_all(requests)) CHECK(reply.error.has_value());
            check_is_alive(harness, requests[1], texts[1]);
        }
    }
}

TEST_CASE("engine: batches of more than one sequence that fail are computed one by one") {
    for (const test::ModelPtr& model : models()) {
        const std::vector<TextRequest> requests = test::requests(model);
        const std::vector<std::string> texts = test::texts_alone(model, requests);
        for (const Fault fault : {Fault::no_memory, Fault::late}) {
            CAPTURE(model->info().architecture);
            CAPTURE(static_cast<int>(fault));
            EngineHarness harness(model);
            const auto fail_together = [&](const llama_batch& batch) {
                const auto is_other = [&](llama_seq_id* slot) { return *slot != *batch.seq_id[0]; };
                const bool is_one = std::none_of(batch.seq_id, batch.seq_id + batch.n_tokens, is_other);
                return is_one ? Fault::none : fault;
            };
            const test::WithFaults with({.decode = fail_together});
            const std::vector<Reply> replies = harness.generate_all(requests);
            for (size_t i = 0; i < replies.size(); ++i) CHECK_EQ(replies[i].text, texts[i]);
            check_is_alive(harness, requests[0], texts[0]);
        }
    }
}

TEST_CASE("engine: a half that breaks off changes nothing of the other half") {
    engine::EngineOptions many_places = test::few_places();
    many_places.context.sequences = 6;
    many_places.context.cells = 512;
    many_places.batch_tokens_busy = 18;
    for (const test::ModelPtr& model : models()) {
        const std::vector<TextRequest> requests = test::requests(model);
        const std::vector<std::string> texts = test::texts_alone(model, requests);
        for (const Fault fault : {Fault::broken_at_once, Fault::broken_midway, Fault::late}) {
            for (const int later : {1, 2}) {
                int decodes = 0;
                for (int n = 1; n == 1 || decodes >= n; n += kStride) {
                    CAPTURE(model->info().architecture);
                    CAPTURE(static_cast<int>(fault));
                    CAPTURE(later);
                    CAPTURE(n);
                    EngineHarness harness(model, many_places);
                    decodes = 0;
                    const auto fail_twice = [&](const llama_batch&) {
                        decodes += 1;
                        if (decodes == n) return Fault::refused;
                        return decodes == n + later ? fault : Fault::none;
                    };
                    const test::WithFaults with({.decode = fail_twice});
                    const std::vector<Reply> replies = harness.generate_all(requests);
                    for (size_t i = 0; i < replies.size(); ++i) {
                        CAPTURE(i);
                        // A request that fails alone twice ends with the text that it has by then.
                        if (replies[i].error) CHECK(texts[i].starts_with(replies[i].text));
                        else CHECK_EQ(replies[i].text, texts[i]);
                    }
                    CHECK_EQ(test::faults().misplaced, 0);
                    check_is_alive(harness, requests[0], texts[0]);
                }
            }
        }
    }
}

TEST_CASE(
    "engine: when the n-th call for cells or states throws, no text changes and at most one request fails") {
    using enum Call::Kind;
    for (const test::ModelPtr& model : models()) {
        const std::vector<TextRequest> requests = test::requests(model);
        const std::vector<std::string> texts = test::texts_alone(model, requests);
        for (const Call::Kind kind : {remove, share, save, restore}) {
            for (const bool is_late : {false, true}) {
                int calls = 0;
                for (int n = 1; n == 1 || calls >= n; n += kStride) {
                    CAPTURE(model->info().architecture);
                    CAPTURE(static_cast<int>(kind));
                    CAPTURE(is_late);
                    CAPTURE(n);
                    EngineHarness harness(model);
                    calls = 0;
                    const auto fail_once = [&](const Call& call) {
                        return call.kind == kind && ++calls == n;
                    };
                    const test::WithFaults with({.other = fail_once, .is_late = is_late});
                    const std::vector<Reply> replies = harness.generate_all(requests);
                    int failed = 0;
                    for (size_t i = 0; i < replies.size(); ++i) {
                        CAPTURE(i);
                        failed += replies[i].error.has_value() ? 1 : 0;
                        CHECK(replies[i].error.value_or(Code::engine_failed) == Code::engine_failed);
                        CHECK_EQ(replies[i].text, replies[i].error ? "" : texts[i]);
                    }
                    // Only a request whose prefix could not be shared fails.
                    CHECK(failed <= (kind == share || kind == restore ? 1 : 0));
                    CHECK_EQ(test::faults().misplaced, 0);
                    check_is_alive(harness, requests[1], texts[1]);
                }
                CHECK((calls > 0) == (model->info().is_recurrent || kind == remove || kind == share));
            }
        }
    }
}

TEST_CASE("engine: calls for cells and states that always throw end in replies and errors, and later ones go "
          "well") {
    using enum Call::Kind;
    for (const test::ModelPtr& model : models()) {
        const std::vector<TextRequest> requests = test::requests(model);
        const std::vector<std::string> texts = test::texts_alone(model, requests);
        for (const Call::Kind kind : {remove, share, save, restore}) {
            CAPTURE(model->info().architecture);
            CAPTURE(static_cast<int>(kind));
            EngineHarness harness(model);
            const test::WithFaults with({.other = [&](const Call& call) { return call.kind == kind; }});
            const std::vector<Reply> replies = harness.generate_all(requests);
            for (size_t i = 0; i < replies.size(); ++i)
                CHECK_EQ(replies[i].text, replies[i].error ? "" : texts[i]);
            check_is_alive(harness, requests[1], texts[1]);
        }
    }
}

TEST_CASE("engine: a fault while a full context drops its oldest turns fails no request, and changes no "
          "other text") {
    const test::ModelPtr model = test::tiny_llama();
    std::vector<TextRequest> requests = test::requests(model);
    const std::vector<std::string> texts = test::texts_alone(model, requests);
    requests.insert(requests.begin(), {.prompt = test::words(9, 60), .tokens = 110, .uses_cache = false});
    const auto ask_with = [&](Fault fault, bool is_moving_faulty) {
        CAPTURE(static_cast<int>(fault));
        EngineHarness harness(model);
        bool has_moved = false;
        const auto note_move = [&](const Call& call) {
            if (call.kind != Call::Kind::move) return false;
            return !std::exchange(has_moved, true) && is_moving_faulty;
        };
        const auto fail_after_move = [&](const llama_batch&) {
            return has_moved ? std::exchange(fault, Fault::none) : Fault::none;
        };
        const test::WithFaults with({.decode = fail_after_move, .other = note_move});
        const std::vector<Reply> replies = harness.generate_all(requests);
        for (size_t i = 0; i < replies.size(); ++i) {
            CHECK(replies[i].is_whole());
            if (i > 0) CHECK_EQ(replies[i].text, texts[i - 1]);
        }
        CHECK(has_moved);
        CHECK_EQ(test::faults().misplaced, 0);
        const engine::Stats stats = harness.engine->stats();
        check_is_alive(harness, requests[1], texts[0]);
        return stats;
    };
    const engine::Stats undisturbed = ask_with(Fault::none, false);
    CHECK(undisturbed.context_shifts > 0);
    for (const Fault fault : kFaults) ask_with(fault, false);
    // Moved cells cannot be trusted then, and are computed again.
    CHECK(ask_with(Fault::keys_unturned, false).prompt_tokens > undisturbed.prompt_tokens);
    CHECK(ask_with(Fault::none, true).prompt_tokens > undisturbed.prompt_tokens);
}

TEST_CASE("engine: starts, without checkpoints, when a hybrid model's state cannot be measured") {
    const test::ModelPtr model = test::tiny_lfm2();
    const std::vector<TextRequest> requests = test::requests(model);
    const std::vector<std::string> texts = test::texts_alone(model, requests);
    for (const Fault fault : kFaults) {
        CAPTURE(static_cast<int>(fault));
        const test::WithFaults with({.decode = [&](const llama_batch&) { return fault; }});
        EngineHarness harness(model);
        test::faults() = {};
        const std::vector<Reply> replies = harness.generate_all(requests);
        for (size_t i = 0; i < replies.size(); ++i) {
            CHECK_EQ(replies[i].text, texts[i]);
            CHECK_EQ(replies[i].cached, 0);
        }
    }
}

TEST_CASE("engine: running out of memory for a request fails only that request") {
    const test::ModelPtr model = test::tiny_llama();
    engine::EngineOptions options = test::few_places();
    options.context.context_length = options.context.cells = 8192;
    EngineHarness harness(model, options);
    const TextRequest small{.prompt = test::words(1, 20), .tokens = 40};
    const TextRequest large{.prompt = test::words(2, 8000), .tokens = 3};
    const std::string text = harness.generate(small).text;
    const test::ShortMemory is_short(large.prompt.size() * sizeof(base::Token) - 1);
    const base::RequestId running = harness.submit(small);
    CHECK(harness.generate(large).error == Code::out_of_memory);
    CHECK_EQ(harness.wait(running).text, text);
    CHECK_EQ(harness.generate(small).text, text);
}

TEST_CASE("engine: when the n-th large allocation fails, no text changes and at most one request fails") {
    // More than the scheduler needs for a few short requests, and less than a sampler.
    constexpr size_t kLarge = 1024;
    const test::ModelPtr model = test::tiny_llama();
    const std::vector<TextRequest> requests{{.prompt = test::words(1, 20), .tokens = 3},
                                            {.prompt = test::words(2, 20), .tokens = 3, .temperature = 1}};
    const std::vector<std::string> texts = test::texts_alone(model, requests);
    engine::EngineOptions options = test::few_places();
    options.speculation = engine::SpeculationMode::ngram;
    int failures = 0;
    for (int64_t n = 1, asked = n; asked >= n; n += kStride) {
        CAPTURE(n);
        EngineHarness harness(model, options);
        std::vector<Reply> replies;
        {
            const test::ShortMemory is_short(kLarge, n);
            replies = harness.generate_all(requests);
            asked = test::ShortMemory::asked();
        }
        int failed = 0;
        for (size_t i = 0; i < replies.size(); ++i) {
            failed += replies[i].error.has_value() ? 1 : 0;
            CHECK(replies[i].error.value_or(Code::out_of_memory) == Code::out_of_memory);
            CHECK(texts[i].starts_with(replies[i].text));
            if (!replies[i].error) CHECK_EQ(replies[i].text, texts[i]);
        }
        CHECK(failed <= 1);
        failures += failed;
        check_is_alive(harness, requests[0], texts[0]);
    }
    CHECK(failures > 0);
}

TEST_CASE("engine: when the n-th large allocation of a step fails that is larger than all before, it is made "
          "smaller, and later ones go on") {
    // More than the scheduler needs, and less than the memory of a step's work.
    constexpr size_t kLarge = 16 * 1024;
    const test::ModelPtr model = test::tiny_lfm2();
    const TextRequest small{.prompt = test::words(1, 2), .tokens = 2};
    const TextRequest large{.prompt = test::words(2, 200), .tokens = 2};
    engine::EngineOptions options = test::few_places();
    options.context.batch_tokens = 64;
    options.context.context_length = options.context.cells = 512;
    const std::string text = EngineHarness(model, options).generate(small).text;
    const std::string large_text = EngineHarness(model, options).generate(large).text;
    int64_t n = 1;
    for (bool was_short = true; was_short; ++n) {
        CAPTURE(n);
        EngineHarness harness(model, options);
        CHECK_EQ(harness.generate(small).text, text);
        {
            const test::ShortMemory is_short(kLarge, n);
            CHECK_EQ(harness.generate(large).text, large_text);
            was_short = test::ShortMemory::asked() >= n;
        }
        check_is_alive(harness, large, large_text);
        check_is_alive(harness, small, text);
    }
    CHECK(n > 2);
}

namespace {

/// A ctype facet that throws once it is armed: then a pattern without case cannot be matched any more.
class ThrowingLetters final : public std::ctype<char> {
public:
    static inline bool is_armed = false;

protected:
    char do_tolower(char letter) const override {
        if (is_armed) throw std::regex_error(std::regex_constants::error_complexity);
        return std::ctype<char>::do_tolower(letter);
    }
};

} // namespace

TEST_CASE("engine: a trigger's pattern that cannot be matched fails its request, and no other") {
    const test::ModelPtr model = test::tiny_llama();
    const std::vector<TextRequest> requests = test::requests(model);
    const std::vector<std::string> texts = test::texts_alone(model, requests);
    auto constraint = std::make_shared<grammar::Constraint>(
        **grammar::Constraint::from_grammar(model->grammars(), "root ::= \"a\""));
    std::regex pattern;
    pattern.imbue(std::locale(std::locale::classic(), new ThrowingLetters));
    pattern.assign("never said", std::regex::ECMAScript | std::regex::icase);
    constraint->triggers.emplace();
    constraint->triggers->patterns.push_back({.regex = pattern, .is_whole = false});
    EngineHarness harness(model);
    std::vector<TextRequest> all = requests;
    all.insert(all.begin() + 1, {.prompt = test::words(30, 9), .tokens = 9, .constraint = constraint});
    ThrowingLetters::is_armed = true;
    const std::vector<Reply> replies = harness.generate_all(all);
    ThrowingLetters::is_armed = false;
    CHECK(replies[1].error == base::Code::engine_failed);
    for (size_t i = 0; i < requests.size(); ++i) CHECK_EQ(replies[i == 0 ? 0 : i + 1].text, texts[i]);
    CHECK(harness.generate({.prompt = test::words(31, 9), .tokens = 9, .constraint = constraint}).is_whole());
}
