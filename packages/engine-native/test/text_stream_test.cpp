// engine::TextStream and its two functions: each rule by an example. Random texts are in
// text_stream_random_test.cpp.
#include "engine/text_stream.h"

#include "check.h"

#include <string>
#include <string_view>
#include <vector>

using engine::TextStream;
using namespace std::string_literals;

namespace {

/// What each push shows, with a '|' after it; then "$" when a stop was found, else what finish() shows.
std::string shown(std::vector<std::string> stops, const std::vector<std::string>& pieces) {
    TextStream stream(std::move(stops));
    std::string all;
    for (const std::string& piece : pieces) {
        std::string text;
        const bool is_stopped = stream.push(piece, text);
        all += text + "|";
        if (is_stopped) return all + "$";
    }
    std::string text;
    stream.finish(text);
    return all + text;
}

std::string valid(std::string_view bytes) {
    std::string text;
    engine::append_valid_utf8(bytes, text);
    return text;
}

const std::string kReplacement = "\uFFFD";

} // namespace

// ---- characters -------------------------------------------------------------------------------------------

TEST_CASE("text: shows whole characters at once") {
    CHECK_EQ(shown({}, {"Hello", ", ", "wörld 日本 😀"}), "Hello|, |wörld 日本 😀|");
}

TEST_CASE("text: waits for the rest of a character that tokens split") {
    CHECK_EQ(shown({}, {"a\xC3", "\xA9!"}), "a|é!|");
    CHECK_EQ(shown({}, {"\xE6", "\x97", "\xA5"}), "||日|");
    CHECK_EQ(shown({}, {"\xF0", "\x9F", "\x98", "\x80"}), "|||😀|");
}

TEST_CASE("text: a character that stays incomplete is replaced, once") {
    CHECK_EQ(shown({}, {"a\xF0\x9F", "\x98"}), "a||" + kReplacement);
    CHECK_EQ(shown({}, {"a\xF0\x9F", "b"}), "a|" + kReplacement + "b|");
}

TEST_CASE("text: bytes that can never begin a character are replaced without waiting") {
    CHECK_EQ(shown({}, {"\xFF", "\x80", "\xC0", "\xF5"}),
             kReplacement + "|" + kReplacement + "|" + kReplacement + "|" + kReplacement + "|");
    CHECK_EQ(shown({}, {"\xED\xA0"}), kReplacement + kReplacement + "|");
}

TEST_CASE("text: a zero byte is a character like any other") {
    CHECK_EQ(shown({"\0x"s}, {"a\0"s, "b\0"s, "x"}), "a|\0b||$"s);
}

// ---- stops ------------------------------------------------------------------------------------------------

TEST_CASE("text: a stop ends it, and neither the stop nor what follows is shown") {
    CHECK_EQ(shown({"END"}, {"one END two"}), "one |$");
    CHECK_EQ(shown({"END"}, {"END"}), "|$");
}

TEST_CASE("text: holds back what may become a stop, and shows it when it does not") {
    CHECK_EQ(shown({"END"}, {"one E", "N", "D two"}), "one |||$");
    CHECK_EQ(shown({"END"}, {"one E", "N", "O two"}), "one ||ENO two|");
    CHECK_EQ(shown({"END"}, {"one E", "E", "N"}), "one |E||EN");
}

TEST_CASE("text: finds a stop that begins inside an incomplete match of it") {
    CHECK_EQ(shown({"aab"}, {"a", "a", "a", "b"}), "||a||$");
    CHECK_EQ(shown({"abac"}, {"ab", "ab", "ac"}), "|ab||$");
}

TEST_CASE("text: the first of several stops ends it") {
    CHECK_EQ(shown({"two", "one"}, {"0 one two"}), "0 |$");
    CHECK_EQ(shown({"a", "ab"}, {"xab"}), "x|$");
    CHECK_EQ(shown({"ab", "a"}, {"xa", "b"}), "x|$");
}

TEST_CASE("text: of two stops that end together, the longer is cut off") {
    CHECK_EQ(shown({"b", "ab"}, {"xab"}), "x|$");
    CHECK_EQ(shown({"b", "ab"}, {"xa", "b"}), "x||$");
}

TEST_CASE("text: reports which stop ended it, and none before that") {
    std::string text;
    TextStream stream({"", "never", "y", "xy"});
    CHECK_FALSE(stream.push("ax", text));
    CHECK_EQ(stream.stop(), "");
    CHECK(stream.push("y", text));
    CHECK_EQ(stream.stop(), "xy");
}

