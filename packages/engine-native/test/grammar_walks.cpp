// Random texts that a grammar admits, for a test that judges them (packages/engine/test/judge). Half of them are made as a model makes
// them: at each step a token is drawn from the mask of the engine's own grammar code. The vocabulary is small and made for the
// grammar: the ends of its character ranges, a few characters from inside them, and some tokens of several characters. The other half
// is derived from the rules, and the engine's grammar code must admit it.
//
// Stdin has records; every number is an int32, every text a length and its bytes:
//
//   'G', grammar                  from now on, this grammar
//   'W', count, seed              draws texts
//   'I', text                     asks whether the grammar admits a text
//
// Stdout has a text for each G (what is wrong with the grammar, or nothing), one for each text of a W (kNoText if the grammar has
// none, kNotAdmitted before a derived text that the engine does not admit), and one for each I: "1" or "0".
#include "grammar/gbnf.h"
#include "grammar/grammar.h"
#include "grammar/pieces.h"
#include "grammar/token_set.h"
#include "grammar_derivation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

/// No text begins with these bytes.
constexpr std::string_view kNoText = "\xff";
constexpr std::string_view kNotAdmitted = "\xfe";

/// From this length on, a walk takes the shortest way to the end.
constexpr size_t kLongBytes = 160;
/// A walk that is longer is abandoned: the text is derived instead.
constexpr size_t kLongestBytes = 2'000;

/// A character set of thousands of ranges adds only so many characters.
constexpr size_t kCharactersMax = 3'000;

/// Tokens of several characters, which the masks search in another way.
constexpr std::array<std::string_view, 12> kLongTokens = {"null", "true", "\":", "\",", "\"}", "}}",
                                                          "]}",   "00",   "99",  "aa",  "é0",  "\\\\"};

/// Characters inside of ranges, if they are.
constexpr std::array<uint32_t, 16> kInside = {' ',  '!', '"',    '0',    '5',    'A',     'a',    'z',
                                              0x7F, '~', 0x00E9, 0x2028, 0xD7FF, 0x1F600, 0xFFFD, 0x10FFFF};

int32_t read_number() {
    int32_t number = 0;
    std::cin.read(reinterpret_cast<char*>(&number), sizeof number);
    return number;
}

std::string read_text() {
    std::string text(static_cast<size_t>(read_number()), '\0');
    std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
    return text;
}

void write_text(std::string_view text) {
    const auto size = static_cast<int32_t>(text.size());
    std::cout.write(reinterpret_cast<const char*>(&size), sizeof size);
    std::cout.write(text.data(), static_cast<std::streamsize>(text.size()));
}

/// The ends of all ranges of the grammar, and some characters between them: whatever the grammar waits for has one of them.
std::vector<std::string> vocabulary_of(const grammar::Rules& rules) {
    std::vector<uint32_t> characters;
    for (const auto& [first, last] : rules.ranges) {
        characters.push_back(first);
        characters.push_back(last);
        for (const uint32_t inside : kInside) {
            if (inside >= first && inside <= last) characters.push_back(inside);
        }
    }
    std::ranges::sort(characters);
    const auto repeated = std::ranges::unique(characters);
    characters.erase(repeated.begin(), repeated.end());
    std::vector<std::string> texts;
    const size_t every = characters.size() / kCharactersMax + 1;
    for (size_t i = 0; i < characters.size(); ++i) {
        if (characters[i] < 0x80 || i % every == 0) texts.push_back(test::utf8_of(characters[i]));
    }
    for (const std::string_view token : kLongTokens) texts.emplace_back(token);
    return texts;
}

/// Whether a walk is to end soon, and whether it is in a JSON string.
enum class Hurry { none, in_string, outside };

/// Follows JSON to know whether it is in a string.
class JsonPlace {
public:
    void follow(std::string_view piece) {
        for (const char c : piece) {
            if (c == '"' && !is_escaped_) is_in_string_ = !is_in_string_;
            is_escaped_ = c == '\\' && !is_escaped_;
        }
    }
    Hurry hurry() const { return is_in_string_ ? Hurry::in_string : Hurry::outside; }

private:
    bool is_in_string_ = false;
    bool is_escaped_ = false;
};

class Walks {
public:
    explicit Walks(std::shared_ptr<const grammar::Rules> rules)
        : rules_(std::move(rules)),
          derivation_(*rules_),
          texts_(vocabulary_of(*rules_)),
          pieces_(texts_, {}) {}

    std::string draw_text(bool is_walk, std::mt19937& random) {
        if (!derivation_.has_texts()) return std::string(kNoText);
        if (is_walk) {
            std::optional<std::string> text = walk(random);
            if (text) return std::move(*text);
        }
        std::string text = derivation_.text(kLongBytes, random);
        return admits(text) ? text : std::string(kNotAdmitted).append(text);
    }

