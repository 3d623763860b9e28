// What one engine step may hold, and what the scheduler asks the engine while it plans the step: drafts of a sequence's next
// tokens, and whether an image is encoded.
#pragma once

#include "base/image_tokens.h"
#include "base/types.h"

#include <cstdint>
#include <span>

namespace sched {

class DraftSource {
public:
    virtual ~DraftSource() = default;

    /// Drafts of the tokens that follow `tokens`, the sequence as known so far: at most `most`, which may be 0, and none if
    /// they are not worth computing. Valid until the next call. Called once for every decoding sequence of a step without
    /// prefill.
    virtual std::span<const base::Token> draft(base::RequestId id, std::span<const base::Token> tokens,
                                               int32_t most) = 0;
};

class ImageSource {
public:
    virtual ~ImageSource() = default;

    /// Called when a sequence has reached this image. True if the image is encoded, so that this step can compute it. If
    /// not, encoding it is started or goes on.
    virtual bool prepare(base::RequestId id, base::ImageId image) = 0;
};

/// What a step may hold beside one token of each decoding sequence.
struct StepBudget {
    /// Most prompt tokens while some sequence decodes; at least 1.
    int32_t prefill_busy;
    /// Most tokens that may want logits in a step with drafts: one for each sequence that samples, including those admitted in
    /// this step, and one for each draft.
    int32_t outputs = 0;
    /// Null: no drafts. REQUIRES: no checkpoints, because recurrent state cannot be cut back after a rejected draft.
    DraftSource* drafts = nullptr;
    /// Required if prompts contain images.
    ImageSource* images = nullptr;
};

} // namespace sched
