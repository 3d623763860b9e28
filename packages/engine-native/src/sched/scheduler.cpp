#include "sched/scheduler.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sched {

namespace {

/// Requests looked at for admission in one turn. Those behind them wait for the next turn, a moment later.
constexpr size_t kAdmissionsLookedAt = 32;

/// What of a sequence may come from elsewhere. Its last token is always computed: the logits are wanted.
std::span<const base::Token> sharable(const Sequence& sequence) {
    const int32_t length = base::last_edge(sequence.tokens(), sequence.length() - 1);
    return sequence.tokens().first(static_cast<size_t>(length));
}

} // namespace

Scheduler::Scheduler(const Limits& limits) : limits_(limits), cells_(limits) {
    INGLE_ASSERT(limits.sequences >= 1 && limits.donors >= 0);
    INGLE_ASSERT(limits.reserve_ahead >= 1);
    INGLE_ASSERT(limits.cells >= limits.context_length && limits.context_length >= 2);
    // A turn must have room for one token of every decoding sequence.
    INGLE_ASSERT(limits.batch_tokens >= limits.sequences);
}

void Scheduler::submit(Request request) noexcept {
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

const Plan& Scheduler::plan(const TurnBudget& budget) {
    INGLE_ASSERT(!is_planned_ && budget.prompt_busy >= 1);
    plan_.shifts.clear();
    plan_.starts.clear();
    plan_.restores.clear();
    plan_.steps.clear();
    cut_full_ones();
    plan_decoding();
    admit_waiting();
    plan_catching_up(budget);
    plan_drafts(budget);
    const auto is_text = [](const Step& step) { return !step.is_image(); };
    // Partitioning takes memory, which turns without images need not.
    if (!std::ranges::is_partitioned(plan_.steps, is_text))
        std::ranges::stable_partition(plan_.steps, is_text);
    plan_.cells = cells_.take_ops();
    is_planned_ = !plan_.steps.empty();
    return plan_;
}

const Plan& Scheduler::give_up_donors() {
    INGLE_ASSERT(!is_planned_ && running_.empty());
    plan_ = {};
    cells_.give_up_donors();
    plan_.cells = cells_.take_ops();
    return plan_;
}

void Scheduler::restored(const Restore& restore, bool is_ok) {
    cells_.restored(restore.stash, is_ok);
    if (!is_ok) return; // it is computed
    Sequence& sequence = find(restore.id);
    const int32_t count = restore.length - restore.first;
    cells_.append(restore.slot,
                  sequence.tokens().subspan(static_cast<size_t>(restore.first), static_cast<size_t>(count)));
    sequence.advance(count);
    // It is saved as it is when the next turn begins. Where it was only on its way, that would be a later text's state.
    const auto goes_on = [&](const Restore& next) {
        return next.id == restore.id && next.first == restore.length;
    };
    if (std::ranges::none_of(plan_.restores, goes_on)) cells_.save(restore.slot);
}

void Scheduler::apply(const std::vector<Outcome>& outcomes) {
    INGLE_ASSERT(is_planned_ && outcomes.size() == plan_.steps.size());
    is_planned_ = false;
    for (size_t i = 0; i < outcomes.size(); ++i) {
        const Step& step = plan_.steps[i];
        Sequence& sequence = find(step.id);
        if (outcomes[i].kind == Outcome::Kind::skipped) continue;
        if (outcomes[i].kind == Outcome::Kind::failed) {
            end(sequence, Keep::no);
            continue;
        }
        advance(sequence, step, outcomes[i]);
        if (outcomes[i].kind == Outcome::Kind::finished) end(sequence, Keep::yes);
    }
}

void Scheduler::start_over() {
    INGLE_ASSERT(!is_planned_);
    while (!running_.empty()) requeue(*running_.back(), Keep::no);
    cells_.clear();
}

/// Before anything else, so that nobody who is full is preempted or asks for a cell beyond the context.
void Scheduler::cut_full_ones() {
    for (size_t i = 0; i < running_.size();) {
        Sequence& sequence = *running_[i];
        if (!sequence.is_full() || cut(sequence)) i += 1;
    }
}

/// Drops a full sequence's oldest turns. False when it has lost its place over it.
bool Scheduler::cut(Sequence& sequence) {
    const Cut part = sequence.cut_due();
    const bool is_moved = cells_.shift(sequence.slot(), part);
    if (!is_moved) requeue(sequence, Keep::yes);
    drop_turns(sequence, part);
    // What it held is nearly always room enough for what is left of it: nobody goes before it then.
    return is_moved || admit(sequence, find_prefix(sequence));
}

void Scheduler::drop_turns(Sequence& sequence, const Cut& part) {
    const bool is_recomputed = sequence.state() == State::waiting;
    plan_.shifts.push_back({.id = sequence.id(), .cut = part, .is_recomputed = is_recomputed});
    shifts_ += 1;
    sequence.cut(part);
}

/// Wrong guesses are not the client's: it is not charged for them.
void Scheduler::advance(Sequence& sequence, const Step& step, const Outcome& outcome) {
    const auto accepted = step.drafts.first(static_cast<size_t>(outcome.accepted));
    const auto count = static_cast<int32_t>(step.tokens.size());
    waiting_.charge(sequence.request().client, count + outcome.accepted);
    cells_.append(step.slot, step.tokens);
    sequence.advance(count);
    if (sequence.is_at_boundary()) cells_.save(step.slot);
    for (const base::Token token : accepted) {
        sequence.add(token);
        sequence.advance(1);
    }
    cells_.append(step.slot, accepted);
    if (accepted.size() < step.drafts.size()) cells_.trim(step.slot);
    if (step.sample && outcome.kind != Outcome::Kind::sampling) sequence.add(outcome.token);
}

bool Scheduler::awaits_token(base::RequestId id) const {
    const auto found = sequences_.find(id);
    return found != sequences_.end() && found->second->awaits_token();
}

void Scheduler::sampled(base::RequestId id, const Outcome& outcome) {
    INGLE_ASSERT(!is_planned_ && awaits_token(id));
    Sequence& sequence = find(id);
    if (outcome.kind == Outcome::Kind::finished) end(sequence, Keep::yes);
    else sequence.add(outcome.token);
}

/// Every decoding sequence gets its one token; each makes sure of its cell first, oldest first.
void Scheduler::plan_decoding() {
    // Growing may preempt, which takes the youngest from the end of running_: one that this loop has yet to reach, so
    // that no step is planned for it. By index, with the size read anew.
    for (size_t i = 0; i < running_.size(); ++i) {
        Sequence& sequence = *running_[i];
        if (sequence.is_decoding() && grow(sequence)) add_step(sequence, 1);
    }
}

void Scheduler::plan_catching_up(const TurnBudget& turn) {
    const size_t decoding = plan_.steps.size();
    int32_t budget = limits_.batch_tokens - static_cast<int32_t>(decoding);
    if (decoding > 0) budget = std::min(budget, turn.prompt_busy);
    // Those that decode have their step, in the order of running_. One that was admitted just now is not among them,
    // even if all but its last token was found computed.
    size_t passed = 0;
    for (const Sequence* sequence : running_) {
        if (passed < decoding && plan_.steps[passed].id == sequence->id()) {
            passed += 1;
            continue;
        }
        if (sequence->awaits_token() || plan_restores(*sequence)) continue;
        const std::optional<base::ImageId> image = sequence->image_due();
        if (image && !turn.images->has(sequence->id(), *image)) continue;
        const int32_t count = next_count(*sequence, budget, plan_.steps.size() == decoding);
        if (count <= 0) return;
        budget -= count;
        add_step(*sequence, count);
    }
}

/// Tokens of its next step. An image that must be computed whole goes beyond the budget when it is the `is_first` to catch
/// up in this turn: it would wait for ever else.
int32_t Scheduler::next_count(const Sequence& sequence, int32_t budget, bool is_first) const {
    int32_t wanted = sequence.pending_of_kind();
    if (cells_.have_checkpoints()) wanted = std::min(wanted, sequence.pending_to_boundary());
    if (limits_.has_whole_images && sequence.image_due()) return is_first || wanted <= budget ? wanted : 0;
    return std::min(budget, wanted);
}

/// Whether host memory has more of a sequence's text: then it has no step in this turn.
bool Scheduler::plan_restores(const Sequence& sequence) {
    if (!sequence.request().uses_cache) return false;
    int32_t there = sequence.computed();
    const Stashes::Way way = cells_.look_up(sharable(sequence));
    while (const std::optional<Stashes::Found> found = cells_.find_stash(way, there)) {
        if (!cells_.restore(*found, there)) return true;
        plan_.restores.push_back({.id = sequence.id(),
                                  .slot = sequence.slot(),
                                  .stash = found->stash,
                                  .first = there,
                                  .length = found->length,
                                  .is_again = sequence.was_preempted()});
        there = found->length;
    }
    return there > sequence.computed();
}

void Scheduler::add_step(const Sequence& sequence, int32_t count) {
    const auto first = static_cast<size_t>(sequence.computed());
    plan_.steps.push_back({.id = sequence.id(),
                           .slot = sequence.slot(),
                           .first = sequence.computed(),
                           .tokens = sequence.tokens().subspan(first, static_cast<size_t>(count)),
                           .sample = count == sequence.pending(),
                           .image_offset = sequence.image_offset()});
}

/// Beside decoding sequences alone: a turn with a part of a prompt is long enough.
void Scheduler::plan_drafts(const TurnBudget& budget) {
    if (budget.drafter == nullptr) return;
    const auto decodes = [this](const Step& step) { return find(step.id).is_decoding(); };
    if (!std::ranges::all_of(plan_.steps, decodes)) return;
    // Every step samples here. Those that were admitted just now do, too: where nothing but their last token was missing.
    const auto steps = static_cast<int32_t>(plan_.steps.size());
    int32_t left = std::min(budget.outputs, limits_.batch_tokens) - steps;
    drafts_.clear();
    drafts_.reserve(static_cast<size_t>(std::max(left, 0))); // the steps look into it while it grows
    for (Step& step : plan_.steps) {
        step.drafts = draft(find(step.id), *budget.drafter, left);
        left -= static_cast<int32_t>(step.drafts.size());
    }
}

/// Guesses have to do with the cells that are reserved. Room for the token that is sampled after them need not be.
std::span<const base::Token> Scheduler::draft(const Sequence& sequence, Drafter& drafter, int32_t most) {
    const int32_t room = std::max(0, std::min(most, sequence.reserved() - sequence.length()));
    std::span<const base::Token> guesses = drafter.draft(sequence.id(), sequence.tokens(), room);
    INGLE_ASSERT(std::ssize(guesses) <= room);
    // What followed the same words before may have been an image.
    const auto image = std::ranges::find_if(guesses, base::is_image);
    guesses = guesses.first(static_cast<size_t>(image - guesses.begin()));
    const size_t first = drafts_.size();
    drafts_.insert(drafts_.end(), guesses.begin(), guesses.end());
    return std::span<const base::Token>(drafts_).subspan(first);
}

/// Strictly in the line's order: a small request does not pass a large one, or the large one would starve. Only one
/// that waits for another's computation is passed: it would gain nothing by going first.
void Scheduler::admit_waiting() {
    if (static_cast<int32_t>(running_.size()) == limits_.sequences || waiting_.size() == 0) return;
    for (Sequence* sequence : waiting_.first(kAdmissionsLookedAt)) {
        // One that waits is full only when its cells were lost just after its last token.
        if (sequence->is_full()) drop_turns(*sequence, sequence->cut_due());
        const PrefixTree::Match match = find_prefix(*sequence);
        if (is_being_computed(*sequence, match.length)) continue;
        if (!admit(*sequence, match) || static_cast<int32_t>(running_.size()) == limits_.sequences) return;
    }
}

/// What of a sequence's beginning is there to be shared.
PrefixTree::Match Scheduler::find_prefix(const Sequence& sequence) const {
    if (!sequence.request().uses_cache) return {};
    return cells_.find(sharable(sequence));
}

/// A running sequence is about to compute more of this one's beginning than what is there by now.
bool Scheduler::is_being_computed(const Sequence& sequence, int32_t there) const {
    if (!cells_.are_shared() || !sequence.request().uses_cache) return false;
    there = cells_.reach(sharable(sequence), there); // host memory is quicker than another's computation
    const auto will_have_more = [&](const Sequence* other) {
        if (other->is_decoding() || !other->request().uses_cache) return false;
        const auto [end, _] = std::ranges::mismatch(other->tokens(), sequence.tokens());
        const auto common = static_cast<int32_t>(end - other->tokens().begin());
        const int32_t shared = will_share(*other, base::last_edge(other->tokens(), common));
        return shared > other->computed() && shared - there >= Cells::kWorthMin;
    };
    return std::ranges::any_of(running_, will_have_more);
}

/// Of a beginning that is common with a leader's, what can be shared once the leader has computed it.
int32_t Scheduler::will_share(const Sequence& leader, int32_t common) const {
    if (!cells_.have_checkpoints()) return common;
    const std::vector<int32_t>& boundaries = leader.request().boundaries;
    const auto beyond = std::ranges::upper_bound(boundaries, common);
    return beyond == boundaries.begin() ? 0 : *std::prev(beyond);
}

/// False when there are not enough cells.
bool Scheduler::admit(Sequence& sequence, const PrefixTree::Match& match) {
    const int32_t reserved = reservation(sequence);
    const std::optional<base::Slot> slot = cells_.admit(match, reserved, sequence.request().uses_cache);
    if (!slot) return false;
    waiting_.leave(sequence);
    sequence.admit(*slot, match.length, reserved);
    plan_.starts.push_back({.id = sequence.id(), .slot = *slot, .cached = match.length});
    const auto younger = [&](const Sequence* other) { return other->arrival() > sequence.arrival(); };
    running_.insert(std::ranges::find_if(running_, younger), &sequence);
    return true;
}

/// Makes sure that the sequence's next token has a cell. False when the sequence itself had to give way.
bool Scheduler::grow(Sequence& sequence) {
    if (sequence.length() <= sequence.reserved()) return true;
    const int32_t wanted = reservation(sequence) - sequence.reserved();
    int32_t granted = 0;
    while ((granted = cells_.reserve(wanted)) == 0) {
        INGLE_ASSERT(running_.size() > 1); // alone, a sequence always fits: cells >= context_length
        Sequence& youngest = *running_.back();
        preempt(youngest);
        if (&youngest == &sequence) return false;
    }
    sequence.reserve(sequence.reserved() + granted);
    return true;
}

void Scheduler::preempt(Sequence& sequence) {
    requeue(sequence, Keep::yes);
    // One that was cut, begun anew and had to give way, all in this turn, has not begun.
    std::erase_if(plan_.starts, [&](const Start& start) { return start.id == sequence.id(); });
    preemptions_ += 1;
}

/// Back to the head of the line, to be computed anew.
void Scheduler::requeue(Sequence& sequence, Keep keep) {
    stop_running(sequence, keep);
    sequence.preempt();
    waiting_.enter(sequence);
}

void Scheduler::end(Sequence& sequence, Keep keep) {
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

/// Takes a running sequence's slot; its state is moved by the caller. What it has computed may stay for others.
void Scheduler::stop_running(Sequence& sequence, Keep keep) {
    running_.erase(std::ranges::find(running_, &sequence));
    cells_.leave(sequence.slot(), sequence.future(), sequence.request().uses_cache ? keep : Keep::no);
}

/// Its tokens and some room ahead, but never more than it can use. The last token it may generate is only sampled,
/// never computed, hence needs no cell.
int32_t Scheduler::reservation(const Sequence& sequence) const {
    return std::max(sequence.length(),
                    std::min(sequence.length() + limits_.reserve_ahead, sequence.length_max() - 1));
}

Sequence& Scheduler::find(base::RequestId id) {
    const auto found = sequences_.find(id);
    INGLE_ASSERT(found != sequences_.end());
    return *found->second;
}

Counters Scheduler::counters() const {
    const auto decodes = [](const Sequence* sequence) { return sequence->is_decoding(); };
    return {.running = static_cast<int32_t>(running_.size()),
            .decoding = static_cast<int32_t>(std::ranges::count_if(running_, decodes)),
            .waiting = static_cast<int32_t>(waiting_.size()),
            .cells_reserved = cells_.reserved(),
            .cells_cached = cells_.cached(),
            .preemptions = preemptions_,
            .shifts = shifts_,
            .stash_bytes = cells_.stashes().bytes(),
            .stash_text_bytes = cells_.stashes().text_bytes(),
            .stashes = cells_.stashes().size(),
            .stash_hits = cells_.stashes().hits()};
}

std::vector<int32_t> Scheduler::held() const {
    std::vector<int32_t> lengths;
    for (base::Slot slot = 0; slot < limits_.sequences + limits_.donors; ++slot)
        lengths.push_back(cells_.length(slot));
    return lengths;
}

std::vector<base::RequestId> Scheduler::ids() const {
    std::vector<base::RequestId> ids;
    for (const auto& [id, sequence] : sequences_) ids.push_back(id);
    std::ranges::sort(ids);
    return ids;
}

void Scheduler::check_integrity() const {
    int32_t future = 0;
    std::vector<base::Slot> slots;
    for (size_t i = 0; i < running_.size(); ++i) {
        const Sequence& sequence = *running_[i];
        INGLE_ASSERT(sequence.state() == State::running);
        INGLE_ASSERT(i == 0 || running_[i - 1]->arrival() < sequence.arrival());
        INGLE_ASSERT(sequence.computed() <= sequence.reserved());
        INGLE_ASSERT(sequence.length() <= sequence.length_max());
        INGLE_ASSERT(cells_.length(sequence.slot()) == sequence.computed());
        future += sequence.future();
        slots.push_back(sequence.slot());
    }
    cells_.check_integrity(slots, future);
    INGLE_ASSERT(running_.size() + waiting_.size() == sequences_.size());
}

} // namespace sched
