// engine::Speculation: drafts are computed where they make replies faster, and nowhere else.
#include "engine/speculation.h"

#include "check.h"
#include "engine/ngram_drafter.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

using base::Token;
using engine::Draft;
using engine::Drafter;
using engine::NgramDrafter;
using engine::Speculation;

namespace {

std::unique_ptr<NgramDrafter> ngrams() {
    return std::make_unique<NgramDrafter>(NgramDrafter::Scope::every_request);
}

/// Replies on a machine with these costs: the first `repeating` of them repeat themselves, the others never do.
struct Machine {
    std::function<double(int32_t tokens)> ms;
    int32_t decoding = 1;
    int32_t repeating = 1;
};

struct Run {
    double ms = 0;
    int32_t tokens = 0;
    int32_t drafted = 0;
    double step_ms_max = 0;

    double speed() const { return tokens / ms; }
};

/// Takes drafts as an engine does: accepted ones advance the text.
class Replies {
public:
    explicit Replies(const Machine& machine)
        : machine_(machine), texts_(static_cast<size_t>(machine.decoding)) {
        for (size_t i = 0; i < texts_.size(); ++i) {
            speculation_.begin(i + 1, {}, "");
            for (int32_t count = 0; count < 30; ++count) texts_[i].push_back(next(i));
        }
    }

    void step(Run& run) {
        speculation_.begin_step(machine_.decoding, 64);
        int32_t computed = machine_.decoding;
        int32_t given = 0;
        for (size_t i = 0; i < texts_.size(); ++i) {
            const auto drafts = speculation_.draft(i + 1, texts_[i], 8);
            computed += static_cast<int32_t>(drafts.size());
            run.drafted += static_cast<int32_t>(drafts.size());
            size_t right = 0;
            for (bool is_right = true; is_right; ++right) {
                const Token token = next(i);
                is_right = right < drafts.size() && drafts[right] == token;
                texts_[i].push_back(token);
            }
            given += static_cast<int32_t>(right);
        }
        run.tokens += given;
        speculation_.observe(computed, given, machine_.ms(computed));
        run.ms += machine_.ms(computed);
        run.step_ms_max = std::max(run.step_ms_max, machine_.ms(computed));
    }

    Run steps(int count) {
        Run run;
        for (int i = 0; i < count; ++i) step(run);
        return run;
    }

private:
    Token next(size_t i) {
        const auto length = static_cast<Token>(texts_[i].size());
        return i < static_cast<size_t>(machine_.repeating) ? length % 20
                                                           : (length % 4 == 3 ? 1000 + length : length % 4);
    }

    Machine machine_;
    Speculation speculation_{ngrams(), nullptr, 8};
    std::vector<std::vector<Token>> texts_;
};

/// As measured on two cores with a model of a billion weights.
double two_cores(int32_t tokens) {
    return tokens == 1 ? 38 : tokens == 2 ? 56 : 90 + 9.0 * (tokens - 3);
}

/// Weights are read once a step, and hardly anything else takes time.
double gpu(int32_t tokens) {
    return 8 + 0.01 * tokens;
}

} // namespace

TEST_CASE("speculation: a text that repeats itself is twice as fast on two cores, and eight times on a GPU") {
    CHECK(Replies({.ms = two_cores}).steps(100).speed() > 2 / two_cores(1));
    CHECK(Replies({.ms = gpu}).steps(100).speed() > 7 / gpu(1));
}

TEST_CASE(
    "speculation: a text whose repetitions always end in something new is not slowed down by two percent") {
    const Run run = Replies({.ms = two_cores, .repeating = 0}).steps(1000);
    CHECK(run.speed() > 0.98 / two_cores(1));
    CHECK(run.drafted < 20);
}

TEST_CASE("speculation: if a token costs as much beside others as alone, drafts stop after a few trials") {
    const Run run = Replies({.ms = [](int32_t tokens) { return 20.0 * tokens; }}).steps(2000);
    CHECK(run.speed() > 0.98 / 20);
}

TEST_CASE("speculation: with a full step on two cores it stops by itself") {
    const Run run =
        Replies({.ms = [](int32_t tokens) { return 16.0 * tokens; }, .decoding = 8, .repeating = 8})
            .steps(500);
    CHECK(run.speed() > 0.98 * 8 / (16.0 * 8));
    CHECK(run.drafted < 200);
}

TEST_CASE("speculation: a reply that gains does not slow the others down, except for a trial") {
    Replies replies({.ms = two_cores, .decoding = 2, .repeating = 1});
    static_cast<void>(replies.steps(20));
    CHECK(replies.steps(200).ms < 200 * 1.1 * two_cores(2));
}

TEST_CASE("speculation: if more tokens cost next to nothing, all of several texts gain") {
    const Run run = Replies({.ms = gpu, .decoding = 4, .repeating = 4}).steps(100);
    CHECK(run.speed() > 4 * 5 / gpu(4));
}

