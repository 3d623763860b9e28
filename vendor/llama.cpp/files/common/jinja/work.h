// Limits the work of chat templates. Templates come from untrusted model files: without limits, one line of a template could
// run forever or use all memory. A thread with a work_limit counts the work of its templates before it is done, and ends them
// with an exception. Nesting is limited on every thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

namespace jinja {

// what a thread may spend on its templates
struct work_allowance {
    // processor time of this thread, so the load of other processes does not count
    int milliseconds = 0;
    // units of work, the same on every machine: two per byte read, and two per nanosecond of other work (nominal)
    uint64_t units = 0;
    // memory of the values alive at the same time; each string, list and object may take an eighth of it
    size_t bytes = 0;
    // set from any thread when the result is no longer needed; may be null
    const std::atomic<bool> * is_cancelled = nullptr;
};

// limits this thread while it is alive; at most one per thread
struct work_limit {
    explicit work_limit(const work_allowance & allowance);
    ~work_limit();
    work_limit(const work_limit &) = delete;
    work_limit & operator=(const work_limit &) = delete;

    // why the work was ended; null while it continues
    const char * ended() const;

    uint64_t units_taken() const;
    size_t   bytes_taken() const; // peak
};

struct work_state {
    uint64_t units       = UINT64_MAX; // left until the clock is read
    uint64_t units_after = 0;          // left after that
    int64_t  bytes       = 0;
    int64_t  bytes_max   = INT64_MAX;
    int64_t  bytes_peak  = 0;
    uint64_t bytes_each  = INT64_MAX / 2; // limit for one value
    int      depth       = 0;
};

// constant-initialized, so access needs no check for initialization
inline thread_local work_state work_now;

// reads the clock; throws if nothing of the allowance is left, and on every later call
void work_look(uint64_t units);

inline void work_on(uint64_t units) {
    if (units > work_now.units) {
        work_look(units);
    } else {
        work_now.units -= units;
    }
}

// saturating product
inline uint64_t work_times(uint64_t a, uint64_t b) {
    return b > 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

// cost of one value: its memory, and the time to construct and free it
constexpr size_t   WORK_VALUE_BYTES = 288;
constexpr uint64_t WORK_VALUE_UNITS = 128;
// cost of one entry in a list or object
constexpr size_t   WORK_ITEM_BYTES = 48;
constexpr uint64_t WORK_ITEM_UNITS = 16;
// cost of one part of a string, without its characters
constexpr size_t   WORK_PART_BYTES = 64;

// nesting depth of templates, values and expressions; fits a stack of 1.5 MB
constexpr int WORK_DEPTH_MAX = 800;

// memory that is counted during the lifetime of this object
struct work_memory {
    size_t bytes = 0;

    work_memory() = default;
    explicit work_memory(size_t bytes) { take(bytes); }
    work_memory(const work_memory & other) { take(other.bytes); }
    work_memory & operator=(const work_memory &) = delete;
    ~work_memory() { work_now.bytes -= static_cast<int64_t>(bytes); }

    // call before allocating; throws if the limit is exceeded
    void take(uint64_t more) {
        if (more > work_now.bytes_each || bytes + more > work_now.bytes_each) {
            none_left();
        }
        const int64_t all = work_now.bytes + static_cast<int64_t>(more);
        if (all > work_now.bytes_peak) {
            if (all > work_now.bytes_max) {
                none_left();
            }
            work_now.bytes_peak = all;
        }
        work_now.bytes = all;
        bytes += static_cast<size_t>(more);
    }

private:
    [[noreturn]] static void none_left();
};

// one level of nesting; throws if there are too many
struct work_depth {
    work_depth() {
        work_on(64);
        check(work_now.depth);
        ++work_now.depth;
    }
    ~work_depth() { --work_now.depth; }
    work_depth(const work_depth &) = delete;
    work_depth & operator=(const work_depth &) = delete;

    static void check(int depth) {
        if (depth >= WORK_DEPTH_MAX) {
            too_deep();
        }
    }

private:
    [[noreturn]] static void too_deep();
};

// a counted replacement for std::string and std::ostringstream
struct work_text {
    work_text & operator+=(std::string_view piece) {
        work_on(1 + piece.size());
        memory.take(piece.size());
        text += piece;
        return *this;
    }
    void push_back(char c) {
        work_on(1);
        memory.take(1);
        text.push_back(c);
    }
    bool empty() const { return text.empty(); }
    const std::string & str() const { return text; }
    operator const std::string &() const { return text; }

    work_text & operator<<(std::string_view piece) { return *this += piece; }
    work_text & operator<<(const std::string & piece) { return *this += piece; }
    work_text & operator<<(const char * piece) { return *this += piece; }
    work_text & operator<<(char c) {
        push_back(c);
        return *this;
    }
    template <class Number> work_text & operator<<(Number number) {
        std::ostringstream out;
        out << number;
        return *this += out.str();
    }

private:
    std::string text;
    work_memory memory;
};

// a string of spaces; throws if it would be too long
std::string work_spaces(int64_t count);

// std::string::find, with its work counted
size_t work_find(const std::string & text, const std::string & what, size_t from = 0);

} // namespace jinja
