// The engine on tiny models while requests are cancelled at random moments, with and without faults. The others get the texts that
// they get alone.
#include "check.h"
#include "engine_harness.h"
#include "engine_requests.h"
#include "llama_faults.h"
#include "random.h"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

using test::EngineHarness;
using test::Fault;
using test::Random;
using test::Reply;
using test::TextRequest;

namespace {

/// Share of decodes that fail, while there are faults.
constexpr int32_t kFaultPercent = 5;

/// Submits all of `stay` among others that are cancelled. Returns how many of those were cancelled before their end.
int storm(Random& random, EngineHarness& harness, const std::vector<TextRequest>& stay,
          const std::vector<std::string>& texts) {
    std::vector<base::RequestId> staying;
    std::vector<base::RequestId> leaving;
    for (const TextRequest& request : stay) {
        staying.push_back(harness.submit(request));
        for (int i = random.between(0, 3); i > 0; --i) {
            TextRequest other = random.one_of(stay);
            other.tokens = 60;
            leaving.push_back(harness.submit(other));
        }
        if (random.chance(50)) std::this_thread::sleep_for(std::chrono::microseconds(random.below(3000)));
        // Some are cancelled twice, and some after their end.
        for (int i = random.between(0, 3); i > 0 && !leaving.empty(); --i)
            harness.engine->cancel(random.one_of(leaving));
    }
    for (const base::RequestId id : leaving) harness.engine->cancel(id);
    for (size_t i = 0; i < stay.size(); ++i) {
        const Reply reply = harness.wait(staying[i]);
        CAPTURE(i);
        CHECK(reply.is_whole());
        CHECK_EQ(reply.text, texts[i]);
    }
    int left = 0;
    for (const base::RequestId id : leaving)
        left += harness.wait(id).reason == engine::FinishReason::cancelled ? 1 : 0;
    return left;
}

} // namespace

TEST_CASE("engine: a storm of cancels changes no other text, whether or not decodes fail beside it") {
    for (const test::ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        const std::vector<TextRequest> stay = test::requests(model);
        const std::vector<std::string> texts = test::texts_alone(model, stay);
        for (const bool has_faults : {false, true}) {
            int left = 0;
            for (const uint64_t seed : test::seeds(12)) {
                CAPTURE(model->info().architecture);
                CAPTURE(has_faults);
                CAPTURE(seed);
                Random random(seed);
                Random random_fault(seed);
                // Only batches of several sequences: one that fails alone twice ends.
                const auto fail_some = [&](const llama_batch& batch) {
                    const bool is_together = *batch.seq_id[0] != *batch.seq_id[batch.n_tokens - 1];
                    if (!has_faults || !is_together || !random_fault.chance(kFaultPercent))
                        return Fault::none;
                    return random_fault.one_of(
                        std::vector<Fault>{Fault::refused, Fault::no_memory, Fault::broken_midway});
                };
                EngineHarness harness(model);
                const test::WithFaults with({.decode = fail_some});
                left += storm(random, harness, stay, texts);
                CHECK_EQ(test::faults().misplaced, 0);
            }
            CHECK(left > 0);
        }
    }
}
