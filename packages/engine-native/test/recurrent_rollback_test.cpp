// Taking drafts back from recurrent state (LFM2), at random: whatever sequences are computed, copied, saved and restored in between,
// each continues from the state of its own text.
#include "check.h"
#include "engine/limits.h"
#include "engine_harness.h"
#include "llama/context/context.h"
#include "random.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

using llama::BatchPart;
using llama::Context;
using llama::Decoded;
using test::Random;
using test::Token;

namespace {

constexpr uint64_t kSeeds = 12;
constexpr int32_t kSteps = 120;
constexpr int32_t kSlots = 5;
constexpr int32_t kRollback = 3;
constexpr size_t kLengthMax = 40;

using Tokens = std::vector<Token>;

std::unique_ptr<Context> context_of(const test::ModelPtr& model, int32_t rollback) {
    llama::ContextOptions options = test::few_places().context;
    options.sequences = kSlots;
    options.cells = 2 * (kSlots + 1) * options.context_length;
    options.rollback = rollback;
    auto context = Context::create(model, options, kSlots);
    if (!context) throw std::runtime_error(context.error().message);
    return std::move(*context);
}

/// The logits after a text that is computed as a whole.
class RollbackReference {
public:
    explicit RollbackReference(const test::ModelPtr& model)
        : context_(context_of(model, 0)), vocabulary_(static_cast<size_t>(model->info().vocabulary_size)) {}

    bool equals(const Tokens& text, const float* logits) {
        context_->clear();
        for (size_t first = 0; first < text.size();) {
            const size_t count = std::min<size_t>(text.size() - first, 16);
            const BatchPart part{.slot = 0,
                                 .first = static_cast<int32_t>(first),
                                 .tokens = std::span(text).subspan(first, count),
                                 .wants_logits = true};
            REQUIRE(context_->decode(std::span(&part, 1)) == Decoded::ok);
            first += count;
        }
        const std::span<const float> expected(context_->logits(0), vocabulary_);
        const std::span<const float> actual(logits, vocabulary_);
        const auto [low, high] = std::ranges::minmax(expected);
        double apart = 0;
        for (size_t i = 0; i < vocabulary_; ++i)
            apart = std::max(apart, std::abs(static_cast<double>(expected[i]) - actual[i]));
        return apart < 0.02 * static_cast<double>(high - low);
    }

private:
    std::unique_ptr<Context> context_;
    const size_t vocabulary_;
};

/// What was saved of a sequence, and its text then.
template <class T>
struct Saved {
    Tokens text;
    T state;
};

class Life {
public:
    Life(uint64_t seed, const test::ModelPtr& model)
        : random_(seed), context_(context_of(model, kRollback)), reference_(model), texts_(kSlots) {}

    void run() {
        for (int32_t step = 0; step < kSteps; ++step) {
            CAPTURE(step);
            const int32_t kind = random_.between(1, 10);
            if (kind <= 6) compute();
            else if (kind == 7) save();
            else if (kind == 8) share();
            else if (kind == 9) copy();
            else empty(any_slot());
        }
    }

    int32_t taken_back() const { return taken_back_; }
    int32_t refused() const { return refused_; }

private:
    struct Part {
        int32_t slot;
        Token token;
        Tokens drafts;
    };

    int32_t any_slot() { return random_.between(0, kSlots - 1); }
    Tokens& text_of(int32_t slot) { return texts_[static_cast<size_t>(slot)]; }

    void empty(int32_t slot) {
        CHECK(context_->remove(slot, 0));
        text_of(slot).clear();
    }

    /// One token of some sequences, in any order, with equally many drafts or, now and then, not.
    void compute() {
        std::vector<int32_t> slots;
        for (int32_t slot = 0; slot < kSlots; ++slot) {
            if (text_of(slot).size() > kLengthMax) empty(slot);
            if (random_.chance(60))
                slots.insert(slots.begin() + random_.between(0, static_cast<int32_t>(slots.size())), slot);
        }
        if (slots.empty()) return;
        const bool are_equal = random_.chance(80);
        const int32_t drafts = random_.between(0, kRollback);
        std::vector<Part> parts;
        for (const int32_t slot : slots) {
            Part part{.slot = slot, .token = random_.between(100, 900), .drafts = {}};
            const int32_t count = are_equal ? drafts : random_.between(0, kRollback);
            for (int32_t i = 0; i < count; ++i) part.drafts.push_back(random_.between(100, 900));
            parts.push_back(std::move(part));
        }
        std::vector<BatchPart> batch;
        for (const Part& part : parts)
            batch.push_back({.slot = part.slot,
                             .first = static_cast<int32_t>(text_of(part.slot).size()),
                             .tokens = std::span(&part.token, 1),
                             .wants_logits = true,
                             .drafts = part.drafts});
        REQUIRE(context_->decode(batch) == Decoded::ok);
        for (size_t i = 0; i < parts.size(); ++i) accept(i, parts[i], are_equal);
    }

