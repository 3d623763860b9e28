#include "llama/context/mtp_context.h"

#include "../src/llama-ext.h" // no public header has hidden states
#include "llama/context/guarded.h"
#include "llama/model/model.h"

#include <algorithm>

namespace llama_rt {

namespace {

base::Result<llama_context_params> to_params(const Model& model, const ContextOptions& options) {
    base::Result<llama_context_params> params = context_params(model, options, options.sequences);
    if (!params) return params;
    // Each text that runs at a time, and the drafts after it.
    const int64_t tokens = options.sequences * static_cast<int64_t>(MtpContext::kTextTokensMax);
    const int64_t texts = int64_t{options.sequences} * options.context_length;
    const int64_t cells = options.has_streams ? texts : std::min<int64_t>(texts, options.cells);
    params->n_ctx = static_cast<uint32_t>(cells + tokens);
    params->n_batch = params->n_ubatch = static_cast<uint32_t>(tokens);
    params->n_seq_max = static_cast<uint32_t>(options.sequences);
    params->n_outputs_max = static_cast<uint32_t>(options.sequences);
    params->n_rs_seq = 0;
    params->kv_unified = true;
    params->ctx_type = LLAMA_CONTEXT_TYPE_MTP;
    return params;
}

} // namespace

base::Result<std::unique_ptr<MtpContext>> MtpContext::create(std::shared_ptr<const Model> model,
                                                             const ContextOptions& options,
                                                             const ThreadpoolPtr& threadpool) {
    const base::Result<llama_context_params> params = to_params(*model, options);
    if (!params) return std::unexpected(params.error());
    const auto create = [&] {
        std::unique_ptr<MtpContext> context(new MtpContext(model, *params, threadpool));
        check_computable(context->context_.get(), params->n_outputs_max);
        return context;
    };
    return guarded_create<MtpContext>(*model, create, [&] { return context_out_of_memory(*model, *params); });
}

base::Result<std::vector<MemoryUse>> MtpContext::measure(const Model& model, const ContextOptions& options) {
    const base::Result<llama_context_params> params = to_params(model, options);
    if (!params) return std::unexpected(params.error());
    auto uses = llama_rt::measure(model, *params);
    if (!uses) return uses;
    for (MemoryUse& use : *uses) use.weights = 0;
    std::erase_if(*uses, [](const MemoryUse& use) { return use.context + use.compute == 0; });
    return uses;
}

MtpContext::MtpContext(std::shared_ptr<const Model> model, const llama_context_params& params,
                       const ThreadpoolPtr& threadpool)
    : model_(std::move(model)),
      threadpool_(threadpool),
      context_(new_context(*model_, params)),
      state_size_(static_cast<size_t>(llama_model_n_embd_out(model_->raw()))) {
    attach(context_.get(), threadpool_.get(), is_aborted_);
    llama_set_embeddings_nextn(context_.get(), true, true);
}

Decoded MtpContext::decode(std::span<const MtpPart> parts) {
    thread_.check();
    return guarded_compute(*model_, is_aborted_, [&] {
        fill(parts);
        const llama_batch batch{.n_tokens = static_cast<int32_t>(tokens_.size()),
                                .token = tokens_.data(),
                                .embd = states_.data(),
                                .pos = positions_.data(),
                                .n_seq_id = counts_.data(),
                                .seq_id = place_of_.data(),
                                .logits = wants_logits_.data()};
        return meaning_of(decode_batch(*model_, context_.get(), batch));
    });
}

void MtpContext::fill(std::span<const MtpPart> parts) {
    tokens_.clear();
    states_.clear();
    positions_.clear();
    places_.clear();
    last_.clear();
    wants_logits_.clear();
    for (const auto& [place, first, tokens, states] : parts) {
        INGLE_ASSERT(!tokens.empty() && tokens.size() <= kTextTokensMax);
        for (int32_t i = 0; i < std::ssize(tokens); ++i) positions_.push_back(first + i);
        tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
        states_.insert(states_.end(), states, states + tokens.size() * state_size_);
        places_.insert(places_.end(), tokens.size(), place);
        wants_logits_.insert(wants_logits_.end(), tokens.size() - 1, 0);
        wants_logits_.push_back(1);
        last_.push_back(static_cast<int32_t>(tokens_.size()) - 1);
    }
    counts_.assign(tokens_.size(), 1);
    place_of_.clear();
    for (llama_seq_id& place : places_) place_of_.push_back(&place);
}

const float* MtpContext::logits(size_t part) {
    thread_.check();
    return guarded<float*>(nullptr, [&] { return llama_get_logits_ith(context_.get(), last_[part]); });
}

const float* MtpContext::state(size_t part) {
    thread_.check();
    return guarded<float*>(nullptr,
                           [&] { return llama_get_embeddings_nextn_ith(context_.get(), last_[part]); });
}

bool MtpContext::remove(int32_t place, int32_t from) {
    thread_.check();
    return guarded(false, [&] {
        return llama_memory_seq_rm(llama_get_memory(context_.get()), place, from == 0 ? -1 : from, -1);
    });
}

void MtpContext::clear() {
    thread_.check();
    llama_memory_clear(llama_get_memory(context_.get()), false);
}

} // namespace llama_rt