    bool admits(std::string_view text) const {
        grammar::GrammarState state(rules_);
        return state.accept_text(text) && state.may_end();
    }

private:
    /// Absent if it finds no end.
    std::optional<std::string> walk(std::mt19937& random) {
        set_taste(random);
        grammar::GrammarState state(rules_);
        std::string text;
        JsonPlace json;
        while (text.size() < kLongestBytes) {
            const bool is_long = text.size() >= kLongBytes;
            if (state.must_end()) return text;
            if (state.may_end() && (is_long || chance_(random) < end_)) return text;
            const base::Token token = draw(state, is_long ? json.hurry() : Hurry::none, random);
            if (token < 0) return std::nullopt;
            const std::string& piece = texts_[static_cast<size_t>(token)];
            if (!state.accept(token, piece)) return std::nullopt;
            text += piece;
            json.follow(piece);
        }
        return std::nullopt;
    }

    /// Each walk prefers other characters, closes sooner or later, and ends sooner or later: so that it meets the bounds of numbers,
    /// lengths and counts from both sides.
    void set_taste(std::mt19937& random) {
        std::normal_distribution<double> liking(0, 1.5);
        std::uniform_int_distribution<int> habit(0, 3);
        const double close = std::pow(8.0, habit(random));
        end_ = 0.05 + 0.3 * habit(random);
        likes_.resize(texts_.size());
        for (size_t i = 0; i < texts_.size(); ++i) {
            const char c = texts_[i].front();
            likes_[i] = std::exp(liking(random));
            if (c == '"' || c == '}' || c == ']') likes_[i] *= close;
            if (c == ' ' || c == '\n' || c == '\t') likes_[i] *= 0.3;
        }
    }

    /// -1 if there is no token, which no grammar of a schema should come to.
    base::Token draw(grammar::GrammarState& state, Hurry hurry, std::mt19937& random) {
        allowed_.reset(pieces_.size());
        state.add_allowed(pieces_, allowed_);
        weights_.assign(texts_.size(), 0);
        double sum = 0;
        allowed_.for_each([&](base::Token token) {
            const auto at = static_cast<size_t>(token);
            weights_[at] = likes_[at] * haste_of(texts_[at], hurry);
            sum += weights_[at];
        });
        if (sum <= 0) return -1;
        double rest = chance_(random) * sum;
        base::Token last = -1;
        for (size_t i = 0; i < weights_.size(); ++i) {
            if (weights_[i] <= 0) continue;
            last = static_cast<base::Token>(i);
            rest -= weights_[i];
            if (rest < 0) break;
        }
        return last;
    }

    /// How likely it is that the token brings the end nearer.
    static double haste_of(const std::string& token, Hurry hurry) {
        if (hurry == Hurry::none) return 1;
        const char c = token.front();
        if (hurry == Hurry::in_string) return c == '"' ? 1e9 : 1;
        if (c == '"') return 1e6;
        if (c == '}' || c == ']') return 1e9;
        return c == '{' || c == '[' || c == ',' || c == ' ' || c == '\n' || c == '\t' ? 1e-6 : 1;
    }

    std::shared_ptr<const grammar::Rules> rules_;
    test::Derivation derivation_;
    std::vector<std::string> texts_;
    grammar::Pieces pieces_;
    grammar::TokenSet allowed_;
    std::vector<double> likes_;
    std::vector<double> weights_;
    double end_ = 0;
    std::uniform_real_distribution<double> chance_{0, 1};
};

std::unique_ptr<Walks> open_grammar(const std::string& grammar) {
    base::Result<grammar::Rules> rules = grammar::read_gbnf(grammar, [](std::string_view) { return -1; });
    write_text(rules ? std::string() : rules.error().message);
    if (!rules) return nullptr;
    return std::make_unique<Walks>(std::make_shared<const grammar::Rules>(std::move(*rules)));
}

void draw_texts(Walks* walks, int32_t count, int32_t seed) {
    std::mt19937 random(static_cast<uint32_t>(seed));
    for (int32_t i = 0; i < count; ++i)
        write_text(walks == nullptr ? std::string(kNoText) : walks->draw_text(i % 2 == 0, random));
}

} // namespace

int main() {
    std::ios::sync_with_stdio(false);
    std::cin.tie(nullptr);
    std::unique_ptr<Walks> walks;
    for (char kind = 0; std::cin.get(kind);) {
        if (kind == 'G') {
            walks = open_grammar(read_text());
        } else if (kind == 'W') {
            const int32_t count = read_number();
            draw_texts(walks.get(), count, read_number());
        } else {
            const std::string text = read_text();
            write_text(walks != nullptr && walks->admits(text) ? "1" : "0");
        }
        std::cout.flush();
    }
}
