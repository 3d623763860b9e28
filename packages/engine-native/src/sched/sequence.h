// One request on its way through the engine, as an explicit state machine:
//
//                 admit                    finish, fail, cancel
//     waiting ------------> running ----------------------------> ended
//        ^                     |                                    ^
//        |      preempt        |               cancel               |
//        +---------------------+  waiting --------------------------+
//
// Of its tokens, three intervals matter (half open, nested):
//
//     [0, computed)   have their state in the context's cells
//     [0, length)     are known: the prompt and what was generated so far
//     [0, reserved)   may have cells; computed <= length <= reserved + 1, and reserved only while running
//
// There is no prefill state and no decode state: a sequence catches up from `computed` to `length`, and when it has
// one token to go, it is decoding.
#pragma once

#include "base/result.h"
#include "sched/request.h"

namespace sched {

enum class State { waiting, running, ended };

class Sequence {
public:
    /// `arrival` counts up with every request: smaller is older.
    Sequence(Request request, uint64_t arrival)
        : request_(std::move(request)), arrival_(arrival), length_(request_.prompt_tokens) {}

    const Request& request() const { return request_; }
    base::RequestId id() const { return request_.id; }
    uint64_t arrival() const { return arrival_; }
    State state() const { return state_; }
    base::Slot slot() const { return slot_; }
    int32_t length() const { return length_; }
    int32_t computed() const { return computed_; }
    int32_t reserved() const { return reserved_; }
    bool was_preempted() const { return was_preempted_; }

    int32_t pending() const { return length_ - computed_; }
    /// Decoding: one token at a time, after the prompt (or what a preemption lost) is computed.
    bool is_decoding() const { return pending() == 1 && computed_ > 0; }
    /// Most tokens it will ever have.
    int32_t length_max() const { return request_.prompt_tokens + request_.generate_max; }

    void admit(base::Slot slot, int32_t reserved) {
        INGLE_ASSERT(state_ == State::waiting && reserved >= length_);
        state_ = State::running;
        slot_ = slot;
        reserved_ = reserved;
    }

    void reserve(int32_t cells) {
        INGLE_ASSERT(state_ == State::running && cells >= reserved_);
        reserved_ = cells;
    }

    void advance(int32_t tokens, bool sampled) {
        INGLE_ASSERT(state_ == State::running && tokens > 0 && tokens <= pending());
        computed_ += tokens;
        if (!sampled) return;
        INGLE_ASSERT(computed_ == length_);
        length_ += 1;
    }

    /// Loses its cells and waits again; what was generated stays and is computed anew.
    void preempt() {
        INGLE_ASSERT(state_ == State::running);
        leave(State::waiting);
        was_preempted_ = true;
    }

    void end() {
        INGLE_ASSERT(state_ != State::ended);
        leave(State::ended);
    }

private:
    void leave(State next) {
        state_ = next;
        slot_ = base::kNoSlot;
        computed_ = 0;
        reserved_ = 0;
    }

    Request request_;
    uint64_t arrival_;
    State state_ = State::waiting;
    base::Slot slot_ = base::kNoSlot;
    int32_t length_;
    int32_t computed_ = 0;
    int32_t reserved_ = 0;
    bool was_preempted_ = false;
};

} // namespace sched
