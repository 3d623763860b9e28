// One request for text while it is in flight: its sampler, its text, its times. The scheduler has its tokens and its place; this
// class has the rest. Engine thread only.
#pragma once

#include "base/types.h"
#include "engine/events.h"
#include "engine/slow_sampling.h"
#include "engine/text_stream.h"
#include "llama/grammar/constraint.h"
#include "llama/model/model.h"
#include "llama/sampling/sampler.h"
#include "llama/vision/vision.h"
#include "sched/context_shift.h"

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace engine {

using Clock = std::chrono::steady_clock;

/// A request as it enters the engine: checked, complete, plain data.
struct GenerationRequest {
    base::RequestId id;
    std::string client;
    std::vector<base::Token> prompt;
    /// The prompt's images, including those in a part that was cut.
    llama_rt::ImageParts images;
    llama_rt::Sampling sampling;
    /// At least 1.
    int32_t generate_max;
    std::vector<std::string> stops;
    bool ignore_eos;
    bool uses_cache;
    /// What may be dropped when the context is full; without it, prompt and generate_max together fit the context.
    std::optional<sched::ChatTurns> turns;
    /// Tokens that were cut out of the prompt because it did not fit.
    int32_t dropped;
    /// Null allows any text.
    std::shared_ptr<const llama_rt::Constraint> constraint;
    /// How many of the likeliest tokens to report with each token; -1 reports no probabilities at all.
    int32_t logprobs;
    Clock::time_point submitted;
};

class Generation {
public:
    Generation(const llama_rt::Model& model, GenerationRequest request);

    /// Its first token is about to be computed; `cached` tokens were in the prefix cache. A later start, after a preemption,
    /// changes nothing.
    void start(int32_t cached, Clock::time_point now);

    /// Its oldest chat turns were dropped, `tokens` in all, because it had filled the context.
    void count_dropped(int32_t tokens) { dropped_ += tokens; }
    /// So many of its tokens were swapped in instead of being computed.
    void count_swapped_in(int32_t tokens) { cached_ += tokens; }

    struct Sampled {
        base::Token token;
        /// The generation ends with it.
        bool is_last;
    };
    /// Samples the token after these logits. Nothing if its grammar takes more than `share`: sampling is slow then, and goes on
    /// from a copy of the logits with go_on().
    std::optional<Sampled> sample(float* logits, llama_rt::Candidates& candidates, llama_rt::WorkShare& share,
                                  Clock::time_point now);

    /// Goes on with slow sampling for at most `steps`, and subtracts what it used. True if the token is there; throws what
    /// sampling throws.
    bool go_on(size_t& steps);

    /// The token, once go_on() was true. sample() returns it too, if the logits were computed again meanwhile.
    Sampled take_slow_token(Clock::time_point now);

    /// A step computed so many drafts, and so many were accepted.
    void count_drafts(int32_t drafted, int32_t accepted);

    /// The text that can be shown since the last call; empty if there is none.
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
        /// Last, so destroyed first: it uses the rest, and the sampler.
        std::optional<SlowSampling> sampling;
    };
    /// Null unless sampling is slow. Last, for the same reason.
    std::unique_ptr<Slow> slow_;
};

/// The generations in flight.
using Generations = std::unordered_map<base::RequestId, std::unique_ptr<Generation>>;

/// Why a request ends that could not be computed: `out_of_memory` or `engine_failed`.
base::Error not_computed(base::Code code);
base::Error not_computed(const std::exception& error);

} // namespace engine
