// The few macros of doctest that our tests use, for machines that have a compiler but no doctest (see
// cmake/tests.cmake). It prints doctest's summary line, which test/cpp.test.ts reads.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

namespace doctest_fallback {

struct TestCase {
    const char* title;
    void (*run)();
};

/// Thrown by REQUIRE to leave the test case.
struct Left {};

struct Run {
    std::vector<TestCase> cases;
    const char* title = "";
    /// What CAPTURE has named in the scopes that are open.
    std::vector<std::string> captured;
    size_t checks = 0;
    size_t checks_failed = 0;
};

inline Run& current() {
    static Run run;
    return run;
}

inline bool add(const char* title, void (*run)()) {
    current().cases.push_back({title, run});
    return true;
}

template <class T>
std::string shown(const T& value) {
    if constexpr (requires(std::ostream& out) { out << value; }) {
        std::ostringstream out;
        out << value;
        return out.str();
    } else {
        return "{?}";
    }
}

class Captured {
public:
    template <class T>
    Captured(const char* name, const T& value) {
        current().captured.push_back(std::string(name) + " := " + shown(value));
    }
    Captured(const Captured&) = delete;
    Captured& operator=(const Captured&) = delete;
    ~Captured() { current().captured.pop_back(); }
};

inline void print_failure(const char* file, int line, const std::string& what) {
    std::fprintf(stderr, "%s:%d: %s\n  in: %s\n", file, line, what.c_str(), current().title);
    for (const std::string& captured : current().captured)
        std::fprintf(stderr, "  with: %s\n", captured.c_str());
}

inline bool check(bool is_true, const char* file, int line, const char* expression) {
    current().checks += 1;
    if (is_true) return true;
    current().checks_failed += 1;
    print_failure(file, line, std::string("failed: ") + expression);
    return false;
}

template <class A, class B>
void check_equal(const A& a, const B& b, const char* file, int line, const char* expression) {
    current().checks += 1;
    if (a == b) return;
    current().checks_failed += 1;
    print_failure(file, line,
                  std::string("not equal: ") + expression + "\n  are: " + shown(a) + "\n  and: " + shown(b));
}

/// An assertion in the code under test aborts; whoever reads the output wants to know where the tests were.
inline void print_abort(int) {
    print_failure("abort", 0, "the test case crashed");
}

/// False when the test case failed.
inline bool run_one(const TestCase& test_case) {
    const size_t failed_before = current().checks_failed;
    current().title = test_case.title;
    try {
        test_case.run();
    } catch (const Left&) {
        return false;
    } catch (const std::exception& error) {
        print_failure("exception", 0, error.what());
        return false;
    }
    return current().checks_failed == failed_before;
}

inline int run_all() {
    std::signal(SIGABRT, print_abort);
    size_t passed = 0;
    for (const TestCase& test_case : current().cases) passed += run_one(test_case) ? 1 : 0;
    const size_t cases = current().cases.size();
    const size_t checks = current().checks;
    const size_t checks_failed = current().checks_failed;
    std::printf("[doctest] test cases: %zu | %zu passed | %zu failed | 0 skipped\n", cases, passed,
                cases - passed);
    std::printf("[doctest] assertions: %zu | %zu passed | %zu failed |\n", checks, checks - checks_failed,
                checks_failed);
    return passed == cases ? 0 : 1;
}

} // namespace doctest_fallback

#define DOCTEST_FALLBACK_JOIN_(a, b) a##b
#define DOCTEST_FALLBACK_JOIN(a, b) DOCTEST_FALLBACK_JOIN_(a, b)
#define DOCTEST_FALLBACK_CASE(function, title)                                                               \
    static void function();                                                                                  \
    [[maybe_unused]] static const bool DOCTEST_FALLBACK_JOIN(function, _added) =                             \
        doctest_fallback::add(title, function);                                                              \
    static void function()

#define TEST_CASE(title) DOCTEST_FALLBACK_CASE(DOCTEST_FALLBACK_JOIN(test_case_, __LINE__), title)
#define CHECK(...)                                                                                           \
    static_cast<void>(doctest_fallback::check(bool(__VA_ARGS__), __FILE__, __LINE__, #__VA_ARGS__))
#define CHECK_EQ(a, b) doctest_fallback::check_equal(a, b, __FILE__, __LINE__, #a ", " #b)
#define REQUIRE(...)                                                                                         \
    do {                                                                                                     \
        if (!doctest_fallback::check(bool(__VA_ARGS__), __FILE__, __LINE__, #__VA_ARGS__))                   \
            throw doctest_fallback::Left();                                                                  \
    } while (false)
#define CAPTURE(value)                                                                                       \
    const doctest_fallback::Captured DOCTEST_FALLBACK_JOIN(captured_, __LINE__)(#value, value)

#ifdef DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
int main() {
    return doctest_fallback::run_all();
}
#endif
