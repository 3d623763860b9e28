// The tests' own macros (check.h): what counts as equal, and how values are shown when they are not.
#include "check.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

TEST_CASE("checks: numbers are equal by their values, texts by their characters") {
    CHECK(test::is_equal(uint64_t{3}, 3));
    CHECK_FALSE(test::is_equal(-1, std::numeric_limits<uint32_t>::max()));
    const std::string text = "text";
    const char* other = text.c_str();
    CHECK(test::is_equal(other, "text"));
    CHECK(test::is_equal(text, "text"));
    CHECK(test::is_equal(std::optional<int>(), std::nullopt));
    CHECK_EQ(std::vector<int>{1, 2}, std::vector<int>{1, 2});
}

TEST_CASE("checks: values are shown as a reader would write them") {
    CHECK_EQ(test::shown(true), "true");
    CHECK_EQ(test::shown(uint8_t{65}), "65");
    CHECK_EQ(test::shown(0.1), "0.10000000000000001"); // all digits: what differs looks different
    CHECK_EQ(test::shown(std::string("text")), "\"text\"");
    CHECK_EQ(test::shown(std::vector<std::optional<int>>{1, std::nullopt}), "[1, nothing]");
    CHECK_EQ(test::shown(std::vector<int>()), "[]");
}

TEST_CASE("checks: numbers may be apart by what is said, and what cannot be shown is") {
    CHECK_NEAR(1.0, 1.25, 0.25);
    struct Unknown {};
    CHECK_EQ(test::shown(Unknown()), "{?}");
}
