// Limits the work of chat templates. Templates come from untrusted model files: without limits, one line of a template can
// take all time or all memory. A thread with a work_limit counts what its templates do, before they do it, and ends them with
// an exception. Nesting is limited on every thread.
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
    // processor time of the thread: time that other processes use does not count
    int milliseconds = 0;
    // work, the same on every machine: two units for each byte read, and two for each nanosecond of other work
    uint64_t units = 0;
    // memory of the values that exist at a time; at most an eighth of it for each text, list and object
    size_t bytes = 0;
    // becomes true, on any thread, when nobody wants the result any more; may be null
    const std::atomic<bool> * is_cancelled = nullptr;
};

// one at a time on a thread
struct work_limit {
    explicit work_limit(const work_allowance & allowance);
    ~work_limit();
    work_limit(const work_limit &) = delete;
    work_limit & operator=(const work_limit &) = delete;

    // why there is no more work to do; null while there is
    const char * ended() const;

    // so far
    uint64_t units_taken() const;
    size_t   bytes_taken() const; // at most, at a time
};

struct work_state {
    uint64_t units       = UINT64_MAX; // until the clock is looked at
    uint64_t units_after = 0;          // left by then
    int64_t  bytes       = 0;
    int64_t  bytes_max   = INT64_MAX;
    int64_t  bytes_peak  = 0;
    uint64_t bytes_each  = INT64_MAX / 2; // at most, for one value
    int      depth       = 0;
};

// constant at first, so that nothing but its address has to be found
inline thread_local work_state work_now;

// looks at the clock. throws when there is no work left, and from then on always
void work_look(uint64_t units);

inline void work_on(uint64_t units) {
    if (units > work_now.units) {
        work_look(units);
    } else {
        work_now.units -= units;
    }
}

// as large as a number can be where the product is larger
inline uint64_t work_times(uint64_t a, uint64_t b) {
    return b > 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

// what a value takes by itself: its memory, and the time to make it and to free it
constexpr size_t   WORK_VALUE_BYTES = 288;
constexpr uint64_t WORK_VALUE_UNITS = 128;
// what a value takes of the list or object that holds it
constexpr size_t   WORK_ITEM_BYTES = 48;
constexpr uint64_t WORK_ITEM_UNITS = 16;
// what a part of a text takes beside its characters
constexpr size_t   WORK_PART_BYTES = 64;

// steps down into a template, a value or an expression; a stack of a megabyte and a half has room for them
constexpr int WORK_DEPTH_MAX = 800;

// memory that is counted for as long as this lives
struct work_memory {
    size_t bytes = 0;

    work_memory() = default;
    explicit work_memory(size_t bytes) { take(bytes); }
    work_memory(const work_memory & other) { take(other.bytes); }
    work_memory & operator=(const work_memory &) = delete;
    ~work_memory() { work_now.bytes -= static_cast<int64_t>(bytes); }

    // before the memory is allocated. throws when there is not so much
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

// one step down into a template, a value or an expression. throws when there are too many
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

// a text that grows by pieces, in place of std::string and std::ostringstream
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

// spaces; throws when there are too many for a text
std::string work_spaces(int64_t count);

// std::string::find, in the time that it is counted for
size_t work_find(const std::string & text, const std::string & what, size_t from = 0);

} // namespace jinja
