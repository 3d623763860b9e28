// The engine with grammars that take long to follow: they are followed to their end, and no other request waits for them.
#include "check.h"
#include "engine_harness.h"
#include "engine_requests.h"
#include "grammar/grammars.h"
#include "llama_faults.h"

#include <memory>
#include <string>
#include <vector>

using engine::TokenSampler;
using test::EngineHarness;
using test::Reply;
using test::TextRequest;

namespace {

/// A grammar that is at 2^depth places at once before its first letter, so every check is repeated that often.
std::string ambiguous(int depth) {
    const auto name = [](int i) {
        return i == 0 ? std::string("root") : std::string("r").append(std::to_string(i));
    };
    std::string rules;
    for (int i = 0; i < depth; ++i)
        rules += name(i) + " ::= " + name(i + 1) + " \"x\" | " + name(i + 1) + " \"y\"\n";
    return rules + name(depth) + " ::= \"z\"\n";
}

/// Least matching steps for its first token: each place is reached, and checked for each of 64 likely tokens and for each byte
/// that a token may begin with (stack_set.cpp counts eight checks as a step).
constexpr size_t steps_of(int depth) {
    return (size_t{1} << depth) * (1 + (64 + 200) / 8);
}

std::shared_ptr<const grammar::Constraint> constraint_of(const test::ModelPtr& model,
                                                         const std::string& grammar) {
    auto constraint = grammar::Constraint::from_grammar(model->grammars(), grammar);
    if (!constraint) throw std::runtime_error(constraint.error().message);
    return *constraint;
}

} // namespace

TEST_CASE("engine: a grammar that takes long delays no other token by more than a bounded number of steps") {
    const test::ModelPtr model = test::tiny_llama();
    constexpr int kDepth = 18;
    // Engine steps that its first token takes; each of them gives the other request a token.
    constexpr auto kSteps = static_cast<int32_t>(steps_of(kDepth) / TokenSampler::kGrammarStepsSlowly);
    static_assert(kSteps > 12);
    const TextRequest other{.prompt = test::words(1, 6), .tokens = kSteps};
    const std::string alone = test::texts_alone(model, {other})[0];
    EngineHarness harness(model);
    const TextRequest hostile{
        .prompt = test::words(2, 6), .tokens = 1, .constraint = constraint_of(model, ambiguous(kDepth))};
    const std::vector<Reply> replies = harness.generate_all({other, hostile});
    CHECK_EQ(replies[0].text, alone);
    CHECK(replies[0].place < replies[1].place);
    CHECK(replies[1].text.starts_with("z"));
    CHECK(replies[1].reason == engine::FinishReason::length);
}

TEST_CASE(
    "engine: a grammar that takes long is followed to its end, whatever else fails, waits or is preempted") {
    const test::ModelPtr model = test::tiny_llama();
    const std::vector<TextRequest> requests = test::requests(model);
    const std::vector<std::string> texts = test::texts_alone(model, requests);
    // The least depth that is slow.
    const TextRequest hostile{
        .prompt = test::words(40, 9), .tokens = 40, .constraint = constraint_of(model, ambiguous(15))};
    const std::string text = EngineHarness(model).generate(hostile).text;
    CHECK_EQ(text.size(), 16); // a letter, and one for each rule
    std::vector<TextRequest> all = requests;
    all.insert(all.begin() + 1, hostile);
    int decodes = 0;
    for (int n = 1; n == 1 || decodes >= n; n += 4) {
        CAPTURE(n);
        EngineHarness harness(model);
        decodes = 0;
        const test::WithFaults with({.decode = [&](const llama_batch&) {
            return ++decodes == n ? test::Fault::late_thrown : test::Fault::none;
        }});
        const std::vector<Reply> replies = harness.generate_all(all);
        CHECK_EQ(replies[1].text, text);
        for (size_t i = 0; i < requests.size(); ++i) CHECK_EQ(replies[i == 0 ? 0 : i + 1].text, texts[i]);
        CHECK_EQ(test::faults().misplaced, 0);
    }
}

TEST_CASE("engine: a request can be cancelled, and an engine stopped, in the middle of slow sampling") {
    const test::ModelPtr model = test::tiny_llama();
    const TextRequest hostile{
        .prompt = test::words(2, 6), .tokens = 1, .constraint = constraint_of(model, ambiguous(18))};
    const TextRequest other{.prompt = test::words(1, 6), .tokens = 6};
    EngineHarness harness(model);
    const base::RequestId cancelled = harness.submit(hostile);
    CHECK(harness.generate(other).is_whole());
    harness.engine->cancel(cancelled);
    CHECK(harness.wait(cancelled).reason == engine::FinishReason::cancelled);
    const base::RequestId stopped = harness.submit(hostile);
    CHECK(harness.generate(other).is_whole());
    harness.engine->stop();
    CHECK(harness.wait(stopped).error == base::Code::disposed);
}
