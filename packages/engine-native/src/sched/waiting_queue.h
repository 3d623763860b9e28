// Decides who is admitted next: preempted sequences first, the oldest before the others; then fairly among clients by the
// tokens that each has had (a virtual token counter, after Sheng et al., arXiv 2401.00588); within one client in order of
// arrival.
//
// A new client starts where it would be with an equal share of all tokens so far (the virtual time of fair queueing): it is
// owed nothing for the past and is not ahead of those who wait. So a stream of new clients starves nobody.
#pragma once

#include "sched/sequence.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace sched {

class WaitingQueue {
public:
    void enter(Sequence& sequence);

    /// The first `count` sequences in the order of admission. They stay in the queue until leave().
    std::vector<Sequence*> first(size_t count) const;

    /// Removes a sequence that was admitted or cancelled.
    void leave(const Sequence& sequence);

    /// Charges computed tokens to a client that has a request in flight.
    void charge(const std::string& client, int32_t tokens);

    /// Closes the account of a client whose last request has ended.
    void forget(const std::string& client) { served_.erase(client); }

    size_t size() const { return waiting_.size(); }

private:
    double served(const std::string& client) const;

    std::vector<Sequence*> waiting_;
    /// Tokens charged to each client with a request in flight, on top of where it started.
    std::unordered_map<std::string, double> served_;
    double virtual_time_ = 0;
};

} // namespace sched
