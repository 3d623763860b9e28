// The images of scheduler_random_test.cpp: their tokens in a prompt, and a source that has each of them ready a few steps after it
// was first asked for.
#pragma once

#include "random.h"
#include "sched/step.h"

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace test {

/// A world's images: `count` of them, of up to `tokens_max` tokens. Equal numbers are equal images.
struct NaiveImageKinds {
    int32_t count = 0;
    int32_t tokens_max = 1;

    int32_t tokens_of(base::ImageId image) const { return 1 + image * 7 % tokens_max; }

    void append_to(std::vector<base::Token>& text, base::ImageId image) const {
        for (int32_t i = 0; i < tokens_of(image); ++i) text.push_back(base::image_token(image, i == 0));
    }
};

class NaiveImageSource final : public sched::ImageSource {
public:
    /// Each image is late by 0 … late_max steps, again for every request and after it was computed.
    NaiveImageSource(uint64_t seed, int32_t late_max) : random_(seed), late_max_(late_max) {}

    bool prepare(base::RequestId id, base::ImageId image) override {
        if (waiting_.contains(id)) return false; // asked again in this step
        const auto [entry, is_new] = steps_left_.try_emplace({id, image}, 0);
        if (is_new) entry->second = random_.between(0, late_max_);
        if (entry->second == 0) return true;
        entry->second -= 1;
        waiting_.insert(id);
        late_ += 1;
        return false;
    }

    /// As in the engine, an image stays until it is computed for this request.
    void computed(base::RequestId id, base::ImageId image) { steps_left_.erase({id, image}); }

    /// Requests whose image was not ready since the last call.
    std::set<base::RequestId> take_waiting() { return std::exchange(waiting_, {}); }

    uint64_t late() const { return late_; }

private:
    Random random_;
    const int32_t late_max_;
    std::map<std::pair<base::RequestId, base::ImageId>, int32_t> steps_left_;
    std::set<base::RequestId> waiting_;
    uint64_t late_ = 0;
};

} // namespace test
