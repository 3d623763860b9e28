// The engine with grammars that take long to follow: they are followed to their end, and nobody else waits for them.
#include "check.h"
#include "engine_house.h"
#include "engine_questions.h"
#include "llama/grammar/grammars.h"
#include "llama_faults.h"

#include <memory>
#include <string>
#include <vector>

using engine::Engine;
using test::Answer;
using test::EngineHouse;
using test::Question;

namespace {

/// A grammar that stands at 2^depth places before its first letter: whatever is looked at there, is looked at so often.
std::string ambiguous(int depth) {
    const auto name = [](int i) {
        return i == 0 ? std::string("root") : std::string("r").append(std::to_string(i));
    };
    std::string rules;
    for (int i = 0; i < depth; ++i)
        rules += name(i) + " ::= " + name(i + 1) + " \"x\" | " + name(i + 1) + " \"y\"\n";
    return rules + name(depth) + " ::= \"z\"\n";
}

/// Steps that its first token takes at the least: each place is come to, and looked at for each of 64 likely tokens and
/// for each byte that a token may begin with (llama/stack_set.cpp has eight looks in a step).
constexpr size_t steps_of(int depth) {
    return (size_t{1} << depth) * (1 + (64 + 200) / 8);
}

std::shared_ptr<const llama_rt::Constraint> constraint_of(const test::ModelPtr& model,
                                                          const std::string& grammar) {
    auto constraint = llama_rt::Constraint::from_grammar(model->grammars(), grammar);
    if (!constraint) throw std::runtime_error(constraint.error().message);
    return *constraint;
}

} // namespace

TEST_CASE("engine: a grammar that takes long delays nobody's tokens by more than a bounded number of steps") {
    const test::ModelPtr model = test::tiny_llama();
    constexpr int kDepth = 18;
    // So many steps of the engine its first token takes; all of them give the other one a token.
    constexpr auto kSteps = static_cast<int32_t>(steps_of(kDepth) / Engine::kGrammarStepsSlowly);
    static_assert(kSteps > 12);
    const Question other{.prompt = test::words(1, 6), .tokens = kSteps};
    const std::string alone = test::texts_alone(model, {other})[0];
    EngineHouse house(model);
    const Question hostile{
        .prompt = test::words(2, 6), .tokens = 1, .constraint = constraint_of(model, ambiguous(kDepth))};
    const std::vector<Answer> answers = house.ask_all({other, hostile});
    CHECK_EQ(answers[0].text, alone);
    CHECK(answers[0].place < answers[1].place);
    CHECK(answers[1].text.starts_with("z"));
    CHECK(answers[1].reason == engine::FinishReason::length);
}

TEST_CASE(
    "engine: a grammar that takes long is followed to its end, whatever else fails, waits or gives way") {
    const test::ModelPtr model = test::tiny_llama();
    const std::vector<Question> questions = test::questions(model);
    const std::vector<std::string> texts = test::texts_alone(model, questions);
    // The smallest that is slow.
    const Question hostile{
        .prompt = test::words(40, 9), .tokens = 40, .constraint = constraint_of(model, ambiguous(15))};
    const std::string text = EngineHouse(model).ask(hostile).text;
    CHECK_EQ(text.size(), 16); // a letter, and one for each rule
    std::vector<Question> all = questions;
    all.insert(all.begin() + 1, hostile);
    int decodes = 0;
    for (int n = 1; n == 1 || decodes >= n; n += 4) {
        CAPTURE(n);
        EngineHouse house(model);
        decodes = 0;
        const test::WithFaults with({.decode = [&](const llama_batch&) {
            return ++decodes == n ? test::Fault::late_thrown : test::Fault::none;
        }});
        const std::vector<Answer> answers = house.ask_all(all);
        CHECK_EQ(answers[1].text, text);
        for (size_t i = 0; i < questions.size(); ++i) CHECK_EQ(answers[i == 0 ? 0 : i + 1].text, texts[i]);
        CHECK_EQ(test::faults().misplaced, 0);
    }
}

TEST_CASE(
    "engine: a request whose grammar takes long is cancelled, and an engine stopped, in the middle of it") {
    const test::ModelPtr model = test::tiny_llama();
    const Question hostile{
        .prompt = test::words(2, 6), .tokens = 1, .constraint = constraint_of(model, ambiguous(18))};
    const Question other{.prompt = test::words(1, 6), .tokens = 6};
    EngineHouse house(model);
    const base::RequestId cancelled = house.submit(hostile);
    CHECK(house.ask(other).is_whole());
    house.engine->cancel(cancelled);
    CHECK(house.wait(cancelled).reason == engine::FinishReason::cancelled);
    const base::RequestId stopped = house.submit(hostile);
    CHECK(house.ask(other).is_whole());
    house.engine->stop();
    CHECK(house.wait(stopped).error == base::Code::disposed);
}
