// Decides who is admitted next: those of the highest priority; of these, preempted sequences first, the oldest before the others; then
// fairly among clients by the tokens that each has received (a virtual token counter, after Sheng et al., arXiv 2401.00588); within one
// client in order of arrival.
//
// A new client starts as if it had received an equal share of all tokens so far (the virtual time of fair queueing): it is owed
// nothing for the past and does not overtake those who wait. So a stream of new clients starves nobody.
#pragma once

#include "sched/sequence.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace sched {

class WaitingQueue {
public:
    void enter(Sequence& sequence) {
        waiting_.push_back(&sequence);
        background_ += sequence.is_background() ? 1 : 0;
        served_.try_emplace(sequence.request().client, virtual_time_);
    }

    /// The first `count` sequences in order of admission. They stay in the queue until leave().
    std::vector<Sequence*> first(size_t count) const {
        const auto before = [this](const Sequence* a, const Sequence* b) {
            if (a->priority() != b->priority()) return a->priority() > b->priority();
            if (a->was_preempted() != b->was_preempted()) return a->was_preempted();
            if (!a->was_preempted()) {
                const double served_a = served(a->request().client);
                const double served_b = served(b->request().client);
                if (served_a != served_b) return served_a < served_b;
            }
            return a->arrival() < b->arrival();
        };
        std::vector<Sequence*> first(std::min(count, waiting_.size()));
        std::ranges::partial_sort_copy(waiting_, first, before);
        return first;
    }

    /// Whether a sequence of a higher priority than this waits.
    bool has_above(int32_t priority) const {
        return std::ranges::any_of(
            waiting_, [priority](const Sequence* sequence) { return sequence->priority() > priority; });
    }

    /// Removes a sequence that was admitted or cancelled.
    void leave(const Sequence& sequence) {
        const auto found = std::ranges::find(waiting_, &sequence);
        INGLE_ASSERT(found != waiting_.end());
        waiting_.erase(found);
        background_ -= sequence.is_background() ? 1 : 0;
    }

    /// Charges computed tokens to a client that has a request in flight.
    void charge(const std::string& client, int32_t tokens) {
        served_[client] += tokens;
        virtual_time_ += tokens / static_cast<double>(served_.size());
    }

    /// Closes the account of a client whose last request has ended.
    void forget(const std::string& client) { served_.erase(client); }

    size_t size() const { return waiting_.size(); }
    /// How many of them are in the background.
    size_t background() const { return background_; }

private:
    double served(const std::string& client) const {
        const auto found = served_.find(client);
        return found == served_.end() ? virtual_time_ : found->second;
    }

    std::vector<Sequence*> waiting_;
    size_t background_ = 0;
    /// Tokens charged to each client with a request in flight, on top of where it started.
    std::unordered_map<std::string, double> served_;
    double virtual_time_ = 0;
};

} // namespace sched
