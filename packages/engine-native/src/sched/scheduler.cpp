#include "sched/scheduler.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace sched {

Scheduler::Scheduler(const Limits& limits) : limits_(limits), kv_cache_(limits) {
    INGLE_ASSERT(limits.sequences >= 1 && limits.cached_sequences >= 0);
    INGLE_ASSERT(limits.reserve_ahead >= 1);
    INGLE_ASSERT(limits.cells >= limits.context_length && limits.context_length >= 2);
    // A step must have room for one token of every decoding sequence.
    INGLE_ASSERT(limits.batch_tokens >= limits.sequences);
}

void Scheduler::submit(Request request) noexcept {
    INGLE_ASSERT(!is_planned_);
    const base::RequestId id = request.id;
    requests_of_client_[request.client] += 1;
    auto [entry, is_new] = sequences_.emplace(
        id, std::make_unique<Sequence>(std::move(request), arrivals_++, limits_.context_length));
    INGLE_ASSERT(is_new);
    waiting_.enter(*entry->second);
}

bool Scheduler::cancel(base::RequestId id) {
    INGLE_ASSERT(!is_planned_);
    const auto found = sequences_.find(id);
    if (found == sequences_.end()) return false;
    end(*found->second, Keep::yes);
    return true;
}

const StepPlan& Scheduler::schedule(const StepBudget& budget) {
    INGLE_ASSERT(!is_planned_ && budget.prefill_busy >= 1);
    is_planned_ = true;
    steps_ += 1;
    plan_.shifts.clear();
    plan_.starts.clear();
    plan_.batch.clear();
    kv_cache_.set_copies_evicted(budget.copies_evicted);
    cut_full_sequences();
    make_way();
    admit_before_background();
    size_t running = 0;
    do { // again if all that the adapters were chosen for were preempted
        running = running_.size();
        choose_adapters(budget);
        plan_decoding();
    } while (plan_.batch.empty() && running_.size() < running);
    admit_waiting();
    if (plan_.batch.empty()) choose_adapters(budget); // again: what was admitted may be all that there is
    plan_prefill(budget);
    plan_drafts(budget);
    for (Sequence* sequence : running_) {
        if (is_in_step(*sequence)) sequence->note_step(steps_);
    }
    const auto is_text = [](const BatchEntry& entry) { return !entry.is_image(); };
    // Partitioning allocates, so skip it in steps without images.
    if (!std::ranges::is_partitioned(plan_.batch, is_text))
        std::ranges::stable_partition(plan_.batch, is_text);
    if (running_.empty() && waiting_.size() == 0) kv_cache_.copy_ahead();
    kv_cache_.take_ops(plan_.kv_ops);
    return plan_;
}

const StepPlan& Scheduler::schedule_eviction() {
    INGLE_ASSERT(!is_planned_ && running_.empty());
    is_planned_ = true;
    plan_ = {};
    kv_cache_.set_copies_evicted(true);
    kv_cache_.evict_cached_sequences();
    kv_cache_.take_ops(plan_.kv_ops);
    return plan_;
}

/// Before anything else, so that no full sequence is preempted or asks for a cell beyond the context.
void Scheduler::cut_full_sequences() {
    for (size_t i = 0; i < running_.size();) {
        Sequence& sequence = *running_[i];
        if (!sequence.is_full() || cut(sequence)) i += 1;
    }
}

/// Drops a full sequence's oldest chat turns. False if the sequence is no longer running.
bool Scheduler::cut(Sequence& sequence) {
    const Cut part = sequence.next_cut();
    const bool is_moved = kv_cache_.shift(sequence.slot(), part);
    if (!is_moved) requeue(sequence, Keep::yes);
    drop_turns(sequence, part);
    // The cells that it held are nearly always enough for its remaining tokens, so no other request is admitted before it.
    return is_moved || admit(sequence, find_prefix(sequence));
}

void Scheduler::drop_turns(Sequence& sequence, const Cut& part) {
    const bool is_recomputed = sequence.state() == State::waiting;
    plan_.shifts.push_back({.id = sequence.id(), .cut = part, .is_recomputed = is_recomputed});
    context_shifts_ += 1;
    sequence.drop(part);
}

