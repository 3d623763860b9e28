// The context of a model's layers for multi-token prediction (MTP). From a token and the hidden state that the model had before it, they
// predict the token after it. Their own hidden state stands in for the model's one token further. Single-threaded.
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

namespace llama_rt {

class Model;

/// Tokens of one text, from index `first` on.
struct MtpPart {
    int32_t place;
    int32_t first;
    std::span<const base::Token> tokens;
    /// For each token, the hidden state before it: MtpContext::state_size() numbers.
    const float* states;
};

class MtpContext {
public:
    /// For a model with ModelInfo::mtp_layers, with a place for each of as many texts as `options` has sequences. Texts have at most
    /// kTextTokensMax tokens in one batch. Fails as Context::create() does.
    static base::Result<std::unique_ptr<MtpContext>> create(std::shared_ptr<const Model> model,
                                                            const ContextOptions& options,
                                                            const ThreadpoolPtr& threadpool);
    MtpContext(const MtpContext&) = delete;
    MtpContext& operator=(const MtpContext&) = delete;

    /// Enough for what a step generates, and for some steps in which a text is not computed.
    static constexpr size_t kTextTokensMax = 16;

    /// The memory that such a context takes, weights not included. Fails as measure() does.
    static base::Result<std::vector<MemoryUse>> measure(const Model& model, const ContextOptions& options);

    /// Computes all parts in one batch. A text may begin at any token; each further part continues it. After anything but `ok`, call
    /// clear().
    Decoded decode(std::span<const MtpPart> parts);

    /// Logits, and the layers' own hidden state, after a part's last token. Null on failure. Valid until the next decode().
    const float* logits(size_t part);
    const float* state(size_t part);

    /// Numbers in a hidden state.
    size_t state_size() const { return state_size_; }

    /// Forgets a text's tokens from index `from` on; 0 forgets all of them. False if that is not possible.
    bool remove(int32_t place, int32_t from);

    /// Forgets all texts.
    void clear();

    /// Makes the current decode(), and every later one, end soon with `aborted`. Any thread.
    void abort() { is_aborted_.store(true); }

private:
    MtpContext(std::shared_ptr<const Model> model, const llama_context_params& params,
               const ThreadpoolPtr& threadpool);
    void fill(std::span<const MtpPart> parts);

    base::ThreadChecker thread_;
    std::atomic<bool> is_aborted_ = false;

    // Destroyed in reverse: the context goes before the thread pool and the model that it uses.
    std::shared_ptr<const Model> model_;
    ThreadpoolPtr threadpool_;
    llama_context_ptr context_;
    const size_t state_size_;

    // The batch: each token has an id and a state.
    std::vector<llama_token> tokens_;
    std::vector<float> states_;
    std::vector<llama_pos> positions_;
    std::vector<llama_seq_id> places_;
    std::vector<llama_seq_id*> place_of_;
    std::vector<int32_t> counts_;
    std::vector<int8_t> wants_logits_;
    /// For each part, the index of its last token.
    std::vector<int32_t> last_;
};

} // namespace llama_rt
