// sampling::Dry against llama.cpp's sampler, with texts that repeat themselves, options and breakers at random.
#include "sampling/dry.h"

#include "check.h"
#include "random.h"
#include "sampler_chain.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "llama-cpp.h"

using base::Token;
using sampling::Candidates;
using sampling::Dry;
using sampling::DryOptions;
using sampling::Pool;
using test::Random;

namespace {

/// A vocabulary that llama.cpp brings for its own tests.
const llama_vocab* vocabulary() {
    static const llama_model_ptr model = [] {
        llama_model_params params = llama_model_default_params();
        params.vocab_only = true;
        llama_model_ptr loaded(
            llama_model_load_from_file(INGLE_KNOWN_TEMPLATES "/../ggml-vocab-gpt-2.gguf", params));
        if (loaded == nullptr) throw std::runtime_error("the vocabulary cannot be loaded");
        return loaded;
    }();
    return llama_model_get_vocab(model.get());
}

void append_piece(Token token, std::string& bytes) {
    std::array<char, 256> piece{};
    const int32_t length = llama_token_to_piece(vocabulary(), token, piece.data(), piece.size(), 0, true);
    bytes.append(piece.data(), static_cast<size_t>(length));
}

std::vector<Token> tokens_of(const std::string& text) {
    std::vector<Token> tokens(text.size() + 1);
    const int32_t count = llama_tokenize(vocabulary(), text.data(), static_cast<int32_t>(text.size()),
                                         tokens.data(), static_cast<int32_t>(tokens.size()), false, true);
    tokens.resize(static_cast<size_t>(count));
    return tokens;
}

/// Of few tokens, with parts that come again.
std::vector<Token> random_text(Random& random, const std::vector<Token>& alphabet) {
    std::vector<Token> text;
    const auto length = static_cast<size_t>(random.between(0, 120));
    while (text.size() < length) {
        if (text.size() < 4 || random.chance(60)) {
            text.push_back(random.one_of(alphabet));
            continue;
        }
        const auto from = random.below(text.size());
        for (size_t i = from; i < text.size() && i < from + 9; ++i) text.push_back(text[i]);
    }
    return text;
}

DryOptions random_options(Random& random) {
    return {.multiplier = random.one_of(std::vector<float>{0.5F, 0.8F, 3.0F}),
            .base = random.one_of(std::vector<float>{1.0F, 1.75F, 4.0F}),
            .allowed_length = random.between(0, 5),
            .last_n = random.one_of(std::vector<int32_t>{1, 2, 10, 64, 1000}),
            .breakers = {}};
}

/// Where the logits differ from llama.cpp's, over a text's length: each step compares all of them.
int differences(const DryOptions& options, const std::vector<Token>& prompt, const std::vector<Token>& reply,
                int32_t size) {
    std::vector<const char*> breakers;
    for (const std::string& breaker : options.breakers) breakers.push_back(breaker.c_str());
    const llama_sampler_ptr reference(llama_sampler_init_dry(
        options.breakers.empty() ? nullptr : vocabulary(), options.multiplier, options.base,
        options.allowed_length, options.last_n, breakers.data(), breakers.size()));
    Dry dry(options, prompt, append_piece);
    for (const Token token : prompt) llama_sampler_accept(reference.get(), token);
    Candidates scratch;
    int found = 0;
    for (size_t step = 0; step <= reply.size(); ++step) {
        std::vector<float> logits(static_cast<size_t>(size), 1.5F);
        std::vector<llama_token_data> theirs;
        for (Token token = 0; token < size; ++token) theirs.push_back({.id = token, .logit = 1.5F, .p = 0});
        llama_token_data_array array{
            .data = theirs.data(), .size = theirs.size(), .selected = -1, .sorted = false};
        llama_sampler_apply(reference.get(), &array);
        {
            Pool pool(logits, scratch);
            dry.apply(pool);
            for (size_t i = 0; i < logits.size(); ++i) found += pool.all()[i] == theirs[i].logit ? 0 : 1;
        }
        if (step == reply.size()) break;
        llama_sampler_accept(reference.get(), reply[step]);
        dry.accept(reply[step]);
    }
    return found;
}

} // namespace

TEST_CASE("DRY: penalizes the tokens that llama.cpp's does, by the same amounts") {
    std::vector<Token> alphabet;
    for (Token token = 0; token < 6; ++token) alphabet.push_back(token);
    for (const uint64_t seed : test::seeds(300)) {
        CAPTURE(seed);
        Random random(seed);
        const DryOptions options = random_options(random);
        CHECK_EQ(differences(options, random_text(random, alphabet), random_text(random, alphabet), 8), 0);
    }
}

TEST_CASE("DRY: no repetition goes across a breaker, as with llama.cpp's") {
    const std::vector<std::string> known = {"\n", ":", "\"", "*", " the", "<|endoftext|>", "o", "##"};
    const std::vector<Token> alphabet = tokens_of("one the :\"*\n\nhello* \"of##:\" <|endoftext|>");
    int32_t size = 0;
    for (const Token token : alphabet) size = std::max(size, token + 1);
    for (const uint64_t seed : test::seeds(12)) {
        CAPTURE(seed);
        Random random(seed);
        DryOptions options = random_options(random);
        for (const std::string& breaker : known)
            if (random.chance(25)) options.breakers.push_back(breaker);
        CHECK_EQ(differences(options, random_text(random, alphabet), random_text(random, alphabet), size), 0);
    }
}

TEST_CASE("DRY: a breaker of several tokens is found, however the text was split") {
    const std::vector<Token> whole = tokens_of("<end of part>");
    std::vector<Token> letters;
    for (const char letter : std::string("<end of part>"))
        letters.push_back(tokens_of(std::string(1, letter))[0]);
    CHECK(whole.size() > 1);
    CHECK(letters != whole);
    const auto penalizes = [](const std::vector<Token>& between, const std::string& breaker) {
        const DryOptions options{
            .multiplier = 1, .base = 2, .allowed_length = 3, .last_n = 64, .breakers = {breaker}};
        std::vector<Token> text;
        const auto add = [&](const std::vector<Token>& more) {
            text.insert(text.end(), more.begin(), more.end());
        };
        add(tokens_of(" red"));
        add(between);
        add(tokens_of(" green blue black white red"));
        add(between);
        add(tokens_of(" green blue"));
        const Token next = tokens_of(" black")[0];
        const auto is_penalized = [&](Dry& dry) {
            std::vector<float> logits(static_cast<size_t>(next) + 1, 0.0F);
            Candidates scratch;
            Pool pool(logits, scratch);
            dry.apply(pool);
            return pool.all()[static_cast<size_t>(next)] < 0;
        };
        Dry prompted(options, text, append_piece);
        Dry told(options, {}, append_piece);
        for (const Token token : text) told.accept(token);
        CHECK_EQ(is_penalized(told), is_penalized(prompted));
        return is_penalized(told);
    };
    for (const std::vector<Token>& between : {whole, letters}) {
        CHECK(penalizes(between, "<end of book>"));
        CHECK(!penalizes(between, "<end of part>"));
    }
}
