#include "process/confinement.h"

#ifdef __linux__
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <thread>

#include <sys/syscall.h>
#include <unistd.h>

namespace process {

namespace {

/// The C library keeps this signal for itself, to call setuid() on every thread or to cancel one. Nobody does either here, and no
/// thread can block it: Node and drivers have threads that block all others.
constexpr int kSignal = 33;
constexpr auto kResponseTimeMax = std::chrono::seconds(1);
constexpr auto kPause = std::chrono::microseconds(100);

std::atomic<bool (*)()> called = nullptr;
std::atomic<bool> has_failed = false;
std::atomic<pid_t> last_response = 0;

pid_t this_thread() {
    return static_cast<pid_t>(syscall(SYS_gettid));
}

void respond(int) {
    const int error = errno;
    if (!called.load()()) has_failed = true;
    last_response = this_thread();
    errno = error;
}

/// The handler of kSignal while this lives. sigaction() refuses that signal, so the kernel's record of the handler is made by setting it for
/// another signal.
class Handler {
public:
    Handler() {
        struct sigaction action{};
        struct sigaction previous{};
        action.sa_handler = respond;
        action.sa_flags = SA_RESTART;
        Record record{};
        is_set_ = sigaction(SIGRTMAX, &action, &previous) == 0 && exchange(SIGRTMAX, nullptr, &record) &&
                  sigaction(SIGRTMAX, &previous, nullptr) == 0 && exchange(kSignal, &record, &previous_);
    }
    ~Handler() {
        if (is_set_) exchange(kSignal, &previous_, nullptr);
    }
    Handler(const Handler&) = delete;
    Handler& operator=(const Handler&) = delete;

    bool is_set() const { return is_set_; }

private:
    /// Larger than the kernel's structure on any architecture.
    using Record = std::array<unsigned long, 16>;

    static bool exchange(int signal, const Record* record, Record* previous) {
        constexpr size_t kMaskBytes = 8; // of the kernel's signal sets
        return syscall(SYS_rt_sigaction, signal, record, previous, kMaskBytes) == 0;
    }

    bool is_set_ = false;
    Record previous_{};
};

/// Waits until the thread has responded or ended.
bool interrupt(pid_t thread) {
    const auto deadline = std::chrono::steady_clock::now() + kResponseTimeMax;
    if (syscall(SYS_tgkill, getpid(), thread, kSignal) != 0) return errno == ESRCH;
    while (last_response != thread) {
        if (syscall(SYS_tgkill, getpid(), thread, 0) != 0) return errno == ESRCH;
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(kPause);
    }
    return true;
}

} // namespace

bool on_every_thread(bool (*function)()) {
    called = function;
    has_failed = false;
    const Handler handler;
    if (!handler.is_set() || !function()) return false;
    std::set<pid_t> seen = {this_thread()};
    for (bool is_any_new = true; is_any_new;) {
        is_any_new = false;
        std::error_code error;
        std::filesystem::directory_iterator entries("/proc/self/task", error);
        for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
            const std::string name = entries->path().filename();
            pid_t thread = 0;
            std::from_chars(name.data(), name.data() + name.size(), thread);
            if (!seen.insert(thread).second) continue;
            is_any_new = true;
            if (!interrupt(thread)) has_failed = true;
        }
        if (error) return false;
    }
    return !has_failed;
}

} // namespace process
#endif
