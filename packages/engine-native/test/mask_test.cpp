// Masks: the search of a whole vocabulary finds exactly the tokens that are allowed one by one, for any grammar and vocabulary,
// within bounded memory, and can be abandoned at any moment.
#include "check.h"
#include "grammar/grammar.h"
#include "grammars_under_test.h"
#include "random.h"

#include <string>
#include <vector>

using base::Token;
using grammar::GrammarState;
using grammar::Pieces;
using grammar::TokenSet;
using test::Random;

namespace {

/// Grammars as JSON schemas make them, and what masks have special cases for.
const std::vector<std::string> kGrammars = {
    R"g(root ::= "{" ([ab]{1,3} ":" (root | "\"" [^\"b]* "\"" | [0-9]) " "?)* "}")g",
    // Strings: endless, bounded from above and from below.
    R"g(root ::= "\"" char* "\""
char ::= [^"\\\x00-\x1F\x7F] | "\\" (["\\bn] | "u00" [01] [0-9a-f]))g",
    R"g(root ::= "\"" [^"\\\x00-\x1F\x7F]{3,9} "\"" ("," root)?)g",
    R"g(root ::= "\"" ([^"\\\x00-\x1F] [^"\\\x00-\x1F])* "\"")g",
    // Several strings at once, of different lengths and classes.
    R"g(root ::= "\"" ([^"\\\x00-\x1F]{0,4} | [a-z]* | . "1" [^"]*) "\"" root?)g",
    // What a pattern's `.` takes.
    R"g(root ::= "\"" [\x20-\x21\x23-\x5b\x5d-\x7e\u0080-\u2027\u202a-\U0010FFFF]{0,30} "\"")g",
    // A run of plain characters that a class interrupts.
    R"g(root ::= [^"\\\x00-\x1F]{5} [^a] [^"\\\x00-\x1F]* "\"")g",
    // Parts of the characters beyond ASCII.
    R"g(root ::= "\"" ([\u00e9\u4e2d-\u4e2f] | [\U0001F600-\U0001F64F] | [^\u4e2d"])* "\"")g",
    R"g(root ::= [\u0080-\u07ff]+ [\u0800-\ud7ff]* "\"" | [\ue000-\U0010FFFF]*)g",
    // Tokens by name and number, beside texts.
    R"g(root ::= (<think> | "a" | !<[5]> "\"" | <[99999]> | <[4]> "b")*)g",
    R"g(root ::= "\"" [a-z]* "\"" !<[999999]> <end>? "1")g",
    // More characters than an automaton notes ranges for.
    R"g(root ::= ([\u0100\u0102\u0104\u0106\u0108\u010a\u010c\u010e\u0110\u0112\u0114\u0116\u0118\u011a\u011c\u011e\u0120\u4e2d] | "\"")*)g",
};

/// Texts of whole characters, of parts of them, and of what is no UTF-8.
std::vector<std::string> random_texts(Random& random, int count) {
    static const std::vector<std::string> parts = {
        "a",        "b",           "1",        "\"",       "{",        "}",
        ":",        " ",           ",",        "\\",       "n",        "u00",
        "\n",       "\x7F",        "\xC3",     "\xA9",     "\xE4\xB8", "\xE4\xB8\xAD",
        "\xC4\x80", "\xC4\x81",    "\xED\xA0", "\xED\x9F", "\xF0\x9F", "\xF0\x9F\x98\x80",
        "\xE0",     "\xE0\x80",    "\xC0\x80", "\xF4\x90", "\xFF",     "\xEE\x80\x80",
        "\xE2\x80", "\xE2\x80\xA8"};
    std::vector<std::string> texts;
    for (int i = 0; i < count; ++i) {
        std::string text;
        for (int length = random.between(0, 6); length > 0; --length) text += random.one_of(parts);
        // Longer than any tree of plain texts is high.
        if (random.chance(3)) text += std::string(static_cast<size_t>(random.between(20, 300)), 'a');
        texts.push_back(text);
    }
    return texts;
}

TokenSet mask_of(GrammarState& state, const Pieces& pieces) {
    TokenSet mask(pieces.size());
    state.add_allowed(pieces, mask);
    return mask;
}

