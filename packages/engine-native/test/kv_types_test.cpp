// llama/kv_types and contexts with a cache of 3 bits: what is refused, and that a copied state goes on as the original.
#include "llama/context/kv_types.h"

#include "check.h"
#include "engine_harness.h"
#include "llama/context/context.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using base::Code;
using base::Token;
using llama::BatchPart;
using llama::Context;
using llama::ContextOptions;
using llama::Decoded;

namespace {

ContextOptions options_of(const std::string& type_k, const std::string& type_v) {
    ContextOptions options = test::few_places().context;
    options.kv_type_k = type_k;
    options.kv_type_v = type_v;
    options.flash_attention = "auto";
    return options;
}

std::unique_ptr<Context> context_of(const std::string& type_k, const std::string& type_v) {
    auto made = Context::create(test::tiny_llama(), options_of(type_k, type_v), 2);
    REQUIRE(made.has_value());
    return std::move(*made);
}

/// The logits after these tokens of a sequence, whose first `first` are there.
std::vector<float> logits_after(Context& context, base::Slot slot, const std::vector<Token>& tokens,
                                int32_t first = 0) {
    const BatchPart part{.slot = slot,
                         .first = first,
                         .tokens = std::span(tokens).subspan(static_cast<size_t>(first)),
                         .wants_logits = true};
    REQUIRE(context.decode(std::span(&part, 1)) == Decoded::ok);
    const float* logits = context.logits(0);
    return {logits, logits + test::tiny_llama()->info().vocabulary_size};
}

const std::vector<Token> kText = {7, 12, 3, 41, 29, 8, 17, 5, 33, 21, 4};

} // namespace

TEST_CASE("kv types: 3 bits are among the names, and no other name is taken") {
    const std::vector<std::string> names = llama::kv_type_names();
    for (const char* name : {"f16", "q8_0", "q4_0", "q3_kv"}) CHECK(std::ranges::count(names, name) == 1);
    for (const char* name : {"q3_K", "q2_0", "", "DEPRECATED", "i32"})
        CHECK(llama::kv_type_from_name(name) < 0);
    const auto refused = llama::kv_types(*test::tiny_llama(), "f16", "q3", "auto");
    REQUIRE(!refused.has_value());
    CHECK(refused.error().code == Code::invalid_argument);
}

TEST_CASE("kv types: heads that blocks of 64 do not fit are refused, with what to do") {
    const auto refused =
        llama::kv_types(*test::tiny_model("INGLE_TINY_LLAMA_NARROW"), "q3_kv", "q3_kv", "auto");
    REQUIRE(!refused.has_value());
    CHECK(refused.error().code == Code::invalid_argument);
    CHECK(refused.error().message.find("32") != std::string::npos);
    CHECK(llama::kv_types(*test::tiny_model("INGLE_TINY_LLAMA_NARROW"), "q4_0", "q4_0", "auto").has_value());
}

TEST_CASE("kv types: a cache of 3 bits has less than a quarter of the bytes, and computes nearly the same") {
    const auto exact = context_of("f16", "f16");
    const auto small = context_of("q3_kv", "q3_kv");
    CHECK(small->token_bytes() * 32 == exact->token_bytes() * 7);
    const std::vector<float> expected = logits_after(*exact, 0, kText);
    const std::vector<float> actual = logits_after(*small, 0, kText);
    double error = 0;
    double size = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
        error += std::pow(actual[i] - expected[i], 2);
        size += std::pow(expected[i], 2);
    }
    CHECK(error > 0); // the type is used
    CHECK(error < 0.05 * size);
}

TEST_CASE("kv types: a state of 3 bits that is copied out and in goes on with the same logits") {
    const auto context = context_of("q3_kv", "q3_kv");
    const std::vector<Token> begun(kText.begin(), kText.end() - 1);
    const int32_t length = static_cast<int32_t>(begun.size());
    logits_after(*context, 0, begun);
    const llama::State state = context->copy_out(0, 0, length, 1 << 20);
    REQUIRE(state.bytes != nullptr);
    const std::vector<float> expected = logits_after(*context, 0, kText, length);
    REQUIRE(context->remove(0, 0));
    REQUIRE(context->copy_in(1, {.state = state, .first = 0, .length = length, .checkpoint = nullptr}));
    CHECK(logits_after(*context, 1, kText, length) == expected);
}

TEST_CASE("kv types: keys of 3 bits are not shifted, since they would be rounded anew") {
    CHECK(!context_of("q3_kv", "q3_kv")->can_shift());
    CHECK(context_of("f16", "f16")->can_shift());
}
