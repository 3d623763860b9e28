#include "engine/step_budgets.h"

#include <algorithm>
#include <optional>

namespace engine {

StepBudgets::StepBudgets(const Limits& limits, Speculation* speculation)
    : limits_(limits),
      prefill_(limits.batch_tokens),
      embedding_(limits.batch_tokens),
      speculation_(speculation) {}

sched::StepBudget StepBudgets::next(const sched::Counters& counters, Images& images) {
    sched::StepBudget budget{.prefill_busy = prefill_busy(counters, images),
                             .outputs = limits_.outputs,
                             .copies_evicted =
                                 !limits_.weighs_copies || copies_.pays(prefill_.prompt_token_ms()),
                             .images = &images};
    if (speculation_ == nullptr || speculation_->is_idle()) return budget;
    speculation_->begin_step(counters.decoding, std::min(limits_.outputs, limits_.batch_tokens));
    budget.drafts = speculation_;
    return budget;
}

int32_t StepBudgets::prefill_busy(const sched::Counters& counters, const Images& images) {
    if (limits_.batch_tokens_busy > 0) return limits_.batch_tokens_busy;
    return prefill_.tokens(counters.decoding, counters.prompts, images.piece_taken_ms());
}

void StepBudgets::observe(std::span<const sched::BatchEntry> batch, std::span<const sched::Outcome> outcomes,
                          double ms, bool is_computed) {
    int32_t decoding = 0;
    int32_t prompt = 0;
    int32_t drafts = 0;
    int32_t generated = 0;
    for (const sched::BatchEntry& entry : batch) {
        if (entry.tokens.size() == 1 && entry.samples) decoding += 1;
        else prompt += static_cast<int32_t>(entry.tokens.size());
        drafts += static_cast<int32_t>(entry.drafts.size());
    }
    for (const sched::Outcome& outcome : outcomes) generated += outcome.accepted + 1;
    const std::optional<UnfinishedSteps::Computed> computed = unfinished_.add(prompt, ms, is_computed);
    if (!computed) return;
    prompt = computed->prompt;
    ms = computed->ms;
    if (drafts == 0) prefill_.observe(decoding, prompt, ms);
    if (drafts == 0 && prompt == 0) embedding_.observe(decoding, 0, ms);
    if (prompt == 0 && speculation_ != nullptr) speculation_->observe(decoding + drafts, generated, ms);
}

int32_t StepBudgets::embedding_tokens(int32_t decoding) {
    if (decoding == 0) return limits_.batch_tokens;
    return limits_.batch_tokens_busy > 0 ? limits_.batch_tokens_busy : embedding_.tokens(decoding, 0);
}

void StepBudgets::observe_embedding(int32_t tokens, double ms) {
    if (tokens > 0) embedding_.observe(0, tokens, ms);
}

double StepBudgets::encoding_ms(int32_t decoding, double step_ms) const {
    const double decoding_ms = prefill_.decoding_step_ms();
    return decoding > 0 && decoding_ms > 0 ? decoding_ms : step_ms;
}

} // namespace engine
