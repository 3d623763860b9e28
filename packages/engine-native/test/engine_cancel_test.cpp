// The engine on tiny models while people leave: at random moments, with and without faults beside it. Who stays gets the
// text that it gets alone.
#include "check.h"
#include "engine_house.h"
#include "engine_questions.h"
#include "llama_faults.h"
#include "random.h"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

using test::Answer;
using test::EngineHouse;
using test::Fault;
using test::Question;
using test::Random;

namespace {

/// One in so many decodes fails, while there are faults.
constexpr int32_t kFaultPercent = 5;

/// Asks all of them again and again among others that come and go. Returns how many of those left early.
int storm(Random& random, EngineHouse& house, const std::vector<Question>& stay,
          const std::vector<std::string>& texts) {
    std::vector<base::RequestId> staying;
    std::vector<base::RequestId> leaving;
    for (const Question& question : stay) {
        staying.push_back(house.submit(question));
        for (int i = random.between(0, 3); i > 0; --i) {
            Question other = random.one_of(stay);
            other.tokens = 60;
            leaving.push_back(house.submit(other));
        }
        if (random.chance(50)) std::this_thread::sleep_for(std::chrono::microseconds(random.below(3000)));
        // Some of them twice, and some when they have ended.
        for (int i = random.between(0, 3); i > 0 && !leaving.empty(); --i)
            house.engine->cancel(random.one_of(leaving));
    }
    for (const base::RequestId id : leaving) house.engine->cancel(id);
    for (size_t i = 0; i < stay.size(); ++i) {
        const Answer answer = house.wait(staying[i]);
        CAPTURE(i);
        CHECK(answer.is_whole());
        CHECK_EQ(answer.text, texts[i]);
    }
    int left = 0;
    for (const base::RequestId id : leaving)
        left += house.wait(id).reason == engine::FinishReason::cancelled ? 1 : 0;
    return left;
}

} // namespace

TEST_CASE("engine: a storm of cancels changes nobody else's text, whether or not decodes fail beside it") {
    for (const test::ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        const std::vector<Question> stay = test::questions(model);
        const std::vector<std::string> texts = test::texts_alone(model, stay);
        for (const bool has_faults : {false, true}) {
            int left = 0;
            for (const uint64_t seed : test::seeds(12)) {
                CAPTURE(model->info().architecture);
                CAPTURE(has_faults);
                CAPTURE(seed);
                Random random(seed);
                Random random_fault(seed);
                // Together only: one that fails alone is to blame, and ends.
                const auto fail_some = [&](const llama_batch& batch) {
                    const bool is_together = *batch.seq_id[0] != *batch.seq_id[batch.n_tokens - 1];
                    if (!has_faults || !is_together || !random_fault.chance(kFaultPercent))
                        return Fault::none;
                    return random_fault.one_of(
                        std::vector<Fault>{Fault::refused, Fault::no_memory, Fault::broken_midway});
                };
                EngineHouse house(model);
                const test::WithFaults with({.decode = fail_some});
                left += storm(random, house, stay, texts);
                CHECK_EQ(test::faults().misplaced, 0);
            }
            CHECK(left > 0);
        }
    }
}
