// Follows instances of JSON schemas through Ingle's grammar engine, token by token, and measures what a token costs. Stdin is a
// vocabulary, then records; every number is an int32, every text a length and its bytes:
//
//   count, text × count           the vocabulary; empty for tokens without text
//   'G', grammar                  a grammar, followed by its instances
//   'I', count, token × count     an instance
//
// Stdout has a line for each record: "G <1 if it was read> <microseconds>", or "I <1 if it matches>"; at the end,
// "check" and "mask" with their count, mean and percentiles in microseconds: for each token of an instance, asking whether it may
// come next, which is what the engine does for a token that it has drawn; and for some of them, searching the vocabulary for all
// that may, which it does only if it may draw none of its candidates.
#include "grammar/gbnf.h"
#include "grammar/grammar.h"
#include "grammar/pieces.h"
#include "grammar/token_set.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

/// A search takes about a hundred times as long as a check.
constexpr size_t kMaskEvery = 32;
constexpr std::array kPercentiles{0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0};

double micros_since(Clock::time_point start) {
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

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

void print_percentiles(const char* name, std::vector<double>& micros) {
    std::ranges::sort(micros);
    const double count = static_cast<double>(std::max<size_t>(micros.size(), 1));
    std::printf("%s %zu %.2f", name, micros.size(), std::accumulate(micros.begin(), micros.end(), 0.0) / count);
    for (const double share : kPercentiles) {
        const auto at = static_cast<size_t>(share * (count - 1));
        std::printf(" %.2f", micros.empty() ? 0.0 : micros[at]);
    }
    std::printf("\n");
}

} // namespace

int main() {
    std::ios::sync_with_stdio(false);
    std::vector<std::string> texts(static_cast<size_t>(read_number()));
    for (std::string& text : texts) text = read_text();
    const grammar::Pieces pieces(texts, {});
    grammar::TokenSet allowed;
    std::vector<double> checks;
    std::vector<double> masks;
    std::shared_ptr<const grammar::Rules> rules;
    for (char kind = 0; std::cin.get(kind);) {
        if (kind == 'G') {
            const std::string grammar = read_text();
            const auto start = Clock::now();
            auto read = grammar::read_gbnf(grammar, [](std::string_view) { return -1; });
            rules = read ? std::make_shared<const grammar::Rules>(std::move(*read)) : nullptr;
            std::printf("G %d %.1f\n", rules != nullptr ? 1 : 0, micros_since(start));
            continue;
        }
        std::vector<int32_t> tokens(static_cast<size_t>(read_number()));
        std::cin.read(reinterpret_cast<char*>(tokens.data()),
                      static_cast<std::streamsize>(tokens.size() * sizeof(int32_t)));
        if (rules == nullptr) continue;
        grammar::GrammarState state(rules);
        bool matches = true;
        for (const int32_t token : tokens) {
            if (checks.size() % kMaskEvery == 0) {
                const auto start = Clock::now();
                allowed.reset(pieces.size());
                state.add_allowed(pieces, allowed);
                masks.push_back(micros_since(start));
            }
            const auto start = Clock::now();
            matches = state.allows(token, texts[static_cast<size_t>(token)]);
            checks.push_back(micros_since(start));
            if (!matches) break;
            state.accept(token, texts[static_cast<size_t>(token)]);
        }
        std::printf("I %d\n", matches && state.may_end() ? 1 : 0);
    }
    print_percentiles("check", checks);
    print_percentiles("mask", masks);
}
