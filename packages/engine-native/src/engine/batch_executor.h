// Executes a plan's batch: fills llama.cpp's batch, decodes it, and samples the entries that reach their sequence's end.
//
// When a decode fails, this class finds the sequence that caused it, so that the others still get their tokens. It computes the
// batch again in halves, and an entry that fails alone once more; if that fails too, its request fails. If the context's state is
// unknown after a failure (recurrent state moves within a batch), the cache is lost, and the batch's sequences become suspects:
// each is computed alone until it has a token, so that the next failure has only one possible cause. Engine thread only.
#pragma once

#include "engine/events.h"
#include "engine/generation.h"
#include "engine/images.h"
#include "engine/speculation.h"
#include "engine/token_sampler.h"
#include "llama/context/context.h"
#include "sched/step.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

namespace engine {

class BatchExecutor {
public:
    /// All must outlive this. `speculation` is null if there are never drafts.
    BatchExecutor(llama::Context& context, Images& images, TokenSampler& sampler, Speculation* speculation)
        : context_(context), images_(images), sampler_(sampler), speculation_(speculation) {}

    /// Adds an outcome for each entry to `step`, and failures for those that failed. Computes nothing if the cache is already
    /// lost.
    void execute(std::span<const sched::BatchEntry> batch, ExecutedStep& step);

    /// A request has ended.
    void forget(base::RequestId id) { suspects_.erase(id); }

    /// Number of prompt tokens computed so far.
    uint64_t prompt_tokens() const { return prompt_tokens_; }

private:
    using Entries = std::span<const sched::BatchEntry>;
    using Outcomes = std::span<sched::Outcome>;
    /// Only entries of one kind are computed in one batch.
    enum class Kind { text, image, whole_image };

    Kind kind_of(const sched::BatchEntry& entry) const;
    void decode(Entries entries, Outcomes outcomes, ExecutedStep& step);
    void decode_in_halves(Entries entries, Outcomes outcomes, ExecutedStep& step);
    void decode_failed(base::Code code, Entries entries, Outcomes outcomes, ExecutedStep& step);
    void fill(Entries entries);
    bool has_suspect(Entries entries) const;
    sched::Outcome sample(const sched::BatchEntry& entry, size_t part, ExecutedStep& step);
    bool has_output(size_t part, size_t output);
    void follow(const sched::BatchEntry& entry, size_t part, int32_t accepted);
    sched::Outcome fail(const sched::BatchEntry& entry, base::Error error, ExecutedStep& step);

    llama::Context& context_;
    Images& images_;
    TokenSampler& sampler_;
    Speculation* const speculation_;
    std::vector<llama::BatchPart> parts_;
    /// What an entry computed, as far as it belongs to the text, and the hidden states at these tokens.
    std::vector<base::Token> computed_;
    std::vector<const float*> states_;
    std::unordered_set<base::RequestId> suspects_;
    uint64_t prompt_tokens_ = 0;
};

} // namespace engine
