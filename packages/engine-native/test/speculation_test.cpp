// engine::Speculation: guesses are computed where they make things faster, and nowhere else.
#include "engine/speculation.h"

#include "check.h"
#include "engine/guesser.h"

#include <algorithm>
#include <functional>
#include <vector>

using base::Token;
using engine::Speculation;

namespace {

/// Replies on a machine with these costs: the first `repeating` of them say the same again and again, the others never.
struct Machine {
    std::function<double(int32_t tokens)> ms;
    int32_t decoding = 1;
    int32_t repeating = 1;
};

struct Run {
    double ms = 0;
    int32_t tokens = 0;
    int32_t drafted = 0;
    double turn_ms_max = 0;

    double speed() const { return tokens / ms; }
};

/// Tokens that are guessed as an engine would take them: the right ones advance the text.
class House {
public:
    explicit House(const Machine& machine)
        : machine_(machine), texts_(static_cast<size_t>(machine.decoding)) {
        for (size_t i = 0; i < texts_.size(); ++i) {
            for (int32_t count = 0; count < 30; ++count) texts_[i].push_back(next(i));
        }
    }

    void turn(Run& run) {
        speculation_.begin_turn(machine_.decoding);
        int32_t computed = machine_.decoding;
        int32_t given = 0;
        for (size_t i = 0; i < texts_.size(); ++i) {
            const auto guesses = speculation_.draft(i + 1, texts_[i], 8);
            computed += static_cast<int32_t>(guesses.size());
            run.drafted += static_cast<int32_t>(guesses.size());
            size_t right = 0;
            for (bool is_right = true; is_right; ++right) {
                const Token token = next(i);
                is_right = right < guesses.size() && guesses[right] == token;
                texts_[i].push_back(token);
            }
            given += static_cast<int32_t>(right);
        }
        run.tokens += given;
        speculation_.observe(computed, given, machine_.ms(computed));
        run.ms += machine_.ms(computed);
        run.turn_ms_max = std::max(run.turn_ms_max, machine_.ms(computed));
    }

    Run turns(int count) {
        Run run;
        for (int i = 0; i < count; ++i) turn(run);
        return run;
    }

private:
    Token next(size_t i) {
        const auto length = static_cast<Token>(texts_[i].size());
        return i < static_cast<size_t>(machine_.repeating) ? length % 20
                                                           : (length % 4 == 3 ? 1000 + length : length % 4);
    }

    Machine machine_;
    Speculation speculation_;
    std::vector<std::vector<Token>> texts_;
};

/// As measured on two cores with a model of a billion weights.
double two_cores(int32_t tokens) {
    return tokens == 1 ? 38 : tokens == 2 ? 56 : 90 + 9.0 * (tokens - 3);
}

/// Weights are read once a turn, and hardly anything else takes time.
double gpu(int32_t tokens) {
    return 8 + 0.01 * tokens;
}

} // namespace

TEST_CASE("speculation: a text that repeats itself is twice as fast on two cores, and eight times on a GPU") {
    CHECK(House({.ms = two_cores}).turns(100).speed() > 2 / two_cores(1));
    CHECK(House({.ms = gpu}).turns(100).speed() > 7 / gpu(1));
}

TEST_CASE(
    "speculation: a text whose repetitions always end in something new is not slowed down by two percent") {
    const Run run = House({.ms = two_cores, .repeating = 0}).turns(1000);
    CHECK(run.speed() > 0.98 / two_cores(1));
    CHECK(run.drafted < 20);
}

TEST_CASE(
    "speculation: where a token costs as much beside others as alone, guesses stop after a few trials") {
    const Run run = House({.ms = [](int32_t tokens) { return 20.0 * tokens; }}).turns(2000);
    CHECK(run.speed() > 0.98 / 20);
}

TEST_CASE("speculation: with a full turn on two cores it gives up by itself") {
    const Run run =
        House({.ms = [](int32_t tokens) { return 16.0 * tokens; }, .decoding = 8, .repeating = 8}).turns(500);
    CHECK(run.speed() > 0.98 * 8 / (16.0 * 8));
    CHECK(run.drafted < 200);
}

TEST_CASE("speculation: one that gains does not slow the others down, but for a trial") {
    House house({.ms = two_cores, .decoding = 2, .repeating = 1});
    static_cast<void>(house.turns(20));
    CHECK(house.turns(200).ms < 200 * 1.1 * two_cores(2));
}

TEST_CASE("speculation: where more tokens cost next to nothing, all of several texts gain") {
    const Run run = House({.ms = gpu, .decoding = 4, .repeating = 4}).turns(100);
    CHECK(run.speed() > 4 * 5 / gpu(4));
}

