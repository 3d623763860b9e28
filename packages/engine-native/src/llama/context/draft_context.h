// The context of layers that draft: from tokens of a text and hidden states that a model had at them, they predict the text's next tokens.
// They are either the model's own layers for multi-token prediction (MTP), or those of a speculator (llama/model/speculator.h).
// Single-threaded.
#pragma once

#include "base/result.h"
#include "base/threads.h"
#include "base/types.h"
#include "llama/backend/backend.h"
#include "llama/context/context.h"
#include "llama/context/context_params.h"
#include "llama/context/measure.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "llama-cpp.h"

namespace llama {

class Model;

/// A part of one text, from position `first` on: tokens, or states, or a state for each token.
struct DraftPart {
    int32_t place;
    int32_t first;
    std::span<const base::Token> tokens;
    std::span<const float> states;
};

/// Which tokens of a part have logits.
enum class DraftLogits { none, last, all };

class DraftContext {
public:
    struct Size {
        /// Texts at a time, and for how many of them drafts are computed together.
        int32_t texts;
        int32_t together;
        /// Drafts of each in one step.
        int32_t drafts;
    };

    /// For a model with ModelInfo::mtp_layers. `options` are those of its context. Fails as Context::create() does.
    static base::Result<std::unique_ptr<DraftContext>> create(std::shared_ptr<const Model> model,
                                                              const ContextOptions& options, Size size,
                                                              const ThreadpoolPtr& threadpool);

    /// For a speculator. `target` is the context of the model that it drafts for, and must outlive this; `options` are those of that
    /// context. Fails as Context::create() does.
    static base::Result<std::unique_ptr<DraftContext>> create(std::shared_ptr<const Model> speculator,
                                                              const ContextOptions& options, Size size,
                                                              Context& target);

    DraftContext(const DraftContext&) = delete;
    DraftContext& operator=(const DraftContext&) = delete;

    /// The memory that such a context takes, weights not included. Fails as measure() does.
    static base::Result<std::vector<MemoryUse>> measure(const Model& model, const ContextOptions& options,
                                                        Size size);

    /// The same for a speculator with its weights, beside a context of the model that it drafts for. Measures that one, too.
    static base::Result<std::vector<MemoryUse>> measure(const Model& speculator, const Model& target,
                                                        const ContextOptions& options, int32_t slots,
                                                        Size size);

    /// The most tokens of one batch: as many as all texts have in one step, or more.
    size_t tokens_max() const { return static_cast<size_t>(tokens_max_); }

    /// Numbers that the model's hidden states have for each token; with several layers, the first one's come first.
    size_t input_size() const { return input_size_; }

    /// Makes what decode() takes with tokens from the hidden states of the model. `states` becomes empty on failure.
    void encode(std::span<const float> inputs, std::vector<float>& states);

    /// Computes all parts in one batch. States without tokens are the model's hidden states; with tokens, they are those of encode(), or
    /// of state(). After anything but `ok`, call clear().
    Decoded decode(std::span<const DraftPart> parts, DraftLogits logits);

    /// Logits of a part's token number `output` of those that have some. Null on failure. Valid until the next decode().
    const float* logits(size_t part, size_t output = 0);

    /// The layers' own hidden state after a part's last token, which stands in for the model's one token further: state_size() numbers.
    /// Null on failure. Valid as long.
    const float* state(size_t part);
    size_t state_size() const { return state_size_; }

    /// Forgets a text's positions from `from` on; 0 forgets all of them. False if that is not possible.
    bool remove(int32_t place, int32_t from);

    /// Forgets all texts.
    void clear();

    /// Makes the current decode(), and every later one, end soon with `aborted`. Any thread.
    void abort() { is_aborted_.store(true); }

private:
    DraftContext(std::shared_ptr<const Model> model, const llama_context_params& params,
                 const ThreadpoolPtr& threadpool);
    static base::Result<std::unique_ptr<DraftContext>> create(std::shared_ptr<const Model> model,
                                                              const llama_context_params& params,
                                                              const ThreadpoolPtr& threadpool);
    void fill(std::span<const DraftPart> parts, DraftLogits logits);

    base::ThreadChecker thread_;
    std::atomic<bool> is_aborted_ = false;

    // Destroyed in reverse: the context goes before the thread pool and the model that it uses.
    std::shared_ptr<const Model> model_;
    ThreadpoolPtr threadpool_;
    llama_context_ptr context_;
    const int32_t tokens_max_;
    const size_t input_size_;
    const size_t state_size_;

    // The batch.
    std::vector<llama_token> tokens_;
    std::vector<float> states_;
    std::vector<llama_pos> positions_;
    std::vector<llama_seq_id> places_;
    std::vector<llama_seq_id*> place_of_;
    std::vector<int32_t> counts_;
    std::vector<int8_t> wants_logits_;
    /// For each part, the indices of its first token with logits and of its last token.
    std::vector<int32_t> first_output_;
    std::vector<int32_t> last_;
};

} // namespace llama
