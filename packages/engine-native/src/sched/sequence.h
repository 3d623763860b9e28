// A request's tokens and how far they are computed, as an explicit state machine:
//
//                 admit                    finish, fail, cancel
//     waiting ------------> running ----------------------------> ended
//        ^                     |                                    ^
//        |      preempt        |               cancel               |
//        +---------------------+  waiting --------------------------+
//
// Three half-open, nested intervals describe its tokens:
//
//     [0, computed)   have their state in the KV cache: computed, shared or swapped in
//     [0, length)     are known: the prompt and the tokens generated so far
//     [0, reserved)   may have cells; computed <= length <= reserved + 1, and reserved only while running
//
// All of them end within the context. A sequence ends when it has generated its last token. If it fills the context before
// that (possible only with Request::turns), it is cut before anything else is computed: the cut's tokens leave all three
// intervals. Either its cells are moved and it keeps running, or it is preempted, cut and computed again.
//
// There is no prefill state and no decode state: a step computes tokens from `computed` towards `length`, and a sequence with
// one token to go is decoding.
#pragma once

#include "base/result.h"
#include "base/types.h"
#include "sched/request.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sched {

enum class State { waiting, running, ended };

class Sequence {
public:
    /// `arrival` counts requests: smaller is older.
    Sequence(Request request, uint64_t arrival, int32_t context_length)
        : request_(std::move(request)),
          space_(request_.space()),
          arrival_(arrival),
          context_length_(context_length),
          tokens_(std::move(request_.prompt)),
          generate_left_(request_.generate_max) {
        INGLE_ASSERT(!tokens_.empty() && length() < context_length && generate_left_ >= 1);
        // In a context of two tokens, a cut would leave no computed token.
        if (request_.turns) INGLE_ASSERT(2 * request_.turns->keep < context_length && context_length >= 3);
        else INGLE_ASSERT(generate_left_ <= context_length - length());
    }

    /// As submitted, except for the prompt, which is part of tokens(), and for cut tokens.
    const Request& request() const { return request_; }
    base::RequestId id() const { return request_.id; }
    const std::string& space() const { return space_; }
    uint64_t arrival() const { return arrival_; }
    int32_t priority() const { return request_.priority; }
    bool is_background() const { return priority() == kBackground; }
    /// Which of two running sequences keeps its cells and computes first: that of the higher priority, then the older one.
    bool goes_before(const Sequence& other) const {
        if (priority() != other.priority()) return priority() > other.priority();
        return arrival_ < other.arrival_;
    }
    State state() const { return state_; }
    base::Slot slot() const { return slot_; }
    int32_t length() const { return static_cast<int32_t>(tokens_.size()); }
    std::span<const base::Token> tokens() const { return tokens_; }
    int32_t computed() const { return computed_; }
    int32_t reserved() const { return reserved_; }
    bool was_preempted() const { return was_preempted_; }
    /// The last step with its adapters, or else the one in which it was admitted.
    uint64_t last_step() const { return last_step_; }
    void note_step(uint64_t step) { last_step_ = step; }

    /// Number of cells reserved and not filled yet.
    int32_t reserved_ahead() const { return reserved_ - computed_; }
    int32_t pending() const { return length() - computed_; }
    /// Number of tokens that one step may compute: text up to the next image, or the rest of one image.
    int32_t pending_of_kind() const {
        return std::min(base::end_of_kind(tokens_, computed_), length()) - computed_;
    }
    /// The image to compute next; nothing if text is next.
    std::optional<base::ImageId> next_image() const {
        const base::Token next = tokens_[static_cast<size_t>(computed_)];
        return base::is_image(next) ? std::optional(base::image_of(next)) : std::nullopt;
    }
    /// Tokens of next_image() that are computed already.
    int32_t image_offset() const { return computed_ - base::last_edge(tokens_, computed_); }
    /// Tokens up to the next of the prompt's boundaries, or all pending ones.
    int32_t pending_to_boundary() const {
        const auto next = std::ranges::upper_bound(request_.boundaries, computed_);
        return next == request_.boundaries.end() ? pending() : std::min(*next - computed_, pending());
    }
    /// Whether the next token ends at a boundary.
    bool is_before_boundary() const { return std::ranges::binary_search(request_.boundaries, computed_ + 1); }
    bool is_at_boundary() const { return std::ranges::binary_search(request_.boundaries, computed_); }
    /// Whether everything is computed, but the token sampled after it is not known yet.
    bool awaits_token() const { return state_ == State::running && pending() == 0; }
    /// Whether it computes one token at a time: its prompt, or what a preemption lost, is computed.
    bool is_decoding() const { return pending() == 1 && computed_ > 0 && !base::is_image(tokens_.back()); }
    /// Number of tokens at which it ends or is cut.
    int32_t length_max() const { return length() + std::min(generate_left_, context_length_ - length()); }
    /// Whether it fills the context, so that it must be cut before anything else is computed.
    bool is_full() const { return length() == context_length_; }
    /// What a full sequence drops: never a part of an image.
    Cut next_cut() const {
        INGLE_ASSERT(is_full() && request_.turns);
        Cut cut = request_.turns->cut_running(length());
        cut.drop = base::next_edge(tokens_, cut.end()) - cut.keep;
        return cut;
    }

    /// Starts to run in `slot`, which holds its first `cached` tokens.
    void admit(base::Slot slot, int32_t cached, int32_t reserved) {
        INGLE_ASSERT(state_ == State::waiting && reserved >= length() && cached < length());
        state_ = State::running;
        slot_ = slot;
        computed_ = cached;
        reserved_ = reserved;
    }

    void reserve(int32_t cells) {
        INGLE_ASSERT(state_ == State::running && cells >= reserved_);
        reserved_ = cells;
    }

    void advance(int32_t tokens) {
        INGLE_ASSERT(state_ == State::running && tokens > 0 && tokens <= pending());
        computed_ += tokens;
    }

    /// Appends a generated token.
    void append(base::Token token) {
        INGLE_ASSERT(computed_ == length() && length() < length_max());
        tokens_.push_back(token);
        generate_left_ -= 1;
    }

    /// Drops the tokens of a cut. If the sequence runs, its cells have been moved.
    void drop(const Cut& cut) {
        INGLE_ASSERT(cut.drop > 0 && cut.end() < length());
        const auto first = tokens_.begin() + cut.keep;
        tokens_.erase(first, first + cut.drop);
        apply_cut(request_.boundaries, cut);
        apply_cut(request_.turns->ends, cut);
        if (state_ != State::running) return;
        INGLE_ASSERT(cut.end() <= computed_);
        computed_ -= cut.drop;
        reserved_ -= cut.drop;
    }

    /// Gives up its cells and waits again; its tokens stay and are computed again.
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
    std::string space_;
    uint64_t arrival_;
    int32_t context_length_;
    State state_ = State::waiting;
    base::Slot slot_ = base::kNoSlot;
    std::vector<base::Token> tokens_;
    int32_t generate_left_;
    int32_t computed_ = 0;
    int32_t reserved_ = 0;
    bool was_preempted_ = false;
    uint64_t last_step_ = 0;
};

} // namespace sched