TEST_CASE("speculation: where all of several texts repeat themselves, a step may become as much longer as it "
          "pays") {
    // A pass over the weights takes as long as 16 tokens.
    const auto ms = [](int32_t tokens) { return 16.0 + tokens; };
    Replies replies({.ms = ms, .decoding = 4, .repeating = 4});
    static_cast<void>(replies.steps(100));
    const Run run = replies.steps(400);
    CHECK(run.speed() > 2.5 * 4 / ms(4));
    CHECK(run.step_ms_max > 1.5 * ms(4));
    // One of them does not: it is not slowed down for the others.
    Replies others({.ms = ms, .decoding = 4, .repeating = 3});
    static_cast<void>(others.steps(100));
    CHECK(others.steps(400).step_ms_max < 1.1 * ms(4) + 1);
}

TEST_CASE("speculation: a reply that repeats an earlier one is twice as fast on two cores, also where its "
          "own text does not") {
    Speculation speculation(ngrams(), nullptr, 16);
    const auto ms_of_reply = [&](base::RequestId id) {
        double ms = 0;
        speculation.begin(id, {}, "");
        std::vector<Token> text{1, 2, 3, 4, 100};
        while (text.size() < 300) {
            speculation.begin_step(1, 64);
            const auto drafts = speculation.draft(id, text, 16);
            int32_t given = 0;
            for (bool is_right = true; is_right; ++given) {
                const auto token = static_cast<Token>(96 + text.size());
                is_right = given < std::ssize(drafts) && drafts[static_cast<size_t>(given)] == token;
                text.push_back(token);
            }
            const auto computed = static_cast<int32_t>(drafts.size()) + 1;
            speculation.observe(computed, given, two_cores(computed));
            ms += two_cores(computed);
        }
        speculation.forget(id);
        return ms;
    };
    const double alone = ms_of_reply(1);
    CHECK(alone >= 295 * two_cores(1));
    static_cast<void>(ms_of_reply(2)); // how far earlier replies can be trusted is not known yet
    CHECK(ms_of_reply(3) < alone / 2);
}

TEST_CASE("speculation: a request that has ended is forgotten, and a new one begins without its past") {
    Speculation speculation(ngrams(), nullptr, 8);
    std::vector<Token> text;
    for (Token i = 0; i < 60; ++i) text.push_back(i % 20);
    speculation.observe(1, 1, 10);
    speculation.observe(9, 9, 11);
    speculation.begin(1, {}, "");
    const auto guessed = [&] {
        speculation.begin_step(1, 64);
        return speculation.draft(1, text, 8).size();
    };
    CHECK(guessed() > 0);
    speculation.forget(1);
    speculation.begin(1, {}, "");
    text = {1, 2, 3, 4, 5};
    CHECK_EQ(guessed(), 0);
}

namespace {

/// A draft model, or layers that draft, for texts that count up to twenty again and again. Every `wrong_every`th of its drafts is
/// rejected.
struct CountingModel {
    /// It reads for so many calls before it drafts.
    int reads = 0;
    double read_ms = 40;
    Token wrong_every = 1000;
    /// How sure it is of its drafts.
    double chance = 0.9;
    /// How long it takes, for each draft of all texts and beside them.
    double took_ms = 10;
    double each_ms = 0;
    int32_t texts_max = 1;
    int asked = 0;
    int32_t most = 0;
    bool is_reading = false;

    Drafter::Cost cost() const {
        return is_reading ? Drafter::Cost{.drafting_ms = 0, .reading_ms = read_ms}
                          : Drafter::Cost{.drafting_ms = took_ms + each_ms * most, .drafts = most};
    }
};

class CountingDrafter final : public Drafter {
public:
    explicit CountingDrafter(CountingModel& model) : model_(model) {}

