// One sampling whose grammar asks for more work than an engine step may spend on it. It has a thread of its own, which runs
// only while go_on() waits for it and stops where its share of steps is used up: like a function that can be left in its
// middle. So the work is the same as on the engine's thread, and nothing about it is shared between two running threads.
// Used by Generation.
#pragma once

#include "base/types.h"
#include "llama/grammar/work_share.h"

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace engine {

class SlowSampling {
public:
    using Work = std::function<base::Token(llama_rt::WorkShare& share)>;

    /// Begins with the first go_on(). What `work` uses must outlive this.
    explicit SlowSampling(Work work);
    /// Leaves it where it is.
    ~SlowSampling();
    SlowSampling(const SlowSampling&) = delete;
    SlowSampling& operator=(const SlowSampling&) = delete;

    /// Goes on for at most so many steps, and takes those that it needed off them. True when it is done.
    bool go_on(size_t& steps);

    /// Once it is done: the token, or what the work threw.
    base::Token token() const;

private:
    class Share final : public llama_rt::WorkShare {
    public:
        explicit Share(SlowSampling& owner) : owner_(owner) {}

    protected:
        void used_up() override { owner_.wait_for_more(); }

    private:
        SlowSampling& owner_;
    };

    enum class Turn { caller, worker };

    void run();
    void wait_for_more();

    const Work work_;
    Share share_{*this};

    std::mutex mutex_;
    std::condition_variable changed_;
    // Guarded by mutex_.
    Turn turn_ = Turn::caller;
    bool is_left_ = false;
    bool is_done_ = false;
    base::Token token_ = 0;
    std::exception_ptr error_;

    /// Last, so that it ends before anything it uses is gone.
    std::jthread thread_;
};

} // namespace engine
