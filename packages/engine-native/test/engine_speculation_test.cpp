// The engine with a draft model, here the model itself, while llama.cpp fails: guesses change no text then either. The
// listener asserts after each turn that scheduler and context agree (Engine::check_integrity).
#include "check.h"
#include "engine_house.h"
#include "engine_questions.h"
#include "llama_faults.h"

#include <string>
#include <vector>

using test::Answer;
using test::Call;
using test::EngineHouse;
using test::Fault;
using test::Question;

namespace {

engine::EngineOptions with_draft_model(const test::ModelPtr& model) {
    engine::EngineOptions options = test::few_places();
    options.speculates = true;
    options.draft_model = model;
    options.draft_tokens = 4;
    return options;
}

/// One after the other: a draft model is asked while one reply runs.
std::vector<std::string> texts_of(EngineHouse& house, const std::vector<Question>& questions) {
    std::vector<std::string> texts;
    for (const Question& question : questions) texts.push_back(house.ask(question).text);
    return texts;
}

} // namespace

TEST_CASE("engine: a draft model's guesses are right, and change no text") {
    const test::ModelPtr model = test::tiny_llama();
    const std::vector<Question> questions = test::questions(model);
    const std::vector<std::string> texts = test::texts_alone(model, questions);
    EngineHouse house(model, with_draft_model(model));
    CHECK_EQ(texts_of(house, questions), texts);
    const engine::Stats stats = house.engine->stats();
    CHECK(stats.drafted_tokens > 0);
    CHECK(stats.accepted_tokens > stats.drafted_tokens / 2);
    const std::vector<Answer> together = house.ask_all(questions);
    for (size_t i = 0; i < together.size(); ++i) CHECK_EQ(together[i].text, texts[i]);
}

TEST_CASE(
    "engine: whatever way the n-th decode fails once, a model's or its draft model's, every text is whole") {
    const test::ModelPtr model = test::tiny_llama();
    const std::vector<Question> questions = test::questions(model);
    const std::vector<std::string> texts = test::texts_alone(model, questions);
    for (const Fault fault : {Fault::refused, Fault::no_cell, Fault::late_thrown, Fault::broken_midway}) {
        int decodes = 0;
        for (int n = 1; n == 1 || decodes >= n; n += 3) {
            CAPTURE(static_cast<int>(fault));
            CAPTURE(n);
            EngineHouse house(model, with_draft_model(model));
            decodes = 0;
            const test::WithFaults with(
                {.decode = [&](const llama_batch&) { return ++decodes == n ? fault : Fault::none; }});
            CHECK_EQ(texts_of(house, questions), texts);
            CHECK_EQ(test::faults().misplaced, 0);
        }
        CHECK(decodes > 20);
    }
}

TEST_CASE(
    "engine: when wrong guesses cannot be taken back, everything is computed anew and every text is whole") {
    const test::ModelPtr model = test::tiny_llama();
    const std::vector<Question> questions = test::questions(model);
    const std::vector<std::string> texts = test::texts_alone(model, questions);
    int removals = 0;
    for (int n = 1; n == 1 || removals >= n; ++n) {
        CAPTURE(n);
        EngineHouse house(model, with_draft_model(model));
        removals = 0;
        const auto fail_once = [&](const Call& call) {
            return call.kind == Call::Kind::remove && ++removals == n;
        };
        const test::WithFaults with({.other = fail_once});
        CHECK_EQ(texts_of(house, questions), texts);
        CHECK_EQ(test::faults().misplaced, 0);
    }
}