    int32_t texts_max() const override { return model_.texts_max; }
    void prepare(std::span<const sched::DecodingText>, int32_t most) override {
        model_.asked += 1;
        model_.most = most;
        model_.is_reading = model_.asked <= model_.reads;
    }
    std::span<const Draft> draft(base::RequestId, std::span<const Token> text, int32_t most) override {
        drafts_.clear();
        for (int32_t i = 0; i < std::min(most, model_.most) && !model_.is_reading; ++i) {
            const Token next = static_cast<Token>(text.size()) + i;
            const bool is_wrong = next % model_.wrong_every == 0;
            drafts_.push_back({.token = is_wrong ? -1 : next % 20, .chance = model_.chance});
        }
        return drafts_;
    }
    Cost cost() const override { return model_.cost(); }

private:
    CountingModel& model_;
    std::vector<Draft> drafts_;
};

/// Steps of so many texts, and the milliseconds that they took, with the drafter's.
Run steps_with(CountingModel& model, int steps, const std::function<double(int32_t)>& ms, int32_t count = 1) {
    Speculation speculation(ngrams(), std::make_unique<CountingDrafter>(model), 4);
    std::vector<std::vector<Token>> texts(static_cast<size_t>(count), {0, 1, 2});
    Run run;
    for (int step = 0; step < steps; ++step) {
        speculation.begin_step(count, 64);
        const int asked = model.asked;
        std::vector<sched::DecodingText> decoding;
        for (size_t i = 0; i < texts.size(); ++i) decoding.push_back({.id = i + 1, .tokens = texts[i]});
        speculation.prepare(decoding);
        int32_t computed = count;
        int32_t given = 0;
        for (size_t i = 0; i < texts.size(); ++i) {
            const auto drafts = speculation.draft(i + 1, texts[i], 8);
            CHECK(drafts.size() <= 4);
            computed += static_cast<int32_t>(drafts.size());
            int32_t own = 0;
            for (bool is_right = true; is_right; ++own) {
                const Token token = static_cast<Token>(texts[i].size()) % 20;
                is_right = own < std::ssize(drafts) && drafts[static_cast<size_t>(own)] == token;
                texts[i].push_back(token);
            }
            given += own;
        }
        speculation.observe(computed, given, ms(computed));
        run.ms +=
            ms(computed) + (model.asked > asked ? model.cost().drafting_ms + model.cost().reading_ms : 0);
        run.tokens += given;
        run.drafted += computed - count;
    }
    return run;
}

} // namespace

TEST_CASE("speculation: a draft model whose drafts are accepted makes a reply faster") {
    CountingModel model;
    const Run run = steps_with(model, 300, gpu);
    CHECK(run.speed() > 2 / gpu(1));
}

TEST_CASE("speculation: a draft model that is nearly always rejected, or too slow, rests") {
    CountingModel wrong;
    wrong.wrong_every = 1;
    CHECK(steps_with(wrong, 6000, gpu).speed() > 0.97 / gpu(1));
    CHECK(wrong.asked < 200);
    CountingModel slow;
    slow.took_ms = 80;
    CHECK(steps_with(slow, 6000, gpu).speed() > 0.95 / gpu(1));
}

TEST_CASE("speculation: reading a long prompt does not count against a draft model's drafts") {
    CountingModel model;
    model.reads = 60;
    constexpr int kSteps = 200;
    const Run run = steps_with(model, kSteps, gpu);
    // It is asked again as soon as it has read; now and then a step has no drafts, for comparison.
    CHECK(model.asked > kSteps - 10);
    CHECK(run.drafted > 4 * (kSteps - model.reads - 20));
}

TEST_CASE("speculation: a draft model whose drafts do not pay rests longer if it had much to read") {
    CountingModel wrong;
    wrong.wrong_every = 1;
    CountingModel reader = wrong;
    reader.reads = 60;
    constexpr int kSteps = 3000;
    steps_with(wrong, kSteps, gpu);
    steps_with(reader, kSteps, gpu);
    CHECK(reader.asked - reader.reads < wrong.asked / 4);
}

TEST_CASE("speculation: a draft model is not asked beside other replies") {
    CountingModel model;
    Speculation speculation(ngrams(), std::make_unique<CountingDrafter>(model), 4);
    const std::vector<Token> text{0, 1, 2};
    speculation.observe(2, 2, 10);
    speculation.begin_step(2, 64);
    speculation.prepare(
        std::vector<sched::DecodingText>{{.id = 1, .tokens = text}, {.id = 2, .tokens = text}});
    CHECK(speculation.draft(1, text, 8).empty());
    CHECK(speculation.draft(2, text, 8).empty());
    CHECK_EQ(model.asked, 0);
}

TEST_CASE("speculation: layers that draft for all texts together make all of them faster") {
    CountingModel layers{.took_ms = 1, .each_ms = 1, .texts_max = 8};
    CHECK(steps_with(layers, 400, gpu, 8).speed() > 2.5 * 8 / gpu(8));
}

TEST_CASE("speculation: where each draft costs much, fewer are made") {
    const auto ms = [](int32_t tokens) { return 16.0 + 4 * tokens; };
    CountingModel cheap{.took_ms = 0, .each_ms = 1};
    static_cast<void>(steps_with(cheap, 200, ms));
    CHECK_EQ(cheap.most, 4);
    CountingModel dear{.chance = 0.7, .took_ms = 0, .each_ms = 8};
    static_cast<void>(steps_with(dear, 200, ms));
    CHECK_EQ(dear.most, 1);
}

TEST_CASE("speculation: layers whose drafts are rejected cost less than two percent, with one text and with "
          "eight") {
    for (const int32_t texts : {1, 8}) {
        CountingModel layers{.wrong_every = 1, .took_ms = 0, .each_ms = 4, .texts_max = 8};
        CHECK(steps_with(layers, 6000, two_cores, texts).speed() > 0.98 * texts / two_cores(texts));
    }
}
