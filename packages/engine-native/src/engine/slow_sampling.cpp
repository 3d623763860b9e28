#include "engine/slow_sampling.h"

#include <utility>

namespace engine {

SlowSampling::SlowSampling(Work work) : work_(std::move(work)), thread_([this] { run(); }) {}

SlowSampling::~SlowSampling() {
    {
        std::lock_guard lock(mutex_);
        is_abandoned_ = true;
        runs_ = Runs::worker;
    }
    changed_.notify_all();
}

bool SlowSampling::resume(size_t& steps) {
    std::unique_lock lock(mutex_);
    if (is_done_) return true;
    share_.left = steps;
    runs_ = Runs::worker;
    changed_.notify_all();
    changed_.wait(lock, [this] { return runs_ == Runs::caller; });
    steps = share_.left;
    return is_done_;
}

base::Token SlowSampling::token() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
    return token_;
}

void SlowSampling::run() {
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return runs_ == Runs::worker; });
        if (is_abandoned_) return;
    }
    base::Token token = 0;
    std::exception_ptr error;
    try {
        token = work_(share_);
    } catch (...) {
        error = std::current_exception(); // rethrown by token()
    }
    std::lock_guard lock(mutex_);
    token_ = token;
    error_ = std::move(error);
    is_done_ = true;
    runs_ = Runs::caller;
    changed_.notify_all();
}

/// On the worker's thread, in the middle of its work.
void SlowSampling::wait_for_more() {
    std::unique_lock lock(mutex_);
    runs_ = Runs::caller;
    changed_.notify_all();
    changed_.wait(lock, [this] { return runs_ == Runs::worker; });
    if (is_abandoned_) throw grammar::ShareUsedUp();
}

} // namespace engine