TokenSet allowed_one_by_one(GrammarState& state, const Pieces& pieces) {
    TokenSet allowed(pieces.size());
    for (Token token = 0; token < static_cast<Token>(pieces.size()); ++token) {
        const std::string_view text = pieces.text_of(token);
        if (!text.empty() && state.allows(token, text)) allowed.add(token);
    }
    return allowed;
}

std::vector<Token> tokens_of(const TokenSet& set) {
    std::vector<Token> tokens;
    set.for_each([&](Token token) { tokens.push_back(token); });
    return tokens;
}

/// Work that is refused after some steps.
class ShortShare final : public grammar::WorkShare {
public:
    explicit ShortShare(size_t steps) { left = steps; }

protected:
    void used_up() override { throw grammar::ShareUsedUp(); }
};

} // namespace

TEST_CASE("masks: a mask has exactly the tokens that are allowed one by one, all along random replies") {
    size_t found = 0;
    for (const uint64_t seed : test::seeds(30)) {
        CAPTURE(seed);
        Random random(seed);
        for (const std::string& grammar : kGrammars) {
            CAPTURE(grammar);
            const auto pieces = test::pieces_of(random_texts(random, 300));
            GrammarState state(test::rules_of(grammar));
            for (int step = 0; step < 12; ++step) {
                const TokenSet mask = mask_of(state, *pieces);
                REQUIRE(mask == allowed_one_by_one(state, *pieces));
                const std::vector<Token> tokens = tokens_of(mask);
                if (tokens.empty()) break;
                found += tokens.size();
                const Token token = random.one_of(tokens);
                REQUIRE(state.accept(token, pieces->text_of(token)));
            }
        }
    }
    CHECK(found > 10'000);
}

TEST_CASE("masks: a set of tokens has what was added, over the ends of its words too") {
    TokenSet set(130);
    for (const Token token : {0, 63, 64, 129}) set.add(token);
    set.remove(63);
    CHECK(tokens_of(set) == std::vector<Token>{0, 64, 129});
    for (const Token none : {-1, 63, 130, 1'000'000}) CHECK_FALSE(set.has(none));
}

TEST_CASE("masks: more states than are kept change nothing but the time") {
    // Each number of letters is a state of its own, in each of 300 words at once.
    std::string grammar = "root ::= \"\\\"\" (";
    for (int i = 0; i < 300; ++i)
        grammar += (i == 0 ? "" : " | ") + std::string("[a-z]{") + std::to_string(i) + ",400}";
    grammar += ") \"\\\"\"";
    std::vector<std::string> texts = {"\"", "a", "1", "ab\"", std::string(350, 'b'), std::string(500, 'b')};
    const auto pieces = test::pieces_of(texts);
    GrammarState state(test::rules_of(grammar));
    for (const char* text : {"\"", "a", "bcd", "e"}) {
        REQUIRE(state.accept_text(text));
        REQUIRE(mask_of(state, *pieces) == allowed_one_by_one(state, *pieces));
    }
}

TEST_CASE("masks: a long text changes the names of stacks, and the masks stay right") {
    const auto pieces = test::pieces_of({"a", "1", "b1", "\"", "1\"", "ab", "\"\""});
    GrammarState state(test::rules_of("root ::= \"1\" [a-z]{20000} \"\\\"\""));
    REQUIRE(mask_of(state, *pieces) == allowed_one_by_one(state, *pieces));
    REQUIRE(state.accept_text("1" + std::string(20'000, 'a')));
    const TokenSet mask = mask_of(state, *pieces);
    CHECK(mask == allowed_one_by_one(state, *pieces));
    CHECK(tokens_of(mask) == std::vector<Token>{5});
}

TEST_CASE("masks: a mask that was abandoned halfway is the same afterwards") {
    Random random(11);
    const auto pieces = test::pieces_of(random_texts(random, 300));
    for (const std::string& grammar : kGrammars) {
        CAPTURE(grammar);
        const auto rules = test::rules_of(grammar);
        GrammarState whole(rules);
        const TokenSet expected = mask_of(whole, *pieces);
        GrammarState state(rules);
        bool is_done = false;
        for (size_t steps = 0; !is_done; ++steps) {
            REQUIRE(steps < 10'000);
            ShortShare share(steps);
            state.share_work(&share);
            TokenSet mask(pieces->size());
            try {
                state.add_allowed(*pieces, mask);
                is_done = true;
                CHECK(mask == expected);
            } catch (const grammar::ShareUsedUp&) {
                continue;
            }
        }
    }
}
