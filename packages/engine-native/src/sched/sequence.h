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
//     [0, computed)   have their state in the context's cells, computed here or shared
//     [0, length)     are known: the prompt and what was generated so far
//     [0, reserved)   may have cells; computed <= length <= reserved + 1, and reserved only while running
//
// All of them end within the context. A sequence ends when it has generated what it may; one that comes to fill the
// context before (possible only with Request::turns) is cut before it is computed any further: the tokens of the cut
// leave all three intervals, which become shorter by as many. Either its cells are moved and it runs on, or it is
// preempted, cut, and computed anew.
//
// There is no prefill state and no decode state: a sequence catches up from `computed` to `length`, and when it has
// one token to go, it is decoding.
#pragma once

#include "base/image_tokens.h"
#include "base/result.h"
#include "sched/request.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sched {

enum class State { waiting, running, ended };

class Sequence {
public:
    /// `arrival` counts up with every request: smaller is older.
    Sequence(Request request, uint64_t arrival, int32_t context_length)
        : request_(std::move(request)),
          arrival_(arrival),
          context_length_(context_length),
          tokens_(std::move(request_.prompt)),
          generate_left_(request_.generate_max) {
        INGLE_ASSERT(!tokens_.empty() && length() < context_length && generate_left_ >= 1);
        // Of two tokens, what is left after a cut would have nothing computed.
        if (request_.turns) INGLE_ASSERT(2 * request_.turns->keep < context_length && context_length >= 3);
        else INGLE_ASSERT(generate_left_ <= context_length - length());
    }

    /// As it came in, but for the prompt, which is in tokens(), and what was cut.
    const Request& request() const { return request_; }
    base::RequestId id() const { return request_.id; }
    uint64_t arrival() const { return arrival_; }
    State state() const { return state_; }
    base::Slot slot() const { return slot_; }
    int32_t length() const { return static_cast<int32_t>(tokens_.size()); }
    std::span<const base::Token> tokens() const { return tokens_; }
    int32_t computed() const { return computed_; }
    int32_t reserved() const { return reserved_; }
    bool was_preempted() const { return was_preempted_; }

    /// Reserved and not yet filled.
    int32_t future() const { return reserved_ - computed_; }
    int32_t pending() const { return length() - computed_; }
    /// Tokens that one step may take: of text up to the next image, or the rest of one image.
    int32_t pending_of_kind() const {
        return std::min(base::end_of_kind(tokens_, computed_), length()) - computed_;
    }
    /// The image that is to be computed next; nothing where that is text.
    std::optional<base::ImageId> image_due() const {
        const base::Token next = tokens_[static_cast<size_t>(computed_)];
        return base::is_image(next) ? std::optional(base::image_of(next)) : std::nullopt;
    }
    /// Tokens of the image that is to be computed next which are computed already.
    int32_t image_offset() const { return computed_ - base::last_edge(tokens_, computed_); }
    /// Tokens up to the next of the prompt's boundaries, or all that are pending.
    int32_t pending_to_boundary() const {
        const auto next = std::ranges::upper_bound(request_.boundaries, computed_);
        return next == request_.boundaries.end() ? pending() : std::min(*next - computed_, pending());
    }
    bool is_at_boundary() const { return std::ranges::binary_search(request_.boundaries, computed_); }
    /// All of it is computed, and what was sampled after it is not known yet.
    bool awaits_token() const { return state_ == State::running && pending() == 0; }
    /// Decoding: one token at a time, after the prompt (or what a preemption lost) is computed.
    bool is_decoding() const { return pending() == 1 && computed_ > 0 && !base::is_image(tokens_.back()); }
    /// Most tokens it will have before it ends or is cut.
    int32_t length_max() const { return length() + std::min(generate_left_, context_length_ - length()); }
    /// It fills the context and has to be cut before it is computed any further.
    bool is_full() const { return length() == context_length_; }
    /// What goes then.
    Cut cut_due() const {
        INGLE_ASSERT(is_full() && request_.turns);
        Cut cut = request_.turns->cut_running(length());
        cut.drop = base::next_edge(tokens_, cut.end()) - cut.keep;
        return cut;
    }

    /// `shared` tokens of its beginning have cells already.
    void admit(base::Slot slot, int32_t shared, int32_t reserved) {
        INGLE_ASSERT(state_ == State::waiting && reserved >= length() && shared < length());
        state_ = State::running;
        slot_ = slot;
        computed_ = shared;
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

    /// Adds the token that its last logits gave.
    void add(base::Token token) {
        INGLE_ASSERT(computed_ == length() && length() < length_max());
        tokens_.push_back(token);
        generate_left_ -= 1;
    }

    /// Loses the tokens of a cut; if it runs, its cells have been moved.
    void cut(const Cut& cut) {
        INGLE_ASSERT(cut.drop > 0 && cut.end() < length());
        const auto first = tokens_.begin() + cut.keep;
        tokens_.erase(first, first + cut.drop);
        shorten(request_.boundaries, cut);
        shorten(request_.turns->ends, cut);
        if (state_ != State::running) return;
        INGLE_ASSERT(cut.end() <= computed_);
        computed_ -= cut.drop;
        reserved_ -= cut.drop;
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
    int32_t context_length_;
    State state_ = State::waiting;
    base::Slot slot_ = base::kNoSlot;
    std::vector<base::Token> tokens_;
    int32_t generate_left_;
    int32_t computed_ = 0;
    int32_t reserved_ = 0;
    bool was_preempted_ = false;
};

} // namespace sched
