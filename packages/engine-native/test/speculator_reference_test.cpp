// Drafts of speculators, compared with those that llama.cpp alone computes from a text in one piece: whatever a text's chunks are, beside
// which other texts they are computed, and which drafts were taken back before.
#include "../src/llama-ext.h"
#include "check.h"
#include "engine/block_drafter.h"
#include "engine/chain_drafter.h"
#include "engine_harness.h"
#include "llama/context/draft_context.h"
#include "llama_reference.h"
#include "random.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

using engine::Draft;
using llama::Context;
using llama::DraftContext;
using llama::Speculator;
using test::ModelPtr;
using test::Random;
using test::Token;

namespace {

constexpr int32_t kTexts = 3;
constexpr int32_t kDrafts = 3;
/// More than what a hybrid model computes together of each text, so that it computes a batch in another order.
constexpr size_t kChunkMax = 8;

using Tokens = std::vector<Token>;

template <class T>
T of(base::Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(*result);
}

const Speculator& info_of(const ModelPtr& speculator) {
    return *speculator->info().speculator;
}

/// The likeliest token of this output of the last batch.
Token likeliest_at(llama_context* context, int32_t index) {
    const std::span logits(llama_get_logits_ith(context, index),
                           static_cast<size_t>(llama_vocab_n_tokens(test::vocab_of(context))));
    return static_cast<Token>(std::ranges::max_element(logits) - logits.begin());
}

/// A batch of one text, with logits of every token.
struct OneText {
    OneText(const Tokens& tokens, const std::vector<float>& states, int32_t first, size_t count)
        : counts(count, 1), places(count, &place), outputs(count, 1) {
        for (size_t i = 0; i < count; ++i) positions.push_back(first + static_cast<int32_t>(i));
        batch = {.n_tokens = static_cast<int32_t>(count),
                 .token = tokens.empty() ? nullptr : const_cast<Token*>(tokens.data()),
                 .embd = states.empty() ? nullptr : const_cast<float*>(states.data()),
                 .pos = positions.data(),
                 .n_seq_id = counts.data(),
                 .seq_id = places.data(),
                 .logits = outputs.data()};
    }
    llama_seq_id place = 0;
    std::vector<llama_pos> positions;
    std::vector<int32_t> counts;
    std::vector<llama_seq_id*> places;
    std::vector<int8_t> outputs;
    llama_batch batch{};
};

/// llama.cpp alone: a model, and a speculator for it.
class Reference {
public:
    Reference(const ModelPtr& model, const ModelPtr& speculator)
        : speculator_(speculator), model_(llama_init_from_model(model->raw(), test::exact_context(256))) {
        llama_context_params params = test::exact_context(256);
        params.type_k = params.type_v = GGML_TYPE_F16;
        params.ctx_other = model_.get();
        layers_.reset(llama_init_from_model(speculator->raw(), params));
        for (const int32_t layer : info_of(speculator).layers)
            llama_set_embeddings_layer_inp(model_.get(), static_cast<uint32_t>(layer), true);
        const bool has_blocks = info_of(speculator).block_drafts > 0;
        if (has_blocks) llama_set_causal_attn(layers_.get(), false);
        else llama_set_embeddings_nextn(layers_.get(), true, true);
    }

    /// Drafts of what follows the text, whose last token was not computed yet.
    Tokens drafts(const Tokens& text) {
        llama_memory_clear(llama_get_memory(model_.get()), true);
        llama_memory_clear(llama_get_memory(layers_.get()), true);
        const size_t count = text.size() - 1;
        OneText computed(text, {}, 0, count);
        REQUIRE_EQ(llama_decode(model_.get(), computed.batch), 0);
        const auto width = static_cast<size_t>(info_of(speculator_).width);
        std::vector<float> states;
        for (size_t i = 0; i < count; ++i) {
            for (const int32_t layer : info_of(speculator_).layers) {
                const float* rows =
                    llama_get_embeddings_layer_inp(model_.get(), static_cast<uint32_t>(layer));
                states.insert(states.end(), rows + i * width, rows + (i + 1) * width);
            }
        }
        return info_of(speculator_).block_drafts > 0 ? block(text, states) : chain(text, states);
    }

private:
    Tokens chain(const Tokens& text, const std::vector<float>& states) {
        const size_t count = text.size() - 1;
        OneText read({}, states, 0, count);
        REQUIRE_EQ(llama_encode(layers_.get(), read.batch), 0);
        const auto width = static_cast<size_t>(llama_model_n_embd_out(speculator_->raw()));
        const float* made = llama_get_embeddings_nextn(layers_.get());
        std::vector<float> encoded(made, made + count * width);
        Tokens next(text.begin() + 1, text.end());
        Tokens drafts;
        for (auto first = 0; std::ssize(drafts) < kDrafts;) {
            OneText step(next, encoded, first, next.size());
            REQUIRE_EQ(llama_decode(layers_.get(), step.batch), 0);
            const int32_t last = step.batch.n_tokens - 1;
            drafts.push_back(likeliest_at(layers_.get(), last));
            const float* state = llama_get_embeddings_nextn_ith(layers_.get(), last);
            encoded.assign(state, state + width);
            first += step.batch.n_tokens;
            next = {drafts.back()};
        }
        return drafts;
    }

