#include "engine/batch_executor.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace engine {

using base::Code;
using sched::BatchEntry;
using sched::Outcome;

void BatchExecutor::execute(Entries batch, ExecutedStep& step) {
    std::vector<Outcome>& outcomes = step.result.outcomes;
    outcomes.assign(batch.size(), Outcome{.kind = Outcome::Kind::skipped});
    for (const FailureEvent& failure : step.failures) sampler_.forget(failure.id);
    if (batch.empty()) return;
    sampler_.begin_batch();
    const Outcomes all(outcomes);
    for (size_t begin = 0; begin < batch.size();) {
        const Kind kind = kind_of(batch[begin]);
        const auto differs = [&](const BatchEntry& entry) { return kind_of(entry) != kind; };
        const auto end = std::ranges::find_if(batch.subspan(begin), differs);
        const auto count = static_cast<size_t>(end - batch.begin()) - begin;
        decode(batch.subspan(begin, count), all.subspan(begin, count), step);
        begin += count;
    }
}

BatchExecutor::Kind BatchExecutor::kind_of(const BatchEntry& entry) const {
    if (!entry.is_image()) return Kind::text;
    return images_.is_whole(entry) ? Kind::whole_image : Kind::image;
}

/// Computes and samples entries of one kind.
void BatchExecutor::decode(Entries entries, Outcomes outcomes, ExecutedStep& step) {
    if (step.result.is_cache_lost) return;
    if (entries.size() > 1 && has_suspect(entries)) return decode_in_halves(entries, outcomes, step);
    fill(entries);
    switch (context_.decode(parts_)) {
        case llama::Decoded::ok:
            for (size_t i = 0; i < entries.size(); ++i) outcomes[i] = sample(entries[i], i, step);
            return;
        case llama::Decoded::aborted: // the engine is stopping and will end all requests
            step.result.is_cache_lost = !context_.undo(parts_);
            return;
        case llama::Decoded::worker_lost: return; // the engine will end all requests
        case llama::Decoded::failed: return decode_failed(Code::engine_failed, entries, outcomes, step);
        case llama::Decoded::out_of_memory:
            return decode_failed(Code::out_of_memory, entries, outcomes, step);
    }
}

void BatchExecutor::fill(Entries entries) {
    parts_.clear();
    for (const BatchEntry& entry : entries) {
        parts_.push_back({.slot = entry.slot,
                          .first = entry.first,
                          .tokens = entry.tokens,
                          .wants_logits = entry.samples,
                          .drafts = entry.drafts,
                          .wants_all_logits = entry.wants_all_logits,
                          .likeliest_suffice = sampler_.do_likeliest_suffice(entry, context_)});
        if (!entry.is_image()) continue;
        const auto [part, embedding] = images_.source(entry);
        parts_.back().image = part;
        parts_.back().embedding = embedding;
        parts_.back().offset = entry.image_offset;
    }
}

/// Halves, then each entry alone, twice. If the cache is lost, the entries are tried again in a later step.
void BatchExecutor::decode_failed(Code code, Entries entries, Outcomes outcomes, ExecutedStep& step) {
    step.result.is_cache_lost = !context_.undo(parts_);
    if (entries.size() > 1 && !step.result.is_cache_lost) return decode_in_halves(entries, outcomes, step);
    if (entries.size() == 1 && suspects_.contains(entries[0].id)) {
        outcomes[0] = fail(entries[0], not_computed(code), step);
        return;
    }
    for (const BatchEntry& entry : entries) suspects_.insert(entry.id);
    decode(entries, outcomes, step);
}

void BatchExecutor::decode_in_halves(Entries entries, Outcomes outcomes, ExecutedStep& step) {
    const size_t half = entries.size() / 2;
    decode(entries.first(half), outcomes.first(half), step);
    decode(entries.subspan(half), outcomes.subspan(half), step);
}

bool BatchExecutor::has_suspect(Entries entries) const {
    if (suspects_.empty()) return false;
    return std::ranges::any_of(entries,
                               [this](const BatchEntry& entry) { return suspects_.contains(entry.id); });
}

/// The outcome of a computed entry.
Outcome BatchExecutor::sample(const BatchEntry& entry, size_t part, ExecutedStep& step) {
    const auto count = static_cast<uint64_t>(entry.tokens.size());
    prompt_tokens_ += entry.samples ? count - 1 : count;
    const bool has_logits = entry.samples || entry.wants_all_logits;
    const size_t outputs = entry.outputs_before_last() + entry.drafts.size() + 1;
    for (size_t output = 0; has_logits && output < outputs; ++output) {
        if (!has_output(part, output)) return fail(entry, not_computed(Code::engine_failed), step);
    }
    if (entry.wants_all_logits) sampler_.note_prompt(entry, context_, part);
    if (!entry.samples) {
        if (entry.is_image()) images_.computed(entry);
        follow(entry, part, 0);
        return {.kind = Outcome::Kind::advanced};
    }
    suspects_.erase(entry.id);
    try {
        const Outcome outcome = sampler_.sample(entry, context_, part, parts_[part].likeliest_suffice);
        if (entry.is_image()) images_.computed(entry);
        if (outcome.kind == Outcome::Kind::advanced) follow(entry, part, outcome.accepted);
        return outcome;
    } catch (const std::exception& error) {
        // A trigger's regular expression may be too complex for the text: that is only this request's fault.
        return fail(entry, not_computed(error), step);
    }
}

bool BatchExecutor::has_output(size_t part, size_t output) {
    if (parts_[part].likeliest_suffice) return !context_.likeliest(part, output).tokens.empty();
    return context_.logits(part, output) != nullptr;
}

/// Hands the hidden states of what was computed to a drafter that reads them. Images end what it follows.
void BatchExecutor::follow(const BatchEntry& entry, size_t part, int32_t accepted) {
    if (speculation_ == nullptr || entry.is_image()) return;
    const Follows what = speculation_->follows();
    if (what == Follows::nothing || (what == Follows::outputs && !entry.samples)) return;
    const auto drafts = entry.drafts.first(static_cast<size_t>(accepted));
    const size_t skipped = what == Follows::outputs ? entry.tokens.size() - 1 : 0;
    computed_.assign(entry.tokens.begin() + static_cast<std::ptrdiff_t>(skipped), entry.tokens.end());
    computed_.insert(computed_.end(), drafts.begin(), drafts.end());
    states_.clear();
    for (size_t i = 0; i < computed_.size(); ++i) {
        if (!context_.add_states(part, skipped + i, states_)) return; // without them, the text begins again
    }
    speculation_->follow(entry.id, entry.first + static_cast<int32_t>(skipped), computed_, states_);
}

Outcome BatchExecutor::fail(const BatchEntry& entry, base::Error error, ExecutedStep& step) {
    step.failures.push_back({.id = entry.id, .error = std::move(error)});
    sampler_.forget(entry.id);
    return {.kind = Outcome::Kind::failed};
}

} // namespace engine
