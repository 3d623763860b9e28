// The main function of ingle_tests: doctest's, or test/fallback's where doctest is not installed.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
