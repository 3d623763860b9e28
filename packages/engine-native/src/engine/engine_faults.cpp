// What the engine does when llama.cpp fails: it finds out whose fault it is, and everybody else gets what they asked for.
//
// A batch that fails is computed again in halves, and a sequence that fails alone once more: what is left fails. Where the
// states of the context cannot be trusted any more (recurrent ones, which a batch moves about), everything computed is
// given up and begun anew, with those of the batch alone until they have got a token, so that only one of them is to blame
// the next time.
#include "engine/engine.h"

#include <algorithm>
#include <utility>

namespace engine {

using base::Code;
using sched::Outcome;

/// Halves, then each step alone, twice. Where the context is torn there is nothing to try again with in this turn.
void Engine::decode_failed(Code code, std::span<const sched::Step> steps, std::span<Outcome> outcomes) {
    is_torn_ = !context_->undo(parts_);
    if (steps.size() > 1 && !is_torn_) return decode_in_halves(steps, outcomes);
    if (steps.size() == 1 && suspects_.contains(steps[0].id)) {
        outcomes[0].kind = Outcome::Kind::failed;
        return fail(steps[0].id, code);
    }
    for (const sched::Step& step : steps) suspects_.insert(step.id);
    decode(steps, outcomes);
}

void Engine::decode_in_halves(std::span<const sched::Step> steps, std::span<Outcome> outcomes) {
    const size_t half = steps.size() / 2;
    decode(steps.first(half), outcomes.first(half));
    decode(steps.subspan(half), outcomes.subspan(half));
}

bool Engine::has_suspect(std::span<const sched::Step> steps) const {
    if (suspects_.empty()) return false;
    return std::ranges::any_of(steps,
                               [this](const sched::Step& step) { return suspects_.contains(step.id); });
}

/// All that is computed is given up; nobody's request is, but for those who are to blame.
void Engine::start_over() {
    is_torn_ = false;
    context_->clear();
    checkpoints_.clear();
    scheduler_.start_over();
    for (const base::RequestId id : blamed_) {
        scheduler_.cancel(id);
        fail(id, Code::engine_failed);
    }
    blamed_.clear();
}

void Engine::fail(base::RequestId id, Code code) {
    static constexpr const char* kNoMemory = "There is not enough memory to compute this request now. Try "
                                             "again later, or load the model with a shorter "
                                             "context or fewer parallel requests.";
    const bool is_memory = code == Code::out_of_memory;
    fail(id, {.code = code, .message = is_memory ? kNoMemory : "The model could not compute this request."});
}

void Engine::fail(base::RequestId id, base::Error error) {
    events_.emplace_back(FailureEvent{.id = id, .error = std::move(error)});
    forget(id);
}

void Engine::check_integrity() {
    owner_.check();
    scheduler_.check_integrity();
    const sched::Stashes& stashes = scheduler_.stashes();
    INGLE_ASSERT(host_memory_.size() == static_cast<size_t>(stashes.size()) + stashes.dropped());
    const std::vector<int32_t> held = scheduler_.held();
    for (size_t slot = 0; slot < held.size(); ++slot) {
        if (held[slot] == 0) continue;
        // Cells of wrong guesses are trimmed with the next plan.
        const auto at = static_cast<base::Slot>(slot);
        INGLE_ASSERT(options_.speculates ? context_->reaches(at, held[slot])
                                         : context_->ends_at(at, held[slot]));
    }
}

} // namespace engine