TEST_CASE("text: a stop inside a longer one ends it first, however tokens split the text") {
    CHECK_EQ(shown({"abc", "b"}, {"xa", "b", "c"}), "x|a|$");
    CHECK_EQ(shown({"abc", "b"}, {"xabc"}), "xa|$");
}

TEST_CASE("text: holds back as much as the longest incomplete match of any stop") {
    CHECK_EQ(shown({"dog", "cats and"}, {"a cats an", "y d", "ot"}), "a |cats any |dot|");
}

TEST_CASE("text: tokens may split a stop inside a character") {
    CHECK_EQ(shown({"é!"}, {"a\xC3", "\xA9", "!"}), "a|||$");
    CHECK_EQ(shown({"é!"}, {"a\xC3", "\xA8"}), "a|è|");
    CHECK_EQ(shown({"日本"}, {"日\xE6", "\x9C", "\xAC"}), "|||$");
}

TEST_CASE("text: an ill-formed part before a stop is replaced") {
    CHECK_EQ(shown({"S"}, {"a\xE6\x97", "S"}), "a|" + kReplacement + "|$");
}

TEST_CASE("text: empty stops are ignored, and no stop at all is fine") {
    CHECK_EQ(shown({"", "b"}, {"a", "b"}), "a||$");
    CHECK_EQ(shown({""}, {"a", "b"}), "a|b|");
}

TEST_CASE("text: pushing nothing shows nothing and loses nothing") {
    CHECK_EQ(shown({"END"}, {"E", "", "N", "", "D"}), "|||||$");
}

TEST_CASE("text: appends to the caller's text") {
    TextStream stream({});
    std::string text = "so far: ";
    CHECK(!stream.push("more", text));
    CHECK_EQ(text, "so far: more");
}

// ---- the two functions ------------------------------------------------------------------------------------

TEST_CASE("utf-8: the complete part ends before a character that may still be completed") {
    const auto length = [](std::string_view bytes) {
        return static_cast<int>(engine::complete_utf8_length(bytes));
    };
    CHECK_EQ(length(""), 0);
    CHECK_EQ(length("abc"), 3);
    CHECK_EQ(length("a\xC3"), 1);
    CHECK_EQ(length("a\xC3\xA9"), 3);
    CHECK_EQ(length("a\xE6\x97"), 1);
    CHECK_EQ(length("a\xF0\x9F\x98"), 1);
    CHECK_EQ(length("a\xF0\x9F\x98\x80"), 5);
}

TEST_CASE("utf-8: what cannot become a character counts as complete") {
    const auto length = [](std::string_view bytes) {
        return static_cast<int>(engine::complete_utf8_length(bytes));
    };
    CHECK_EQ(length("\xFF"), 1);
    CHECK_EQ(length("\x80\x80\x80\x80"), 4);
    CHECK_EQ(length("\xC1"), 1);
    CHECK_EQ(length("\xE0\x80"), 2);
    CHECK_EQ(length("\xED\xA0"), 2);
    CHECK_EQ(length("\xF0\x80"), 2);
    CHECK_EQ(length("\xF4\x90"), 2);
    CHECK_EQ(length("\xF5"), 1);
}

TEST_CASE("utf-8: well-formed text stays as it is, up to the edges of each length") {
    for (const std::string text : {"", "plain", "\x7F", "\u0080", "\u07FF", "\u0800", "\uD7FF", "\uE000",
                                   "\uFFFF", "\U00010000", "\U0010FFFF"}) {
        CHECK_EQ(valid(text), text);
    }
}

TEST_CASE("utf-8: each maximal part of an ill-formed character is replaced by one U+FFFD") {
    const auto replaced = [](int count) {
        std::string text;
        for (int i = 0; i < count; ++i) text += kReplacement;
        return text;
    };
    // Overlong forms, surrogates and numbers beyond the last character: every byte is a part of its own.
    CHECK_EQ(valid("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82Z"), replaced(8) + "Z");
    CHECK_EQ(valid("\xED\xA0\x80\xED\xBF\xBF\xED\xAFZ"), replaced(8) + "Z");
    CHECK_EQ(valid("\xF4\x91\x92\x93\xFFX\x80\xBFZ"), replaced(5) + "X" + replaced(2) + "Z");
    // Cut characters: what is there of each is one part.
    CHECK_EQ(valid("\xE1\x80\xE2\xF0\x91\x92\xF1\xBFZ"), replaced(4) + "Z");
}
