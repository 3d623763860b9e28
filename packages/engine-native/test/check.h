// The macros of the C++ tests: test cases, checks, and what a failed check prints. Each test program gets its main
// function from main.cpp, which also takes a filter (docs/testing.md). Checks belong to the thread of the test case.
#pragma once

#include <cmath>
#include <concepts>
#include <functional>
#include <limits>
#include <optional>
#include <ostream>
#include <ranges>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace test {

/// Whether AddressSanitizer or ThreadSanitizer is compiled in: then time and memory are mostly theirs, and bounds on them are wider.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

/// Thrown by REQUIRE to leave the test case.
struct Left {};

/// One check in the source.
struct Place {
    const char* file;
    int line;
    const char* expression;
};

/// Adds a test case to the program; true, so that a global can be initialized with it.
bool add_case(const char* title, void (*run)());

/// Counts a check. One that failed is printed with `details` (lines of their own, or empty) and what CAPTURE has named.
bool check(bool is_true, const Place& place, const std::string& details = "");

template <class T>
void show(std::ostream& out, const std::optional<T>& value);

template <class T>
void show(std::ostream& out, const T& value) {
    if constexpr (std::same_as<T, bool>) out << (value ? "true" : "false");
    else if constexpr (std::integral<T>) out << +value; // bytes as numbers
    else if constexpr (std::is_enum_v<T>) out << +static_cast<std::underlying_type_t<T>>(value);
    else if constexpr (std::floating_point<T>) {
        out.precision(std::numeric_limits<T>::max_digits10); // what differs looks different
        out << value;
    } else if constexpr (std::convertible_to<const T&, std::string_view>)
        out << '"' << std::string_view(value) << '"';
    else if constexpr (requires { out << value; }) out << value;
    else if constexpr (std::ranges::input_range<const T>) {
        const char* before = "[";
        for (const auto& item : value) {
            out << std::exchange(before, ", ");
            show(out, item);
        }
        out << (std::ranges::empty(value) ? "[]" : "]");
    } else out << "{?}";
}

template <class T>
void show(std::ostream& out, const std::optional<T>& value) {
    if (value) show(out, *value);
    else out << "nothing";
}

template <class T>
std::string shown(const T& value) {
    std::ostringstream out;
    show(out, value);
    return out.str();
}

template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

/// Numbers by their values, whatever their signs' types; texts by their characters.
template <class A, class B>
bool is_equal(const A& a, const B& b) {
    if constexpr (Integer<A> && Integer<B>) return std::cmp_equal(a, b);
    else if constexpr (std::convertible_to<const A&, const char*> &&
                       std::convertible_to<const B&, const char*>)
        return std::string_view(a) == std::string_view(b);
    else return a == b;
}

template <class A, class B>
bool check_equal(const Place& place, const A& a, const B& b) {
    if (is_equal(a, b)) return check(true, place);
    return check(false, place, "  are: " + shown(a) + "\n  and: " + shown(b) + "\n");
}

inline bool check_near(const Place& place, double a, double b, double within) {
    const double apart = std::abs(a - b);
    if (apart <= within) return check(true, place); // NaN is near to nothing
    return check(false, place,
                 "  are: " + shown(a) + "\n  and: " + shown(b) + "\n  apart: " + shown(apart) + "\n");
}

inline void require(bool is_true) {
    if (!is_true) throw Left();
}

/// What CAPTURE has named, for as long as its scope is open; shown only when a check fails.
class Captured {
public:
    explicit Captured(std::function<void(std::ostream&)> print);
    Captured(const Captured&) = delete;
    Captured& operator=(const Captured&) = delete;
    ~Captured();
};

} // namespace test

#define INGLE_TEST_JOIN_(a, b) a##b
#define INGLE_TEST_JOIN(a, b) INGLE_TEST_JOIN_(a, b)
#define INGLE_TEST_CASE(function, title)                                                                     \
    static void function();                                                                                  \
    [[maybe_unused]] static const bool INGLE_TEST_JOIN(function, _added) = test::add_case(title, function);  \
    static void function()
#define INGLE_TEST_PLACE(expression) (test::Place{__FILE__, __LINE__, expression})

#define TEST_CASE(title) INGLE_TEST_CASE(INGLE_TEST_JOIN(test_case_, __COUNTER__), title)

/// True when the expression is what it is to be. Its value decides whether REQUIRE… goes on.
#define INGLE_TEST_TRUE(name, ...)                                                                           \
    test::check(static_cast<bool>(__VA_ARGS__), INGLE_TEST_PLACE(name "(" #__VA_ARGS__ ")"))
#define INGLE_TEST_FALSE(name, ...)                                                                          \
    test::check(!static_cast<bool>(__VA_ARGS__), INGLE_TEST_PLACE(name "(" #__VA_ARGS__ ")"))
#define INGLE_TEST_EQUAL(name, ...)                                                                          \
    test::check_equal(INGLE_TEST_PLACE(name "(" #__VA_ARGS__ ")"), __VA_ARGS__)

#define CHECK(...) static_cast<void>(INGLE_TEST_TRUE("CHECK", __VA_ARGS__))
#define CHECK_FALSE(...) static_cast<void>(INGLE_TEST_FALSE("CHECK_FALSE", __VA_ARGS__))
/// Of two values; shows both.
#define CHECK_EQ(...) static_cast<void>(INGLE_TEST_EQUAL("CHECK_EQ", __VA_ARGS__))
/// Of two numbers and how far apart they may be at most.
#define CHECK_NEAR(...)                                                                                      \
    static_cast<void>(test::check_near(INGLE_TEST_PLACE("CHECK_NEAR(" #__VA_ARGS__ ")"), __VA_ARGS__))

/// Leaves the test case when the check fails.
#define REQUIRE(...) test::require(INGLE_TEST_TRUE("REQUIRE", __VA_ARGS__))
#define REQUIRE_FALSE(...) test::require(INGLE_TEST_FALSE("REQUIRE_FALSE", __VA_ARGS__))
#define REQUIRE_EQ(...) test::require(INGLE_TEST_EQUAL("REQUIRE_EQ", __VA_ARGS__))

/// Names a value that a failed check of this scope prints, as it is by then.
#define CAPTURE(...)                                                                                         \
    const test::Captured INGLE_TEST_JOIN(captured_, __LINE__)([&](std::ostream& out) {                       \
        out << #__VA_ARGS__ << " := ";                                                                       \
        test::show(out, __VA_ARGS__);                                                                        \
    })
