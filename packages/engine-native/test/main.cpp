// The main function of the C++ test programs: runs the test cases of check.h, all of them or those that -tc names.
#include "check.h"

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <ranges>
#include <sstream>
#include <thread>
#include <vector>
#ifndef _WIN32
#include <unistd.h>
#endif

namespace test {

namespace {

struct TestCase {
    const char* title;
    void (*run)();
};

/// Made on first use: test cases are added before main begins.
struct Program {
    std::vector<TestCase> cases;
    const char* title = ""; // of the test case that runs
    std::vector<std::function<void(std::ostream&)>> captured;
    size_t checks = 0;
    size_t checks_failed = 0;
    const std::thread::id thread = std::this_thread::get_id();
};

Program& program() {
    static Program program;
    return program;
}

void print_failure(const std::string& what) {
    std::ostringstream text;
    text << what << "  in: " << program().title << '\n';
    for (const auto& print : program().captured) {
        text << "  with: ";
        print(text);
        text << '\n';
    }
    std::fputs(text.str().c_str(), stderr);
}

/// An assertion in the code under test aborts; whoever reads the output wants to know where the tests were. A heap that is broken may
/// hold a lock that printing waits for, so it ends by the clock.
void print_crash(int signal) {
    std::signal(signal, SIG_DFL);
#ifndef _WIN32
    constexpr unsigned kSecondsMax = 5;
    alarm(kSecondsMax);
#endif
    print_failure("crashed with signal " + std::to_string(signal) + '\n');
    std::raise(signal);
}

void watch_for_crashes() {
    for (const int signal : {SIGABRT, SIGFPE, SIGILL, SIGSEGV}) {
        const auto previous = std::signal(signal, print_crash);
        if (previous != SIG_DFL) std::signal(signal, previous); // a sanitizer's own says more
    }
}

/// False when the test case failed.
bool run_case(const TestCase& test_case) {
    const size_t failed_before = program().checks_failed;
    program().title = test_case.title;
    try {
        test_case.run();
    } catch (const Left&) {
        return false;
    } catch (const std::exception& error) {
        print_failure(std::string("exception: ") + error.what() + '\n');
        return false;
    }
    return program().checks_failed == failed_before;
}

/// `*` stands for any characters; everything else for itself.
bool is_match(std::string_view title, std::string_view pattern) {
    const size_t star = pattern.find('*');
    if (star == std::string_view::npos) return title == pattern;
    if (!title.starts_with(pattern.substr(0, star))) return false;
    title.remove_prefix(star);
    pattern.remove_prefix(star + 1);
    for (size_t skipped = 0; skipped <= title.size(); ++skipped) {
        if (is_match(title.substr(skipped), pattern)) return true;
    }
    return false;
}

int run(const std::vector<TestCase>& cases) {
    watch_for_crashes();
    const size_t failed = std::ranges::count_if(cases, [](const TestCase& one) { return !run_case(one); });
    const size_t checks_failed = program().checks_failed;
    std::printf("test cases: %zu | %zu passed | %zu failed\n", cases.size(), cases.size() - failed, failed);
    std::printf("checks: %zu | %zu passed | %zu failed\n", program().checks, program().checks - checks_failed,
                checks_failed);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int run_program(std::vector<std::string_view> arguments) {
    constexpr std::string_view kFilter = "-tc=";
    std::vector<TestCase> cases = program().cases;
    for (const std::string_view argument : arguments) {
        if (!argument.starts_with(kFilter)) {
            std::fprintf(stderr, "Unknown argument. Use -tc=\"a title, or a part of it between *\".\n");
            return EXIT_FAILURE;
        }
        std::erase_if(cases, [&](const TestCase& one) {
            return !is_match(one.title, argument.substr(kFilter.size()));
        });
    }
    if (cases.empty()) {
        std::fprintf(stderr, "No test case has such a title.\n");
        return EXIT_FAILURE;
    }
    return run(cases);
}

} // namespace

bool add_case(const char* title, void (*run)()) {
    program().cases.push_back({title, run});
    return true;
}

bool check(bool is_true, const Place& place, const std::string& details) {
    if (std::this_thread::get_id() != program().thread) {
        std::fprintf(stderr, "%s:%d: checks belong to the test case's thread\n", place.file, place.line);
        std::abort();
    }
    program().checks += 1;
    if (is_true) return true;
    program().checks_failed += 1;
    std::ostringstream what;
    what << place.file << ':' << place.line << ": " << place.expression << '\n' << details;
    print_failure(what.str());
    return false;
}

Captured::Captured(std::function<void(std::ostream&)> print) {
    program().captured.push_back(std::move(print));
}

Captured::~Captured() {
    program().captured.pop_back();
}

} // namespace test

int main(int count, char** arguments) {
    return test::run_program({arguments + 1, arguments + count});
}
