#include "sched/waiting_queue.h"

#include <algorithm>

namespace sched {

void WaitingQueue::enter(Sequence& sequence) {
    waiting_.push_back(&sequence);
    served_.try_emplace(sequence.request().client, virtual_time_);
}

std::vector<Sequence*> WaitingQueue::first(size_t count) const {
    const auto before = [this](const Sequence* a, const Sequence* b) {
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

void WaitingQueue::leave(const Sequence& sequence) {
    const auto found = std::ranges::find(waiting_, &sequence);
    INGLE_ASSERT(found != waiting_.end());
    waiting_.erase(found);
}

void WaitingQueue::charge(const std::string& client, int32_t tokens) {
    served_[client] += tokens;
    virtual_time_ += tokens / static_cast<double>(served_.size());
}

double WaitingQueue::served(const std::string& client) const {
    const auto found = served_.find(client);
    return found == served_.end() ? virtual_time_ : found->second;
}

} // namespace sched