/// Of the adapters with something to compute, those that have waited longest.
void Scheduler::choose_adapters(const StepBudget& budget) {
    if (running_.empty()) return;
    adapters_ = running_.front()->request().adapters;
    if (std::ranges::all_of(running_, [this](const Sequence* other) { return is_in_step(*other); })) return;
    const auto is_computable = [&](const Sequence& sequence) {
        if (sequence.awaits_token() || is_set_aside(sequence)) return false;
        const std::optional<base::ImageId> image = sequence.next_image();
        return !image || budget.images->prepare(sequence.id(), *image);
    };
    const Sequence* next = nullptr;
    for (const Sequence* sequence : running_) {
        const bool is_sooner = next == nullptr || sequence->last_step() < next->last_step();
        if (is_sooner && is_computable(*sequence)) next = sequence;
    }
    if (next != nullptr) adapters_ = next->request().adapters;
}

/// Adds one token of every decoding sequence, in the order of running_; each first gets a cell for it.
void Scheduler::plan_decoding() {
    // Growing may preempt the last of running_, which has no entry yet. By index, because running_ may shrink.
    for (size_t i = 0; i < running_.size(); ++i) {
        Sequence& sequence = *running_[i];
        if (is_in_step(sequence) && is_decoding(sequence) && grow(sequence)) add_entry(sequence, 1);
    }
}

void Scheduler::plan_prefill(const StepBudget& budget) {
    const size_t decoding = plan_.batch.size();
    int32_t left = limits_.batch_tokens - static_cast<int32_t>(decoding);
    // Decoding sequences with other adapters wait for this step too, except those that were admitted in it.
    const auto is_delayed = [this](const Sequence* other) {
        return !is_in_step(*other) && !is_set_aside(*other) && is_decoding(*other);
    };
    // A step in the background is short too: any other request that comes waits for its end.
    const bool is_background = !running_.empty() && running_.front()->is_background();
    if (decoding > 0 || is_background || std::ranges::any_of(running_, is_delayed))
        left = std::min(left, budget.prefill_busy);
    // Every running sequence may sample. What is left of the outputs is for prompts that want logits for all of their tokens.
    int32_t outputs = budget.outputs - static_cast<int32_t>(running_.size());
    // Decoding sequences have their entry, in the order of running_.
    size_t passed = 0;
    for (const Sequence* sequence : running_) {
        if (passed < decoding && plan_.batch[passed].id == sequence->id()) {
            passed += 1;
            continue;
        }
        if (!is_in_step(*sequence) || sequence->awaits_token() || plan_swap_ins(*sequence)) continue;
        const std::optional<base::ImageId> image = sequence->next_image();
        if (image && !budget.images->prepare(sequence->id(), *image)) continue;
        int32_t count = prefill_count(*sequence, left, plan_.batch.size() == decoding);
        if (count <= 0) return;
        if (sequence->request().wants_prompt_logits) {
            count = std::clamp(outputs + 1, 1, count);
            outputs -= count - 1;
        }
        left -= count;
        add_entry(*sequence, count);
    }
}

/// How many tokens a sequence may compute. An image that must be computed whole may exceed the budget if it is the step's first
/// prefill: otherwise it would wait forever.
int32_t Scheduler::prefill_count(const Sequence& sequence, int32_t budget, bool is_first) const {
    int32_t wanted = sequence.pending_of_kind();
    if (kv_cache_.needs_checkpoints()) wanted = std::min(wanted, sequence.pending_to_boundary());
    if (limits_.has_whole_images && sequence.next_image()) return is_first || wanted <= budget ? wanted : 0;
    return std::min(budget, wanted);
}

/// Plans to swap in the part of a sequence's text that the host KV tier has. True if there is any, in this step or the next: the
/// sequence then has no entry in this step.
bool Scheduler::plan_swap_ins(const Sequence& sequence) {
    if (!sequence.request().uses_cache) return false;
    int32_t computed = sequence.computed();
    const HostTier::Matches matches = kv_cache_.host_tier().look_up(sharable(sequence));
    while (const std::optional<HostTier::Match> match = kv_cache_.find_segment(matches, computed)) {
        const SwapIn op{.segment = match->segment,
                        .slot = sequence.slot(),
                        .first = computed,
                        .length = match->length,
                        .id = sequence.id(),
                        .is_resumed = sequence.was_preempted()};
        if (!kv_cache_.swap_in(*match, op)) return true;
        computed = match->length;
    }
    return computed > sequence.computed();
}

