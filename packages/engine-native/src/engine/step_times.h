// Where the time of the engine's steps goes, from phase to phase. A look at the clock takes some 25 ns, so these are always counted.
#pragma once

#include "base/fields.h"
#include "engine/events.h"
#include "llama/context/context.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace engine {

/// Totals since the engine started; times are in microseconds.
struct StepTimes {
    /// Taking in requests and planning steps.
    uint64_t schedule_us = 0;
    /// Copying, sharing and freeing cells of the KV cache, before batches.
    uint64_t cache_us = 0;
    /// Building the graphs of batches.
    uint64_t graph_us = 0;
    /// Launching them; on the processor, this is computing them.
    uint64_t launch_us = 0;
    /// Waiting until devices have computed them, and for what they copy to the host.
    uint64_t wait_us = 0;
    /// Choosing tokens.
    uint64_t sample_us = 0;
    /// Texts for embeddings.
    uint64_t embed_us = 0;
    /// Noting outcomes and handing events over.
    uint64_t publish_us = 0;
    /// What devices computed of that, from the first to the last operation of each graph by their own clocks. 0 for the processor.
    uint64_t device_us = 0;
    /// Graphs that were built, because the last one could not be used again.
    uint64_t graphs_built = 0;
    /// Bytes that batches have copied from devices to the host, or in memory on the processor: logits, candidates and hidden states.
    uint64_t output_bytes = 0;

    /// A batch took `us` with its sampling; `counts` are the context's since it was created.
    void note_batch(uint64_t us, const llama::BatchCounts& counts) {
        const uint64_t before = graph_us + launch_us + wait_us;
        const uint64_t computing = counts.graph_us + counts.launch_us + counts.wait_us - before;
        sample_us += us - std::min(us, computing);
        graph_us = counts.graph_us;
        launch_us = counts.launch_us;
        wait_us = counts.wait_us;
        device_us = counts.device_us;
        graphs_built = counts.graphs_built;
        output_bytes = counts.output_bytes;
    }
};

constexpr auto fields_of(const StepTimes*) {
    return base::rows(
        base::field("scheduleUs", &StepTimes::schedule_us), base::field("cacheUs", &StepTimes::cache_us),
        base::field("graphUs", &StepTimes::graph_us), base::field("launchUs", &StepTimes::launch_us),
        base::field("waitUs", &StepTimes::wait_us), base::field("sampleUs", &StepTimes::sample_us),
        base::field("embedUs", &StepTimes::embed_us), base::field("publishUs", &StepTimes::publish_us),
        base::field("deviceUs", &StepTimes::device_us), base::field("graphsBuilt", &StepTimes::graphs_built),
        base::field("outputBytes", &StepTimes::output_bytes));
}

/// Measures phases that follow each other.
class PhaseClock {
public:
    /// Microseconds since the last call, or since it was made.
    uint64_t lap() {
        const Clock::time_point now = Clock::now();
        const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now - last_).count();
        last_ = now;
        return static_cast<uint64_t>(us);
    }

private:
    Clock::time_point last_ = Clock::now();
};

} // namespace engine
