#include "work.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#ifdef _WIN32
#    ifndef WIN32_LEAN_AND_MEAN
#        define WIN32_LEAN_AND_MEAN
#    endif
#    ifndef NOMINMAX
#        define NOMINMAX
#    endif
#    include <windows.h>
#else
#    include <ctime>
#endif

namespace jinja {

// units between two readings of the clock: a fraction of a millisecond
static constexpr uint64_t WORK_SLICE = uint64_t{1} << 18;

// the part of a limit that is read only together with the clock
struct work_terms {
    bool         limited = false;
    uint64_t     units   = 0; // total allowance
    int64_t      end_ns  = 0;
    const char * ended   = nullptr; // why the work was ended; null while it continues
    const std::atomic<bool> * is_cancelled = nullptr;
};
static thread_local work_terms terms;

static int64_t thread_time_ns() {
#ifdef _WIN32
    FILETIME made, ended, kernel, user;
    if (!GetThreadTimes(GetCurrentThread(), &made, &ended, &kernel, &user)) {
        return 0;
    }
    const auto ticks = [](const FILETIME & time) {
        return (static_cast<int64_t>(time.dwHighDateTime) << 32) | time.dwLowDateTime;
    };
    return (ticks(kernel) + ticks(user)) * 100;
#else
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
#endif
}

// no units are left afterwards: code that catches the exception inside a template cannot continue
[[noreturn]] static void end_work(const char * reason) {
    if (terms.ended == nullptr) {
        terms.ended = reason;
    }
    work_now.units       = 0;
    work_now.units_after = 0;
    throw std::runtime_error(terms.ended);
}

static void begin_slice() {
    work_now.units = std::min(WORK_SLICE, work_now.units_after);
    work_now.units_after -= work_now.units;
}

work_limit::work_limit(const work_allowance & allowance) {
    terms.limited        = true;
    terms.units          = allowance.units;
    terms.end_ns         = thread_time_ns() + static_cast<int64_t>(allowance.milliseconds) * 1000000;
    terms.ended          = nullptr;
    terms.is_cancelled   = allowance.is_cancelled;
    work_now.units_after = allowance.units;
    work_now.bytes_peak  = work_now.bytes;
    work_now.bytes_max   = work_now.bytes + static_cast<int64_t>(allowance.bytes);
    work_now.bytes_each  = allowance.bytes / 8;
    begin_slice();
}

work_limit::~work_limit() {
    const work_state before;
    terms               = work_terms();
    work_now.units      = before.units;
    work_now.bytes_max  = before.bytes_max;
    work_now.bytes_each = before.bytes_each;
}

const char * work_limit::ended() const {
    return terms.ended;
}

uint64_t work_limit::units_taken() const {
    return terms.units - work_now.units - work_now.units_after;
}

size_t work_limit::bytes_taken() const {
    return static_cast<size_t>(work_now.bytes_peak);
}

void work_look(uint64_t units) {
    if (!terms.limited) {
        work_now.units = UINT64_MAX;
        return;
    }
    if (terms.ended != nullptr) {
        end_work(terms.ended);
    }
    if (terms.is_cancelled != nullptr && terms.is_cancelled->load(std::memory_order_relaxed)) {
        end_work("nobody waits for the template any more");
    }
    if (units - work_now.units > work_now.units_after || thread_time_ns() > terms.end_ns) {
        end_work("the template takes too long");
    }
    work_now.units_after -= units - work_now.units;
    begin_slice();
}

void work_memory::none_left() {
    end_work("the template takes too much memory");
}

void work_depth::too_deep() {
    throw std::runtime_error("the template nests too deeply");
}

std::string work_spaces(int64_t count) {
    if (count <= 0) {
        return "";
    }
    const work_memory memory(static_cast<size_t>(count));
    work_on(static_cast<uint64_t>(count));
    return std::string(static_cast<size_t>(count), ' ');
}

size_t work_find(const std::string & text, const std::string & what, size_t from) {
    // searched in pieces, so that work is counted before most of it is done
    static constexpr size_t PIECE = 1 << 16;
    if (what.empty() || from > text.size()) {
        return text.find(what, from);
    }
    while (text.size() - from >= what.size()) {
        const size_t piece = std::min(PIECE, text.size() - from - what.size() + 1);
        const void * found = std::memchr(text.data() + from, what[0], piece);
        const size_t passed = found == nullptr ? piece : static_cast<size_t>(static_cast<const char *>(found) - text.data()) - from;
        work_on(4 + passed / 8);
        from += passed;
        if (found == nullptr) {
            continue;
        }
        work_on(4 + what.size() / 8);
        if (text.compare(from, what.size(), what) == 0) {
            return from;
        }
        ++from;
    }
    return std::string::npos;
}

} // namespace jinja
