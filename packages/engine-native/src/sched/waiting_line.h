// Who is served next: sequences that were preempted first, oldest first; then fair among clients by the tokens each
// has had (a virtual token counter, after Sheng et al., arXiv 2401.00588), first come first served within one.
//
// A newcomer starts where a client would be that had its equal share of all tokens all the time (the virtual time of
// fair queueing), neither owed the past nor ahead of those who wait: a stream of ever new clients starves nobody.
#pragma once

#include "sched/sequence.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace sched {

class WaitingLine {
public:
    void enter(Sequence& sequence);

    /// The first `count` sequences in the order in which they are to be admitted. The line keeps them until leave().
    std::vector<Sequence*> first(size_t count) const;

    /// Takes a sequence out: it was admitted or cancelled.
    void leave(const Sequence& sequence);

    /// Charges computed tokens to a client that has a request here or running.
    void charge(const std::string& client, int32_t tokens);

    /// A client's last request has ended: its account is closed.
    void forget(const std::string& client) { served_.erase(client); }

    size_t size() const { return waiting_.size(); }

private:
    double served(const std::string& client) const;

    std::vector<Sequence*> waiting_;
    /// Tokens charged to each client that has a request in the house, on top of where it started.
    std::unordered_map<std::string, double> served_;
    double virtual_time_ = 0;
};

} // namespace sched
