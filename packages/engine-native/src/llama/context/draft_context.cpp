#include "llama/context/draft_context.h"

#include "../src/llama-ext.h"   // no public header has hidden states
#include "../src/llama-model.h" // nor their sizes
#include "llama/context/guarded.h"
#include "llama/model/model.h"

#include <algorithm>
#include <utility>

namespace llama {

namespace {

/// How many tokens of a prompt are read at once: they have places for logits, too, so memory grows with this.
constexpr int32_t kReadTokens = 64;

int32_t tokens_max_of(DraftContext::Size size) {
    return std::max(kReadTokens, size.together * (size.drafts + 1));
}

void size_up(llama_context_params& params, const ContextOptions& options, DraftContext::Size size) {
    // Each text that runs at a time, and the drafts after it.
    const int64_t texts = int64_t{options.sequences} * options.context_length;
    const int64_t cells = options.has_streams ? texts : std::min<int64_t>(texts, options.cells);
    params.n_ctx = static_cast<uint32_t>(cells + int64_t{size.texts} * (size.drafts + 1));
    params.n_batch = params.n_ubatch = static_cast<uint32_t>(tokens_max_of(size));
    params.n_seq_max = static_cast<uint32_t>(size.texts);
    params.n_rs_seq = 0;
    params.kv_unified = true;
}

base::Result<llama_context_params> mtp_params(const Model& model, const ContextOptions& options,
                                              DraftContext::Size size) {
    base::Result<llama_context_params> params = context_params(model, options, options.sequences);
    if (!params) return params;
    size_up(*params, options, size);
    params->n_outputs_max = static_cast<uint32_t>(size.texts);
    params->ctx_type = LLAMA_CONTEXT_TYPE_MTP;
    return params;
}

base::Result<llama_context_params> speculator_params(const Model& speculator, ContextOptions options,
                                                     DraftContext::Size size, llama_context* target) {
    // Its few layers take little memory, and need not be compressed.
    options.kv_type_k = options.kv_type_v = "f16";
    options.rope = {}; // the given ones are for the other model
    options.rollback = 0;
    base::Result<llama_context_params> params = context_params(speculator, options, options.sequences);
    if (!params) return params;
    size_up(*params, options, size);
    params->n_outputs_max = params->n_batch;
    params->ctx_other = target;
    return params;
}

size_t input_size_of(const Model& model) {
    const auto& speculator = model.info().speculator;
    if (!speculator) return static_cast<size_t>(llama_model_n_embd_out(model.raw()));
    return speculator->layers.size() * static_cast<size_t>(speculator->width);
}

} // namespace

base::Result<std::unique_ptr<DraftContext>> DraftContext::create(std::shared_ptr<const Model> model,
                                                                 const ContextOptions& options, Size size,
                                                                 const ThreadpoolPtr& threadpool) {
    const base::Result<llama_context_params> params = mtp_params(*model, options, size);
    if (!params) return std::unexpected(params.error());
    return create(std::move(model), *params, threadpool);
}

base::Result<std::unique_ptr<DraftContext>> DraftContext::create(std::shared_ptr<const Model> speculator,
                                                                 const ContextOptions& options, Size size,
                                                                 Context& target) {
    const base::Result<llama_context_params> params =
        speculator_params(*speculator, options, size, target.raw());
    if (!params) return std::unexpected(params.error());
    return create(std::move(speculator), *params, target.threadpool());
}

base::Result<std::unique_ptr<DraftContext>> DraftContext::create(std::shared_ptr<const Model> model,
                                                                 const llama_context_params& params,
                                                                 const ThreadpoolPtr& threadpool) {
    const auto create = [&] {
        std::unique_ptr<DraftContext> context(new DraftContext(model, params, threadpool));
        check_computable(context->context_.get(), params.n_outputs_max);
        return context;
    };
    return guarded_create<DraftContext>(*model, create,
                                        [&] { return context_out_of_memory(*model, params); });
}

base::Result<std::vector<MemoryUse>> DraftContext::measure(const Model& model, const ContextOptions& options,
                                                           Size size) {
    const base::Result<llama_context_params> params = mtp_params(model, options, size);
    if (!params) return std::unexpected(params.error());
    auto uses = llama::measure(model, *params);
    if (!uses) return uses;
    for (MemoryUse& use : *uses) use.weights = 0;
    std::erase_if(*uses, [](const MemoryUse& use) { return use.context + use.compute == 0; });
    return uses;
}

base::Result<std::vector<MemoryUse>> DraftContext::measure(const Model& speculator, const Model& target,
                                                           const ContextOptions& options, int32_t slots,
                                                           Size size) {
    base::Result<std::vector<MemoryUse>> uses = std::vector<MemoryUse>();
    const auto measure_beside = [&](llama_context* context) {
        const auto params = speculator_params(speculator, options, size, context);
        uses = params ? llama::measure(speculator, *params) : std::unexpected(params.error());
    };
    auto own = llama::measure(target, options, slots, measure_beside);
    if (!own || !uses) return own ? std::move(uses) : std::move(own);
    add_uses(*own, *uses);
    return own;
}

DraftContext::DraftContext(std::shared_ptr<const Model> model, const llama_context_params& params,
                           const ThreadpoolPtr& threadpool)
    : model_(std::move(model)),
      threadpool_(threadpool),
      context_(new_context(*model_, params)),
      tokens_max_(static_cast<int32_t>(llama_n_batch(context_.get()))),
      input_size_(input_size_of(*model_)),
      state_size_(static_cast<size_t>(llama_model_n_embd_out(model_->raw()))) {
    attach(context_.get(), threadpool_.get(), is_aborted_);
    const auto& speculator = model_->info().speculator;
    const bool drafts_blocks = speculator && speculator->block_drafts > 0;
    if (drafts_blocks) llama_set_causal_attn(context_.get(), speculator->is_causal);
    else llama_set_embeddings_nextn(context_.get(), true, true);
}

void DraftContext::encode(std::span<const float> inputs, std::vector<float>& states) {
    thread_.check();
    if (!model_->info().speculator) return states.assign(inputs.begin(), inputs.end());
    states.clear();
    const size_t tokens = inputs.size() / input_size_;
    for (size_t done = 0; done < tokens;) {
        const size_t count = std::min(tokens - done, static_cast<size_t>(kReadTokens));
        const float* given = inputs.data() + done * input_size_;
        const Decoded encoded = guarded_compute(*model_, is_aborted_, [&] {
            llama_batch batch{};
            batch.n_tokens = static_cast<int32_t>(count);
            batch.embd = const_cast<float*>(given); // it is only read
            return meaning_of(llama_encode(context_.get(), batch));
        });
        const float* made =
            encoded == Decoded::ok
                ? guarded<float*>(nullptr, [&] { return llama_get_embeddings_nextn(context_.get()); })
                : nullptr;
        if (made == nullptr) return states.clear();
        states.insert(states.end(), made, made + count * state_size_);
        done += count;
    }
}

Decoded DraftContext::decode(std::span<const DraftPart> parts, DraftLogits logits) {
    thread_.check();
    return guarded_compute(*model_, is_aborted_, [&] {
        fill(parts, logits);
        const llama_batch batch{.n_tokens = static_cast<int32_t>(places_.size()),
                                .token = tokens_.empty() ? nullptr : tokens_.data(),
                                .embd = states_.empty() ? nullptr : states_.data(),
                                .pos = positions_.data(),
                                .n_seq_id = counts_.data(),
                                .seq_id = place_of_.data(),
                                .logits = wants_logits_.data()};
        return meaning_of(decode_batch(*model_, context_.get(), batch));
    });
}

void DraftContext::fill(std::span<const DraftPart> parts, DraftLogits logits) {
    tokens_.clear();
    states_.clear();
    positions_.clear();
    places_.clear();
    first_output_.clear();
    last_.clear();
    wants_logits_.clear();
    // The graphs of speculators give logits of all tokens, and llama.cpp takes the first ones for those that are wanted.
    const bool are_all_given = model_->info().speculator && logits == DraftLogits::last;
    for (const DraftPart& part : parts) {
        const size_t count = part.tokens.empty() ? part.states.size() / input_size_ : part.tokens.size();
        INGLE_ASSERT(count > 0 && places_.size() + count <= tokens_max());
        tokens_.insert(tokens_.end(), part.tokens.begin(), part.tokens.end());
        states_.insert(states_.end(), part.states.begin(), part.states.end());
        for (size_t i = 0; i < count; ++i) positions_.push_back(part.first + static_cast<int32_t>(i));
        const auto begin = static_cast<int32_t>(places_.size());
        places_.insert(places_.end(), count, part.place);
        last_.push_back(static_cast<int32_t>(places_.size()) - 1);
        first_output_.push_back(logits == DraftLogits::all ? begin : last_.back());
        wants_logits_.insert(wants_logits_.end(), count, logits == DraftLogits::all || are_all_given ? 1 : 0);
        if (logits == DraftLogits::last) wants_logits_.back() = 1;
    }
    // States without tokens have all four positions of M-RoPE, of which text has the first three alike.
    if (tokens_.empty() && llama_model_rope_type(model_->raw()) == LLAMA_ROPE_TYPE_MROPE) {
        const std::vector<llama_pos> once = positions_;
        for (int i = 0; i < 2; ++i) positions_.insert(positions_.end(), once.begin(), once.end());
        positions_.insert(positions_.end(), once.size(), 0);
    }
    counts_.assign(places_.size(), 1);
    place_of_.clear();
    for (llama_seq_id& place : places_) place_of_.push_back(&place);
}

const float* DraftContext::logits(size_t part, size_t output) {
    thread_.check();
    const int32_t index = first_output_[part] + static_cast<int32_t>(output);
    float* logits = guarded<float*>(nullptr, [&] { return llama_get_logits_ith(context_.get(), index); });
    model_->suppress(logits);
    return logits;
}

const float* DraftContext::state(size_t part) {
    thread_.check();
    return guarded<float*>(nullptr,
                           [&] { return llama_get_embeddings_nextn_ith(context_.get(), last_[part]); });
}

bool DraftContext::remove(int32_t place, int32_t from) {
    thread_.check();
    return guarded(false, [&] {
        return llama_memory_seq_rm(llama_get_memory(context_.get()), place, from == 0 ? -1 : from, -1);
    });
}

void DraftContext::clear() {
    thread_.check();
    llama_memory_clear(llama_get_memory(context_.get()), false);
}

} // namespace llama