    Tokens block(const Tokens& text, const std::vector<float>& states) {
        OneText read({}, states, 0, text.size() - 1);
        std::ranges::fill(read.outputs, int8_t{0});
        REQUIRE_EQ(llama_decode(layers_.get(), read.batch), 0);
        const int32_t ahead = info_of(speculator_).predicts_from_first ? 0 : 1;
        Tokens tokens(static_cast<size_t>(ahead + kDrafts), info_of(speculator_).mask);
        tokens.front() = text.back();
        OneText step(tokens, {}, static_cast<int32_t>(text.size()) - 1, tokens.size());
        REQUIRE_EQ(llama_decode(layers_.get(), step.batch), 0);
        Tokens drafts;
        for (int32_t i = 0; i < kDrafts; ++i) drafts.push_back(likeliest_at(layers_.get(), ahead + i));
        return drafts;
    }

    ModelPtr speculator_;
    llama_context_ptr model_;
    llama_context_ptr layers_;
};

llama::ContextOptions options_for(const ModelPtr& speculator, bool is_recurrent) {
    llama::ContextOptions options = test::few_places().context;
    options.cells = 4 * options.context_length;
    options.rollback = is_recurrent ? kDrafts : 0;
    options.tapped_layers = info_of(speculator).layers;
    return options;
}

std::unique_ptr<engine::Drafter> drafter_of(const ModelPtr& speculator, const llama::ContextOptions& options,
                                            Context& target) {
    const int32_t vocabulary = speculator->info().vocabulary_size;
    const bool has_blocks = info_of(speculator).block_drafts > 0;
    const auto size = has_blocks ? engine::BlockDrafter::size(kTexts, kDrafts)
                                 : engine::ChainDrafter::size(kTexts, kDrafts);
    auto layers = of(DraftContext::create(speculator, options, size, target));
    if (has_blocks)
        return std::make_unique<engine::BlockDrafter>(std::move(layers), info_of(speculator), kTexts, kDrafts,
                                                      vocabulary);
    return std::make_unique<engine::ChainDrafter>(std::move(layers), engine::Follows::all_tokens, kTexts,
                                                  kDrafts, vocabulary);
}

/// Texts that are computed together, as the engine does, and followed by a drafter.
class Together {
public:
    Together(const ModelPtr& model, const ModelPtr& speculator)
        : options_(options_for(speculator, model->info().is_recurrent)),
          context_(of(Context::create(model, options_, kTexts + 1))),
          drafter_(drafter_of(speculator, options_, *context_)) {}

    std::vector<Tokens> texts{kTexts};
    /// How many tokens of each are computed.
    std::vector<size_t> computed = std::vector<size_t>(kTexts, 0);

    /// Computes some more tokens of some texts in one batch; never the last one of a text.
    void compute_some(Random& random) {
        std::vector<llama::BatchPart> parts;
        for (int32_t slot = 0; slot < kTexts; ++slot) {
            const auto at = static_cast<size_t>(slot);
            const size_t left = texts[at].size() - 1 - computed[at];
            const size_t count = std::min<size_t>(left, random.below(kChunkMax + 1));
            if (count > 0) parts.push_back(part(slot, count, {}));
        }
        if (!parts.empty()) compute(parts);
    }

