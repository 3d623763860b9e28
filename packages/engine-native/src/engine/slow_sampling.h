// Samples one token whose grammar takes more work than an engine step may spend on it. The work has its own thread, which runs
// only while resume() waits for it and pauses when its share of steps is used up, like a coroutine. So the code is the same as on
// the engine's thread, and two running threads never share anything.
#pragma once

#include "base/types.h"
#include "grammar/stack_set.h"

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace engine {

class SlowSampling {
public:
    using Work = std::function<base::Token(grammar::WorkShare& share)>;

    /// Starts with the first resume(). Everything that `work` uses must outlive this.
    explicit SlowSampling(Work work);
    /// Abandons the work.
    ~SlowSampling();
    SlowSampling(const SlowSampling&) = delete;
    SlowSampling& operator=(const SlowSampling&) = delete;

    /// Continues for at most `steps`, and subtracts the steps used. True once the work is done.
    bool resume(size_t& steps);

    /// REQUIRES: the work is done. Returns the token, or throws what the work threw.
    base::Token token() const;

private:
    class Share final : public grammar::WorkShare {
    public:
        explicit Share(SlowSampling& owner) : owner_(owner) {}

    protected:
        void used_up() override { owner_.wait_for_more(); }

    private:
        SlowSampling& owner_;
    };

    enum class Runs { caller, worker };

    void run();
    void wait_for_more();

    const Work work_;
    Share share_{*this};

    std::mutex mutex_;
    std::condition_variable changed_;
    // Guarded by mutex_.
    Runs runs_ = Runs::caller;
    bool is_abandoned_ = false;
    bool is_done_ = false;
    base::Token token_ = 0;
    std::exception_ptr error_;

    /// Last, so that it ends before anything it uses is destroyed.
    std::jthread thread_;
};

} // namespace engine
