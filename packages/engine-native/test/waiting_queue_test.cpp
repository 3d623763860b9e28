// sched::WaitingQueue: who is next.
#include "sched/waiting_queue.h"

#include "check.h"

#include <deque>
#include <string>
#include <vector>

using sched::Sequence;
using sched::WaitingQueue;

namespace {

/// A queue and its sequences; ids count arrivals.
class Line {
public:
    Sequence& enter(const std::string& client, int32_t priority = 0) {
        const uint64_t arrival = sequences_.size();
        sequences_.emplace_back(sched::Request{.id = arrival + 1,
                                               .client = client,
                                               .priority = priority,
                                               .prompt = {1, 2},
                                               .generate_max = 2,
                                               .uses_cache = true},
                                arrival, 16);
        line.enter(sequences_.back());
        return sequences_.back();
    }

    /// Returns a sequence that was taken, as preempted.
    void preempt(Sequence& sequence) {
        sequence.admit(0, 0, 2);
        sequence.preempt();
        line.enter(sequence);
    }

    /// Takes the next sequence: its id, or 0 if none waits.
    base::RequestId take() {
        const std::vector<Sequence*> first = line.first(1);
        if (first.empty()) return 0;
        line.leave(*first.front());
        return first.front()->id();
    }

    WaitingQueue line;

private:
    std::deque<Sequence> sequences_;
};

} // namespace

TEST_CASE("waiting queue: an empty one has no next sequence") {
    const WaitingQueue line;
    CHECK(line.first(3).empty());
    CHECK_EQ(line.size(), size_t{0});
}

TEST_CASE("waiting queue: one client is served in order of arrival") {
    Line line;
    for (int i = 0; i < 3; ++i) line.enter("a");
    CHECK_EQ(line.line.size(), size_t{3});
    CHECK_EQ(line.take(), 1U);
    CHECK_EQ(line.take(), 2U);
    CHECK_EQ(line.take(), 3U);
    CHECK_EQ(line.take(), 0U);
}

TEST_CASE("waiting queue: the next sequence stays until it leaves") {
    Line line;
    Sequence& first = line.enter("a");
    CHECK(line.line.first(1) == std::vector<Sequence*>{&first});
    CHECK(line.line.first(1) == std::vector<Sequence*>{&first});
    CHECK_EQ(line.line.size(), size_t{1});
}

TEST_CASE("waiting queue: a sequence in the middle may leave") {
    Line line;
    line.enter("a");
    Sequence& second = line.enter("a");
    line.enter("a");
    line.line.leave(second);
    CHECK_EQ(line.take(), 1U);
    CHECK_EQ(line.take(), 3U);
}

TEST_CASE("waiting queue: the client that has had fewer tokens is served first") {
    Line line;
    line.enter("a");
    line.enter("a");
    line.enter("b");
    line.line.charge("a", 10);
    line.line.charge("b", 9);
    CHECK_EQ(line.take(), 3U);
    line.line.charge("b", 2);
    CHECK_EQ(line.take(), 1U);
}

TEST_CASE("waiting queue: clients with equal shares are served in order of arrival") {
    Line line;
    line.enter("b");
    line.enter("a");
    line.line.charge("a", 5);
    line.line.charge("b", 5);
    CHECK_EQ(line.take(), 1U);
    CHECK_EQ(line.take(), 2U);
}

TEST_CASE("waiting queue: a new client starts level: it neither waits for the past of others nor passes them "
          "for long") {
    Line line;
    line.enter("a");
    line.enter("a");
    line.line.charge("a", 1000);
    line.enter("b");
    CHECK_EQ(line.take(), 1U);
    line.line.charge("a", 1);
    CHECK_EQ(line.take(), 3U);
    line.line.charge("b", 2);
    CHECK_EQ(line.take(), 2U);
}

TEST_CASE("waiting queue: a stream of new clients does not starve one that has had much") {
    Line line;
    line.enter("a");
    line.enter("a");
    CHECK_EQ(line.take(), 1U);
    line.line.charge("a", 100);
    bool is_served = false;
    for (int newcomer = 0; newcomer < 40 && !is_served; ++newcomer) {
        const std::string client = "new " + std::to_string(newcomer);
        line.enter(client);
        is_served = line.take() == 2;
        line.line.charge(client, 10);
        line.line.forget(client);
    }
    CHECK(is_served);
}

TEST_CASE("waiting queue: first() returns the first of many in their order") {
    Line line;
    line.enter("a");
    line.enter("a");
    line.enter("b");
    line.line.charge("a", 1);
    std::vector<base::RequestId> ids;
    for (const Sequence* sequence : line.line.first(2)) ids.push_back(sequence->id());
    CHECK(ids == std::vector<base::RequestId>{3, 1});
}

TEST_CASE("waiting queue: preempted sequences go first, the oldest before the others, whatever their clients "
          "have had") {
    Line line;
    line.enter("a");
    Sequence& older = line.enter("b");
    Sequence& younger = line.enter("c");
    line.line.leave(older);
    line.line.leave(younger);
    line.line.charge("b", 1000);
    line.preempt(younger);
    line.preempt(older);
    CHECK_EQ(line.take(), 2U);
    CHECK_EQ(line.take(), 3U);
    CHECK_EQ(line.take(), 1U);
}

TEST_CASE("waiting queue: a higher priority goes first, also before preempted sequences and clients that "
          "have had less") {
    Line line;
    Sequence& low = line.enter("a", -1);
    line.enter("b");
    line.enter("a", 1);
    line.line.charge("a", 100);
    CHECK(line.line.has_above(0));
    CHECK(!line.line.has_above(1));
    line.line.leave(low);
    line.preempt(low);
    CHECK_EQ(line.take(), 3U);
    CHECK(!line.line.has_above(0));
    CHECK_EQ(line.take(), 2U);
    CHECK_EQ(line.take(), 1U);
}