    /// Drafts for all texts, which are computed but for their last token.
    std::vector<Tokens> drafts() {
        std::vector<sched::DecodingText> known;
        for (size_t i = 0; i < kTexts; ++i) known.push_back({.id = i + 1, .tokens = texts[i]});
        drafter_->prepare(known, kDrafts);
        std::vector<Tokens> all;
        for (const auto& [id, tokens] : known) {
            all.emplace_back();
            for (const Draft& draft : drafter_->draft(id, tokens, kDrafts)) all.back().push_back(draft.token);
        }
        return all;
    }

    /// Computes the last token of each text and its drafts, of which it accepts `accepted`, then takes `next` as the token after them.
    void verify(const std::vector<Tokens>& drafts, size_t accepted, Token next) {
        for (int32_t slot = 0; slot < kTexts; ++slot) {
            const auto at = static_cast<size_t>(slot);
            const Tokens& drafted = drafts[at];
            compute({part(slot, 1, drafted)}, accepted); // one at a time: a batch has few logits
            texts[at].insert(texts[at].end(), drafted.begin(),
                             drafted.begin() + static_cast<std::ptrdiff_t>(accepted));
            computed[at] = texts[at].size();
            REQUIRE(context_->remove(slot, static_cast<int32_t>(computed[at])));
            texts[at].push_back(next);
        }
    }

private:
    llama::BatchPart part(int32_t slot, size_t count, const Tokens& drafts) const {
        const auto at = static_cast<size_t>(slot);
        return {.slot = slot,
                .first = static_cast<int32_t>(computed[at]),
                .tokens = std::span(texts[at]).subspan(computed[at], count),
                .wants_logits = true,
                .drafts = drafts};
    }

    void compute(const std::vector<llama::BatchPart>& parts, size_t accepted = 0) {
        REQUIRE(context_->decode(parts) == llama::Decoded::ok);
        for (size_t i = 0; i < parts.size(); ++i) {
            const auto& part = parts[i];
            Tokens tokens(part.tokens.begin(), part.tokens.end());
            for (const Token draft : part.drafts.first(accepted)) tokens.push_back(draft);
            std::vector<const float*> states;
            for (size_t token = 0; token < tokens.size(); ++token)
                REQUIRE(context_->add_states(i, token, states));
            drafter_->follow(static_cast<base::RequestId>(part.slot) + 1, part.first, tokens, states);
            computed[static_cast<size_t>(part.slot)] += part.tokens.size();
        }
    }

    llama::ContextOptions options_;
    std::unique_ptr<Context> context_;
    std::unique_ptr<engine::Drafter> drafter_;
};

void check_against_reference(const ModelPtr& model, const ModelPtr& speculator, uint64_t seed) {
    Random random(seed);
    Reference reference(model, speculator);
    Together together(model, speculator);
    for (Tokens& text : together.texts) {
        const size_t length = 20 + random.below(30);
        while (text.size() < length) text.push_back(1000 + static_cast<Token>(random.below(20'000)));
    }
    const auto is_left = [&] {
        for (size_t i = 0; i < kTexts; ++i)
            if (together.computed[i] + 1 < together.texts[i].size()) return true;
        return false;
    };
    while (is_left()) together.compute_some(random);
    bool is_first = true;
    // After wrong drafts, a drafter offers fewer.
    for (const bool may_be_fewer : {false, false, true}) {
        CAPTURE(may_be_fewer);
        std::vector<Tokens> drafts = together.drafts();
        for (size_t i = 0; i < kTexts; ++i) {
            CAPTURE(i);
            Tokens expected = reference.drafts(together.texts[i]);
            if (may_be_fewer) expected.resize(drafts[i].size());
            CHECK_EQ(drafts[i], expected);
        }
        if (!may_be_fewer) together.verify(drafts, is_first ? kDrafts : 1, 4321);
        is_first = false;
    }
}

} // namespace

TEST_CASE("speculators: drafts of texts in chunks and together are those of each text alone") {
    for (const ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        for (const char* file : {"INGLE_TINY_EAGLE3", "INGLE_TINY_DFLASH", "INGLE_TINY_DSPARK"}) {
            CAPTURE(model->info().architecture);
            CAPTURE(file);
            for (uint64_t seed = 1; seed <= 3; ++seed)
                check_against_reference(model, test::tiny_model(file), seed);
        }
    }
}