void Scheduler::add_entry(const Sequence& sequence, int32_t count) {
    const auto first = static_cast<size_t>(sequence.computed());
    plan_.batch.push_back({.id = sequence.id(),
                           .slot = sequence.slot(),
                           .first = sequence.computed(),
                           .tokens = sequence.tokens().subspan(first, static_cast<size_t>(count)),
                           .samples = count == sequence.pending(),
                           .image_offset = sequence.image_offset(),
                           .wants_all_logits = sequence.request().wants_prompt_logits});
}

/// Drafts only beside decoding sequences: a step with prefill is long enough.
void Scheduler::plan_drafts(const StepBudget& budget) {
    if (budget.drafts == nullptr) return;
    const auto decodes = [this](const BatchEntry& entry) { return find(entry.id).is_decoding(); };
    if (!std::ranges::all_of(plan_.batch, decodes)) return;
    // Every entry samples here, even one that was only just admitted with only its last token missing.
    const auto entries = static_cast<int32_t>(plan_.batch.size());
    int32_t left = std::min(budget.outputs, limits_.batch_tokens) - entries;
    texts_.clear();
    for (const BatchEntry& entry : plan_.batch)
        texts_.push_back({.id = entry.id, .tokens = find(entry.id).tokens()});
    budget.drafts->prepare(texts_);
    drafts_.clear();
    drafts_.reserve(static_cast<size_t>(std::max(left, 0))); // the entries point into it while it grows
    for (BatchEntry& entry : plan_.batch) {
        entry.drafts = draft(find(entry.id), *budget.drafts, left);
        left -= static_cast<int32_t>(entry.drafts.size());
    }
    if (!limits_.has_equal_drafts || plan_.batch.empty()) return;
    const auto count = [](const BatchEntry& entry) { return entry.drafts.size(); };
    const size_t fewest = std::ranges::min(plan_.batch | std::views::transform(count));
    for (BatchEntry& entry : plan_.batch) entry.drafts = entry.drafts.first(fewest);
}

/// Drafts use only cells that are reserved. The token sampled after them needs none yet. The state at a boundary is saved after the
/// step, so that no drafts may follow it.
std::span<const base::Token> Scheduler::draft(const Sequence& sequence, DraftSource& source, int32_t most) {
    const bool is_saved = kv_cache_.needs_checkpoints() && sequence.is_before_boundary();
    const int32_t room = is_saved ? 0 : std::max(0, std::min(most, sequence.reserved() - sequence.length()));
    std::span<const base::Token> drafts = source.draft(sequence.id(), sequence.tokens(), room);
    INGLE_ASSERT(std::ssize(drafts) <= room);
    // After the same words, an image may have followed earlier.
    const auto image = std::ranges::find_if(drafts, base::is_image);
    drafts = drafts.first(static_cast<size_t>(image - drafts.begin()));
    const size_t first = drafts_.size();
    drafts_.insert(drafts_.end(), drafts.begin(), drafts.end());
    return std::span<const base::Token>(drafts_).subspan(first);
}

/// Makes sure that a sequence's next token has a cell. False if the sequence itself was preempted for it.
bool Scheduler::grow(Sequence& sequence) {
    if (sequence.length() <= sequence.reserved()) return true;
    const int32_t wanted = reservation(sequence) - sequence.reserved();
    int32_t granted = 0;
    while ((granted = kv_cache_.reserve(wanted)) == 0) {
        INGLE_ASSERT(running_.size() > 1); // alone, a sequence always fits: cells >= context_length
        Sequence& last = *running_.back();
        preempt(last);
        if (&last == &sequence) return false;
    }
    sequence.reserve(sequence.reserved() + granted);
    return true;
}

/// Cells for a sequence's tokens and some ahead, but never more than it can use: its last token is sampled and never computed,
/// so it needs no cell.
int32_t Scheduler::reservation(const Sequence& sequence) const {
    return std::max(sequence.length(),
                    std::min(sequence.length() + limits_.reserve_ahead, sequence.length_max() - 1));
}

void Scheduler::preempt(Sequence& sequence) {
    requeue(sequence, Keep::yes);
    // A sequence that was cut, admitted again and preempted within this step has not started.
    std::erase_if(plan_.starts, [&](const Start& start) { return start.id == sequence.id(); });
    preemptions_ += 1;
}

/// Moves a sequence to the head of the waiting queue; its tokens will be computed again.
void Scheduler::requeue(Sequence& sequence, Keep keep) {
    stop_running(sequence, keep);
    sequence.preempt();
    waiting_.enter(sequence);
}

