#include "sched/waiting_line.h"

#include <algorithm>

namespace sched {

void WaitingLine::enter(Sequence& sequence) {
    waiting_.push_back(&sequence);
    if (served_.contains(sequence.request().client)) return;
    // A newcomer starts level with the one who has had least: neither owed the past nor ahead of everybody.
    uint64_t least = 0;
    if (!served_.empty())
        least = std::ranges::min_element(served_, {}, [](auto& entry) { return entry.second; })->second;
    served_.emplace(sequence.request().client, least);
}

Sequence* WaitingLine::next() const {
    const auto before = [this](const Sequence* a, const Sequence* b) {
        if (a->was_preempted() != b->was_preempted()) return a->was_preempted();
        if (!a->was_preempted()) {
            const uint64_t served_a = served(a->request().client);
            const uint64_t served_b = served(b->request().client);
            if (served_a != served_b) return served_a < served_b;
        }
        return a->arrival() < b->arrival();
    };
    const auto first = std::ranges::min_element(waiting_, before);
    return first == waiting_.end() ? nullptr : *first;
}

void WaitingLine::leave(const Sequence& sequence) {
    const auto found = std::ranges::find(waiting_, &sequence);
    INGLE_ASSERT(found != waiting_.end());
    waiting_.erase(found);
}

void WaitingLine::charge(const std::string& client, int32_t tokens) {
    served_[client] += static_cast<uint64_t>(tokens);
}

uint64_t WaitingLine::served(const std::string& client) const {
    const auto found = served_.find(client);
    return found == served_.end() ? 0 : found->second;
}

} // namespace sched
