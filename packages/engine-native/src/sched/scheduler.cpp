#include "sched/scheduler.h"

#include <algorithm>
#include <utility>

namespace sched {

Scheduler::Scheduler(const Limits& limits) : limits_(limits) {
    INGLE_ASSERT(limits.sequences >= 1 && limits.batch_tokens >= 1 && limits.batch_tokens_busy >= 1);
    INGLE_ASSERT(limits.cells >= limits.context_length && limits.context_length >= 2);
    // A turn must have room for one token of every decoding sequence.
    INGLE_ASSERT(limits.batch_tokens >= limits.sequences && limits.reserve_ahead >= 1);
    for (base::Slot slot = limits.sequences - 1; slot >= 0; --slot) slots_free_.push_back(slot);
}

void Scheduler::submit(Request request) {
    INGLE_ASSERT(request.prompt_tokens >= 1 && request.generate_max >= 1);
    INGLE_ASSERT(request.prompt_tokens + request.generate_max <= limits_.context_length);
    const base::RequestId id = request.id;
    requests_of_client_[request.client] += 1;
    auto [entry, is_new] =
        sequences_.emplace(id, std::make_unique<Sequence>(std::move(request), arrivals_++));
    INGLE_ASSERT(is_new);
    waiting_.enter(*entry->second);
}

bool Scheduler::cancel(base::RequestId id) {
    INGLE_ASSERT(!is_planned_);
    const auto found = sequences_.find(id);
    if (found == sequences_.end()) return false;
    end(*found->second);
    return true;
}

const Plan& Scheduler::plan() {
    INGLE_ASSERT(!is_planned_);
    plan_.steps.clear();
    plan_decoding();
    // Slots released up to here, by preemption too, are freed by this plan and may be handed out in it.
    admit_waiting();
    plan_catching_up();
    plan_.released.clear();
    plan_.released.swap(slots_released_);
    is_planned_ = !plan_.steps.empty();
    return plan_;
}

void Scheduler::apply(const std::vector<Outcome>& outcomes) {
    INGLE_ASSERT(is_planned_ && outcomes.size() == plan_.steps.size());
    is_planned_ = false;
    for (size_t i = 0; i < outcomes.size(); ++i) {
        const Step& step = plan_.steps[i];
        Sequence& sequence = find(step.id);
        if (outcomes[i] == Outcome::failed) {
            end(sequence);
            continue;
        }
        waiting_.charge(sequence.request().client, step.count);
        sequence.advance(step.count, step.sample);
        if (outcomes[i] == Outcome::finished) end(sequence);
    }
}

/// Every decoding sequence gets its one token; each makes sure of its cell first, oldest first.
void Scheduler::plan_decoding() {
    // Growing may preempt, which takes the youngest from the end of running_: one that this loop has yet to reach, so
    // that no step is planned for it. By index, with the size read anew.
    for (size_t i = 0; i < running_.size(); ++i) {
        Sequence& sequence = *running_[i];
        if (!sequence.is_decoding() || !grow(sequence)) continue;
        plan_.steps.push_back({.id = sequence.id(),
                               .slot = sequence.slot(),
                               .first = sequence.computed(),
                               .count = 1,
                               .sample = true});
    }
}

void Scheduler::plan_catching_up() {
    const int32_t decoding = static_cast<int32_t>(plan_.steps.size());
    int32_t budget = limits_.batch_tokens - decoding;
    if (decoding > 0) budget = std::min(budget, limits_.batch_tokens_busy);
    for (Sequence* sequence : running_) {
        if (sequence->is_decoding()) continue;
        const int32_t count = std::min(budget, sequence->pending());
        if (count <= 0) return;
        budget -= count;
        plan_.steps.push_back({.id = sequence->id(),
                               .slot = sequence->slot(),
                               .first = sequence->computed(),
                               .count = count,
                               .sample = count == sequence->pending()});
    }
}

/// Strictly in the line's order: a small request does not pass a large one, or the large one would starve.
void Scheduler::admit_waiting() {
    while (!slots_free_.empty()) {
        Sequence* sequence = waiting_.next();
        if (sequence == nullptr) return;
        const int32_t cells = reservation(*sequence);
        if (cells > cells_free()) return;
        waiting_.leave(*sequence);
        sequence->admit(slots_free_.back(), cells);
        slots_free_.pop_back();
        cells_reserved_ += cells;
        const auto younger = [&](const Sequence* other) { return other->arrival() > sequence->arrival(); };
        running_.insert(std::ranges::find_if(running_, younger), sequence);
    }
}

/// Makes sure that the sequence's next token has a cell. False when the sequence itself had to give way.
bool Scheduler::grow(Sequence& sequence) {
    if (sequence.length() <= sequence.reserved()) return true;
    while (cells_free() < 1) {
        Sequence& victim = youngest_running();
        INGLE_ASSERT(running_.size() > 1); // alone, a sequence always fits: cells >= context_length
        stop_running(victim);
        victim.preempt();
        waiting_.enter(victim);
        preemptions_ += 1;
        if (&victim == &sequence) return false;
    }
    const int32_t wanted = reservation(sequence) - sequence.reserved();
    const int32_t granted = std::min(wanted, cells_free());
    sequence.reserve(sequence.reserved() + granted);
    cells_reserved_ += granted;
    return true;
}

/// Its tokens and some room ahead, but never more than it can use. The last token it may generate is only sampled,
/// never computed, hence needs no cell.
int32_t Scheduler::reservation(const Sequence& sequence) const {
    return std::max(sequence.length(),
                    std::min(sequence.length() + limits_.reserve_ahead, sequence.length_max() - 1));
}

Sequence& Scheduler::youngest_running() {
    INGLE_ASSERT(!running_.empty());
    return *running_.back();
}

/// Gives back slot and cells of a running sequence; its state is moved by the caller.
void Scheduler::stop_running(Sequence& sequence) {
    slots_released_.push_back(sequence.slot());
    slots_free_.push_back(sequence.slot());
    cells_reserved_ -= sequence.reserved();
    running_.erase(std::ranges::find(running_, &sequence));
}

void Scheduler::end(Sequence& sequence) {
    if (sequence.state() == State::running) stop_running(sequence);
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

Counters Scheduler::counters() const {
    return {.running = static_cast<int32_t>(running_.size()),
            .waiting = static_cast<int32_t>(waiting_.size()),
            .cells_reserved = cells_reserved_,
            .preemptions = preemptions_};
}

std::vector<base::RequestId> Scheduler::ids() const {
    std::vector<base::RequestId> ids;
    for (const auto& [id, sequence] : sequences_) ids.push_back(id);
    std::ranges::sort(ids);
    return ids;
}

void Scheduler::check_integrity() const {
    int32_t reserved = 0;
    std::vector<bool> is_taken(static_cast<size_t>(limits_.sequences), false);
    const auto take = [&](base::Slot slot) {
        INGLE_ASSERT(slot >= 0 && slot < limits_.sequences && !is_taken[static_cast<size_t>(slot)]);
        is_taken[static_cast<size_t>(slot)] = true;
    };
    for (size_t i = 0; i < running_.size(); ++i) {
        const Sequence& sequence = *running_[i];
        INGLE_ASSERT(sequence.state() == State::running);
        INGLE_ASSERT(i == 0 || running_[i - 1]->arrival() < sequence.arrival());
        INGLE_ASSERT(sequence.computed() <= sequence.reserved());
        INGLE_ASSERT(sequence.length() <= sequence.length_max());
        reserved += sequence.reserved();
        take(sequence.slot());
    }
    for (const base::Slot slot : slots_free_) take(slot);
    INGLE_ASSERT(std::ranges::find(is_taken, false) == is_taken.end());
    INGLE_ASSERT(reserved == cells_reserved_ && reserved <= limits_.cells);
    INGLE_ASSERT(running_.size() + waiting_.size() == sequences_.size());
}

} // namespace sched