    /// Takes back the drafts after some of them.
    void accept(size_t index, const Part& part, bool are_equal) {
        Tokens& text = text_of(part.slot);
        const auto accepted =
            static_cast<size_t>(random_.between(0, static_cast<int32_t>(part.drafts.size())));
        text.push_back(part.token);
        text.insert(text.end(), part.drafts.begin(),
                    part.drafts.begin() + static_cast<std::ptrdiff_t>(accepted));
        CAPTURE(part.slot);
        CHECK(reference_.equals(text, context_->logits(index, accepted)));
        if (accepted == part.drafts.size()) return;
        const bool is_taken_back = context_->remove(part.slot, static_cast<int32_t>(text.size()));
        CHECK(is_taken_back || !are_equal);
        (is_taken_back ? taken_back_ : refused_) += 1;
        if (!is_taken_back) empty(part.slot);
    }

    void save() {
        const int32_t slot = any_slot();
        if (text_of(slot).empty()) return;
        checkpoints_.push_back({text_of(slot), context_->save(slot)});
        CHECK(!checkpoints_.back().state.empty());
    }

    /// Another sequence begins with a part of a longer one whose state was saved there.
    void share() {
        if (checkpoints_.empty()) return;
        const auto& [text, state] = random_.one_of(checkpoints_);
        const int32_t from = any_slot();
        const int32_t to = any_slot();
        const auto [end, _] = std::ranges::mismatch(text, text_of(from));
        if (from == to || end != text.end()) return;
        empty(to);
        REQUIRE(context_->share(from, to, 0, static_cast<int32_t>(text.size())));
        REQUIRE(context_->restore(to, state));
        text_of(to) = text;
    }

    /// Out of the context, or back into an empty sequence.
    void copy() {
        const int32_t slot = any_slot();
        const auto length = static_cast<int32_t>(text_of(slot).size());
        if (length > 0 && random_.chance(50)) {
            copies_.push_back({text_of(slot), context_->copy_out(slot, 0, length, uint64_t{1} << 30)});
            CHECK(copies_.back().state.bytes != nullptr);
            return;
        }
        if (copies_.empty()) return;
        const auto& [text, state] = random_.one_of(copies_);
        empty(slot);
        REQUIRE(context_->copy_in(slot, {.state = state,
                                         .first = 0,
                                         .length = static_cast<int32_t>(text.size()),
                                         .checkpoint = nullptr}));
        text_of(slot) = text;
    }

    Random random_;
    std::unique_ptr<Context> context_;
    RollbackReference reference_;
    std::vector<Tokens> texts_;
    std::vector<Saved<std::vector<uint8_t>>> checkpoints_;
    std::vector<Saved<llama::State>> copies_;
    int32_t taken_back_ = 0;
    int32_t refused_ = 0;
};

} // namespace

TEST_CASE(
    "recurrent state: whatever happens to sequences, taking drafts back leaves each the state of its text") {
    const test::ModelPtr model = test::tiny_lfm2();
    int32_t taken_back = 0;
    int32_t refused = 0;
    for (const uint64_t seed : test::seeds(kSeeds)) {
        CAPTURE(seed);
        Life life(seed, model);
        life.run();
        taken_back += life.taken_back();
        refused += life.refused();
    }
    CHECK(taken_back > 40 * static_cast<int32_t>(kSeeds));
    // Where a batch was computed in pieces, some states have moved.
    CHECK(refused > 0);
    CHECK(refused < taken_back / 4);
}

TEST_CASE("recurrent state: the memory for taking drafts back limits their number, and too little of it is "
          "an error") {
    const test::ModelPtr model = test::tiny_lfm2();
    llama::ContextOptions options = test::few_places().context;
    CHECK_EQ(engine::options_for(*model, options).rollback, 16);
    options.batch_tokens = 6;
    CHECK_EQ(engine::options_for(*model, options).rollback, 4);
    options.batch_tokens = 24;
    options.sequences = 30'000; // a kilobyte each
    const int32_t rollback = engine::options_for(*model, options).rollback;
    CHECK(rollback > 0);
    CHECK(rollback < 16);
    options.sequences = 1'000'000;
    const llama::ContextOptions large = engine::options_for(*model, options);
    CHECK_EQ(large.rollback, 0);
    CHECK(!engine::check_rollback(*model, large, "speculation"));
    CHECK(engine::check_rollback(*test::tiny_llama(), large, "speculation").has_value());
}

TEST_CASE("limits: drafts of layers for multi-token prediction may take more memory to take back if they are "
          "requested by name") {
    const test::ModelPtr model = test::tiny_qwen35();
    llama::ContextOptions options = test::few_places().context;
    options.mtp = "auto";
    CHECK(engine::options_for(*model, options).has_mtp);
    options.sequences = 1'000'000;
    CHECK(!engine::options_for(*model, options).has_mtp);
    options.mtp = "on";
    CHECK(engine::options_for(*model, options).has_mtp);
    CHECK_EQ(engine::options_for(*model, options).rollback, 3);
    options.mtp = "off";
    CHECK(!engine::options_for(*model, options).has_mtp);
    CHECK_EQ(engine::options_for(*model, options).rollback, 0);
    // Without such layers, it is an error.
    options = test::few_places().context;
    options.mtp = "on";
    CHECK(!engine::check_context(*test::tiny_llama(), options).has_value());
    CHECK(engine::check_context(*model, options).has_value());
}
