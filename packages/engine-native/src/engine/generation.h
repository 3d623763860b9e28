// One request while the engine works on it: its sampler, its text, its clock. The scheduler has its tokens and its
// place; this knows the rest. Engine thread only.
#pragma once

#include "base/types.h"
#include "engine/events.h"
#include "engine/slow_sampling.h"
#include "engine/text_stream.h"
#include "llama/grammar/constraint.h"
#include "llama/model/model.h"
#include "llama/sampling/sampler.h"
#include "llama/vision/vision.h"
#include "sched/turns.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace engine {

using Clock = std::chrono::steady_clock;

/// A request as it comes in: checked, complete, plain data.
struct GenerationRequest {
    base::RequestId id;
    std::string client;
    std::vector<base::Token> prompt;
    /// Those that are in the prompt, or were before it was cut.
    llama_rt::ImageParts images;
    llama_rt::Sampling sampling;
    /// At least 1.
    int32_t generate_max;
    std::vector<std::string> stops;
    bool ignore_eos;
    bool uses_cache;
    /// What may be dropped at the context's end; without, prompt and generate_max together fit the context.
    std::optional<sched::Turns> turns;
    /// Tokens that were cut out of the prompt because it did not fit.
    int32_t dropped;
    /// Null: any text.
    std::shared_ptr<const llama_rt::Constraint> constraint;
    /// How many of the likeliest tokens are told for each token; -1 tells no probabilities at all.
    int32_t logprobs;
    Clock::time_point submitted;
};

class Generation {
public:
    Generation(const llama_rt::Model& model, GenerationRequest request);

    /// The first of its tokens is about to be computed, `cached` of them were found computed. Again, after a
    /// preemption, nothing changes.
    void start(int32_t cached, Clock::time_point now);

    /// Its oldest turns were dropped, `tokens` in all, because it had filled the context.
    void drop(int32_t tokens) { dropped_ += tokens; }
    /// So many of its tokens more were found.
    void find(int32_t tokens) { cached_ += tokens; }

    struct Sampled {
        base::Token token;
        /// The generation ends with it.
        bool is_last;
    };
    /// The token after these logits. Nothing when its grammar takes more than `share`: then sampling is slow, and goes on
    /// from a copy of them with go_on().
    std::optional<Sampled> sample(float* logits, llama_rt::Candidates& candidates, llama_rt::WorkShare& share,
                                  Clock::time_point now);

    /// Goes on with slow sampling, for at most `steps`, which become fewer. True when its token is there; throws what
    /// sampling throws.
    bool go_on(size_t& steps);

    /// Once go_on() was true: that token. It is also what sample() gives when its logits were computed anew meanwhile.
    Sampled take_slow_token(Clock::time_point now);

    /// A turn computed so many guesses of its tokens, and so many were right.
    void count_drafts(int32_t drafted, int32_t accepted);

    /// Text that has become showable since the last call; empty when there is none.
    TextEvent take_text();

    FinishEvent finish(Clock::time_point now) const;
    FinishEvent cancelled(Clock::time_point now) const;

private:
    void begin_slowly(std::span<const float> logits);
    Sampled note(base::Token token, const float* logits, llama_rt::Candidates& candidates,
                 Clock::time_point now);
    bool take(base::Token token);
    void append_piece(base::Token token, std::string& bytes) const;
    void note_logprobs(base::Token token, const float* logits, llama_rt::Candidates& candidates);
    FinishEvent record(FinishReason reason, Clock::time_point now) const;

    const llama_rt::Model& model_;
    const GenerationRequest request_;
    llama_rt::Sampler sampler_;
    TextStream stream_;
    int32_t cached_ = 0;
    int32_t dropped_;
    int32_t generated_ = 0;
    int32_t drafted_ = 0;
    int32_t accepted_ = 0;
    FinishReason reason_ = FinishReason::stop;

    std::string piece_;
    std::string text_;
    int32_t text_tokens_ = 0;
    std::vector<TokenLogprobs> text_logprobs_;

    Clock::time_point started_{};
    Clock::time_point first_token_{};

    struct Slow {
        std::vector<float> logits;
        llama_rt::Candidates candidates;
        std::optional<base::Token> token;
        /// Last, and so the first to go: it uses the rest, and the sampler.
        std::optional<SlowSampling> sampling;
    };
    /// Null while sampling is not slow. Last, for the same reason.
    std::unique_ptr<Slow> slow_;
};

} // namespace engine