/// Takes a running sequence's slot; the caller changes its state. Its computed tokens may stay in the prefix cache.
void Scheduler::stop_running(Sequence& sequence, Keep keep) {
    running_.erase(std::ranges::find(running_, &sequence));
    kv_cache_.leave(sequence.slot(), sequence.reserved_ahead(),
                    sequence.request().uses_cache ? keep : Keep::no);
}

void Scheduler::end(Sequence& sequence, Keep keep) {
    if (const Request& request = sequence.request(); request.id_slot >= 0 && sequence.computed() > 0) {
        const auto computed = sequence.tokens().first(static_cast<size_t>(sequence.computed()));
        name_text({request.cache_salt, request.id_slot},
                  {{computed.begin(), computed.end()}, sequence.space()});
    }
    if (sequence.state() == State::running) stop_running(sequence, keep);
    else waiting_.leave(sequence);
    sequence.end();
    const auto client = requests_of_client_.find(sequence.request().client);
    if (--client->second == 0) {
        waiting_.forget(client->first);
        requests_of_client_.erase(client);
    }
    sequences_.erase(sequence.id());
}

Sequence& Scheduler::find(base::RequestId id) {
    const auto found = sequences_.find(id);
    INGLE_ASSERT(found != sequences_.end());
    return *found->second;
}

void Scheduler::name_text(const SlotName& name, SlotText text) {
    named_[name] = {.text = std::move(text), .at = names_given_ += 1};
    if (named_.size() <= kNamedMax) return;
    named_.erase(std::ranges::min_element(named_, {}, [](const auto& one) { return one.second.at; }));
}

const SlotText* Scheduler::slot_text(const SlotName& name) const {
    const auto found = named_.find(name);
    return found == named_.end() ? nullptr : &found->second.text;
}

bool Scheduler::awaits_token(base::RequestId id) const {
    const auto found = sequences_.find(id);
    return found != sequences_.end() && found->second->awaits_token();
}

Counters Scheduler::counters() const {
    const auto decodes = [this](const Sequence* one) { return one->is_decoding() && !is_set_aside(*one); };
    const auto decoding = static_cast<int32_t>(std::ranges::count_if(running_, decodes));
    const auto in_background = [](const Sequence* one) { return one->is_background(); };
    const auto first = std::ranges::find_if(running_, in_background);
    const auto before = static_cast<int32_t>(first - running_.begin());
    const auto waiting = static_cast<int32_t>(waiting_.size() - waiting_.background());
    const HostTier& host_tier = kv_cache_.host_tier();
    return {.running = static_cast<int32_t>(running_.size()),
            .decoding = decoding,
            .prompts = std::max(0, before - decoding) + std::min(waiting, limits_.sequences - before),
            .waiting = static_cast<int32_t>(waiting_.size()),
            .cells_reserved = kv_cache_.reserved(),
            .cells_cached = kv_cache_.cached(),
            .preemptions = preemptions_,
            .context_shifts = context_shifts_,
            .host_tier_bytes = host_tier.bytes(),
            .host_tier_text_bytes = host_tier.text_bytes(),
            .segments = host_tier.size(),
            .swap_ins = host_tier.swap_ins()};
}

std::vector<int32_t> Scheduler::held() const {
    std::vector<int32_t> lengths;
    for (base::Slot slot = 0; slot < limits_.sequences + limits_.cached_sequences; ++slot)
        lengths.push_back(kv_cache_.length(slot));
    return lengths;
}

std::vector<base::RequestId> Scheduler::ids() const {
    std::vector<base::RequestId> ids;
    for (const auto& [id, sequence] : sequences_) ids.push_back(id);
    std::ranges::sort(ids);
    return ids;
}

void Scheduler::check_integrity() const {
    int32_t ahead = 0;
    std::vector<base::Slot> slots;
    for (size_t i = 0; i < running_.size(); ++i) {
        const Sequence& sequence = *running_[i];
        INGLE_ASSERT(sequence.state() == State::running);
        INGLE_ASSERT(i == 0 || running_[i - 1]->goes_before(sequence));
        INGLE_ASSERT(sequence.computed() <= sequence.reserved());
        INGLE_ASSERT(sequence.length() <= sequence.length_max());
        INGLE_ASSERT(kv_cache_.length(sequence.slot()) == sequence.computed());
        ahead += sequence.reserved_ahead();
        slots.push_back(sequence.slot());
    }
    kv_cache_.check_integrity(slots, ahead);
    INGLE_ASSERT(running_.size() + waiting_.size() == sequences_.size());
}

} // namespace sched
