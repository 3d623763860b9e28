// Decides how much the engine's next step may hold, from how long steps take: prefill beside decoding sequences, drafts, texts to
// embed, and the pieces of image encoding between two steps. Engine thread only, except where noted.
#pragma once

#include "engine/images.h"
#include "engine/speculation.h"
#include "engine/step_cost.h"
#include "sched/request.h"
#include "sched/step.h"

#include <cstdint>
#include <span>

namespace engine {

class StepBudgets {
public:
    struct Limits {
        /// Maximum number of tokens per step.
        int32_t batch_tokens;
        /// Maximum number of prompt tokens beside decoding sequences; 0 adapts it to measured step times.
        int32_t batch_tokens_busy;
        /// Maximum number of tokens with logits in a step with drafts.
        int32_t outputs;
        /// Whether evicted state is only copied to host memory if that takes less than computing it again: on a device with memory of
        /// its own, the copies of recurrent state may take longer.
        bool weighs_copies = false;
    };

    /// `speculation`, which must outlive this, is null if there are never drafts.
    StepBudgets(const Limits& limits, Speculation* speculation);

    /// The next step's budget. `images` must outlive the step.
    sched::StepBudget next(const sched::Counters& counters, Images& images);

    /// A batch took `ms`. `is_computed` is false if a device is still computing it.
    void observe(std::span<const sched::BatchEntry> batch, std::span<const sched::Outcome> outcomes,
                 double ms, bool is_computed);

    /// Copying the state of `tokens` tokens to host memory took `ms`.
    void observe_copies(int32_t tokens, double ms) { copies_.observe(tokens, ms); }

    /// Maximum number of tokens to embed in this step: beside decoding sequences, a batch of texts counts like a chunk of a
    /// prompt.
    int32_t embedding_tokens(int32_t decoding);
    void observe_embedding(int32_t tokens, double ms);

    /// How long a piece of image encoding may take between two steps: as long as a step that only decodes, or, if nothing
    /// decodes, as long as the last step.
    double encoding_ms(int32_t decoding, double step_ms) const;

private:
    int32_t prefill_busy(const sched::Counters& counters, const Images& images);

    const Limits limits_;
    UnfinishedSteps unfinished_;
    PrefillBudget prefill_;
    CopyCost copies_;
    /// A token of a text to embed costs more or less than one of a prompt.
    PrefillBudget embedding_;
    Speculation* const speculation_;
};

} // namespace engine
