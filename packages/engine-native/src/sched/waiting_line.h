// Who is served next: sequences that were preempted first, oldest first; then fair among clients by the tokens each
// has had (a virtual token counter, after Sheng et al., arXiv 2401.00588), first come first served within one.
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

    /// The sequence to be admitted next, or nullptr. The line keeps it until leave().
    Sequence* next() const;

    /// Takes a sequence out: it was admitted or cancelled.
    void leave(const Sequence& sequence);

    /// Charges computed tokens to a client that has a request here or running.
    void charge(const std::string& client, int32_t tokens);

    /// A client's last request has ended: its account is closed.
    void forget(const std::string& client) { served_.erase(client); }

    size_t size() const { return waiting_.size(); }

private:
    uint64_t served(const std::string& client) const;

    std::vector<Sequence*> waiting_;
    /// Tokens charged to each client that has a request in the house.
    std::unordered_map<std::string, uint64_t> served_;
};

} // namespace sched