TEST_CASE("speculation: a request that has ended is forgotten, and a new one begins without its past") {
    Speculation speculation;
    std::vector<Token> text;
    for (Token i = 0; i < 60; ++i) text.push_back(i % 20);
    speculation.observe(1, 1, 10);
    speculation.observe(9, 9, 11);
    const auto guessed = [&] {
        speculation.begin_turn(1);
        return speculation.draft(1, text, 8).size();
    };
    CHECK(guessed() > 0);
    speculation.forget(1);
    text = {1, 2, 3, 4, 5};
    CHECK_EQ(guessed(), 0);
}

namespace {

/// Says what a text that counts up to twenty again and again says next, and is wrong every `wrong_every` tokens.
struct Knowing final : engine::Guesser {
    std::span<const Guess> guess(std::span<const Token> text, int32_t most) override {
        asked += 1;
        guesses.clear();
        is_reading = asked <= reads;
        for (int32_t i = 0; i < most && !is_reading; ++i) {
            const Token next = static_cast<Token>(text.size()) + i;
            guesses.push_back({.token = next % wrong_every == 0 ? -1 : next % 20, .chance = 0.9});
        }
        return guesses;
    }
    double ms() const override { return is_reading ? 0 : took_ms; }
    double reading_ms() const override { return is_reading ? read_ms : 0; }

    /// It reads for so long before it guesses.
    int reads = 0;
    double read_ms = 40;
    bool is_reading = false;
    Token wrong_every = 1000;
    double took_ms = 10;
    int asked = 0;
    std::vector<Guess> guesses;
};

/// Turns of one text; milliseconds that they took, with the guesser's.
Run turns_with(Knowing& guesser, int turns, const std::function<double(int32_t)>& ms) {
    Speculation speculation(&guesser, 4);
    std::vector<Token> text{0, 1, 2};
    Run run;
    for (int turn = 0; turn < turns; ++turn) {
        speculation.begin_turn(1);
        const int asked = guesser.asked;
        const auto guesses = speculation.draft(1, text, 8);
        CHECK(guesses.size() <= 4);
        int32_t given = 0;
        for (bool is_right = true; is_right; ++given) {
            const Token token = static_cast<Token>(text.size()) % 20;
            is_right = given < std::ssize(guesses) && guesses[static_cast<size_t>(given)] == token;
            text.push_back(token);
        }
        const auto computed = static_cast<int32_t>(guesses.size()) + 1;
        speculation.observe(computed, given, ms(computed));
        run.ms += ms(computed) + (guesser.asked > asked ? guesser.ms() + guesser.reading_ms() : 0);
        run.tokens += given;
        run.drafted += static_cast<int32_t>(guesses.size());
    }
    return run;
}

} // namespace

TEST_CASE("speculation: a draft model that is right makes a reply faster") {
    Knowing guesser;
    const Run run = turns_with(guesser, 300, gpu);
    CHECK(run.speed() > 2 / gpu(1));
}

TEST_CASE("speculation: a draft model that is nearly always wrong, or too slow, rests") {
    Knowing wrong;
    wrong.wrong_every = 1;
    CHECK(turns_with(wrong, 6000, gpu).speed() > 0.97 / gpu(1));
    CHECK(wrong.asked < 200);
    Knowing slow;
    slow.took_ms = 80;
    CHECK(turns_with(slow, 6000, gpu).speed() > 0.95 / gpu(1));
}

TEST_CASE("speculation: what a draft model takes to read a long prompt is no loss of its guesses") {
    Knowing guesser;
    guesser.reads = 60;
    constexpr int kTurns = 200;
    const Run run = turns_with(guesser, kTurns, gpu);
    // It is asked again as soon as it has read; a turn now and then has no guesses, to be compared with.
    CHECK(guesser.asked > kTurns - 10);
    CHECK(run.drafted > 4 * (kTurns - guesser.reads - 20));
}

TEST_CASE("speculation: a draft model whose guesses do not pay rests longer when it had much to read") {
    Knowing wrong;
    wrong.wrong_every = 1;
    Knowing reader = wrong;
    reader.reads = 60;
    constexpr int kTurns = 3000;
    turns_with(wrong, kTurns, gpu);
    turns_with(reader, kTurns, gpu);
    CHECK(reader.asked - reader.reads < wrong.asked / 4);
}

TEST_CASE("speculation: a draft model is not asked beside other replies") {
    Knowing guesser;
    Speculation speculation(&guesser, 4);
    const std::vector<Token> text{0, 1, 2};
    speculation.observe(2, 2, 10);
    speculation.begin_turn(2);
    CHECK(speculation.draft(1, text, 8).empty());
    CHECK(speculation.draft(2, text, 8).empty());
    CHECK_EQ(guesser.asked, 0);
}
