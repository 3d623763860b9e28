// A form beside tools, in the syntax of every chat template that comes with llama.cpp: random texts that its grammar has are a
// call of a tool or content of the form, for the parser too, and beginnings of them become nothing else.
#include "check.h"
#include "llama/chat/chat_template.h"
#include "llama/chat/reply_grammar.h"
#include "llama/chat/reply_parser.h"
#include "log.h"
#include "random.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

using grammar::GrammarState;
using llama::Reply;
using llama::ToolCall;
using test::Random;

namespace {

const char* const kContentRules =
    R"(ingle-json ::= "{\"answer\":" [ ]? ("\"<tool_call>\"" | "\"{}\"" | "[]") "}"
)";

/// In our own vocabulary there are no tokens, and so none that belong to a syntax.
grammar::Grammars no_tokens() {
    return {[](std::string_view) { return -1; }, [] { return nullptr; }};
}

std::vector<std::filesystem::path> template_files() {
    const char* folder = std::getenv("INGLE_TEMPLATES");
    REQUIRE(folder != nullptr);
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".jinja") files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
}

common_chat_templates_ptr read_template(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    const std::string source{std::istreambuf_iterator<char>(stream), {}};
    return common_chat_templates_init(nullptr, source);
}

common_chat_templates_inputs question() {
    common_chat_templates_inputs inputs;
    common_chat_msg message;
    message.role = "user";
    message.content = "What is the weather in Rome?";
    inputs.messages.push_back(message);
    inputs.add_generation_prompt = true;
    inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    inputs.tools = {
        {.name = "get_weather",
         .description = "The weather of a city",
         .parameters =
             R"({"type":"object","properties":{"city":{"type":"string","enum":["Rome","Romeo","Oslo"]},)"
             R"("days":{"type":"integer","minimum":1,"maximum":7},"wind":{"type":"boolean"}},)"
             R"("required":["city","days"],"additionalProperties":false})"},
        {.name = "now", .description = "The time", .parameters = R"({"type":"object","properties":{}})"},
    };
    return inputs;
}

/// What ends thoughts: random characters never do.
const std::vector<std::string> kEndsOfThoughts = {
    "</think>", "</seed:think>",    "</mm:think>", "</think:opensource>",
    "[/THINK]", "<|END_THINKING|>", "<channel|>",  "[BEGIN FINAL RESPONSE]",
    "<|end|>",  "<|eom|>"};

std::vector<std::string> characters() {
    std::vector<std::string> all = {"\n", "\xC3\xA9", "\xEF\xBD\x9C", "\xE2\x96\x81"};
    for (char c = ' '; c <= '~'; ++c) all.emplace_back(1, c);
    return all;
}

/// A random text of the grammar behind what was begun; empty when it does not come to an end.
std::string random_text(const llama::ReplySyntax& syntax, Random& random) {
    constexpr int kStepsMax = 3'000;
    static const std::vector<std::string> all = characters();
    GrammarState state(syntax.rules);
    CHECK((syntax.begun.empty() || state.accept_text(syntax.begun)));
    std::string text;
    for (int step = 0; step < kStepsMax; ++step) {
        if (state.may_end() && (state.must_end() || random.chance(50))) return text;
        std::vector<std::string> next;
        for (const std::string& each : kEndsOfThoughts) {
            if (random.chance(30) && state.allows(-1, each)) next.push_back(each);
        }
        if (next.empty())
            std::ranges::copy_if(all, std::back_inserter(next),
                                 [&](const std::string& each) { return state.allows(-1, each); });
        if (next.empty()) return {};
        const std::string& taken = random.one_of(next);
        state.accept(-1, taken);
        text += taken;
    }
    return {};
}

bool is_form(const std::string& content) {
    const common_json value = common_json::parse_no_throw(content);
    return !value.is_discarded() && value.is_object() && value.size() == 1 && value.contains("answer");
}

bool is_call(const ToolCall& call) {
    const common_json values = common_json::parse_no_throw(call.arguments);
    if (values.is_discarded() || !values.is_object()) return false;
    if (call.name == "now") return true; // it says nothing of what it takes
    const std::set<std::string> cities = {"Rome", "Romeo", "Oslo"};
    if (call.name != "get_weather" || !values.contains("city") || !values.contains("days")) return false;
    if (!values.at("city").is_string() || !cities.contains(values.at("city").get<std::string>()))
        return false;
    if (!values.at("days").is_number_integer()) return false;
    const auto days = values.at("days").get<int64_t>();
    const bool has_wind = values.contains("wind");
    return days >= 1 && days <= 7 && (!has_wind || values.at("wind").is_boolean()) &&
           values.size() == (has_wind ? 3 : 2);
}

/// Empty when the reply is neither or both.
std::string kind_of(const Reply& reply) {
    if (reply.calls.empty()) return is_form(reply.content) ? "form" : "";
    const bool are_calls = reply.content.empty() && std::ranges::all_of(reply.calls, is_call);
    return are_calls ? "calls" : "";
}

/// What is sure of a beginning stays.
bool is_beginning(const Reply& part, const Reply& whole) {
    if (!whole.content.starts_with(part.content) || !whole.reasoning.starts_with(part.reasoning))
        return false;
    for (size_t i = 0; i < part.calls.size(); ++i) {
        if (part.calls[i].name.empty()) continue; // not sure yet
        if (i >= whole.calls.size() || !whole.calls[i].name.starts_with(part.calls[i].name)) return false;
        if (!whole.calls[i].arguments.starts_with(part.calls[i].arguments)) return false;
    }
    return true;
}

void check_text(const llama::ReplyParser& parser, const std::string& text, std::set<std::string>& kinds) {
    CAPTURE(text);
    const base::Result<Reply> whole = parser.parse(text, false);
    CHECK(whole.has_value());
    if (!whole) return;
    CAPTURE(whole->content);
    const std::string kind = kind_of(*whole);
    CHECK(kind != "");
    kinds.insert(kind);
    for (size_t length = 0; length < text.size(); length += 9) {
        const base::Result<Reply> part = parser.parse(text.substr(0, length), true);
        CAPTURE(length);
        if (part) CHECK(is_beginning(*part, *whole));
    }
}

/// Texts of one template's grammar, until both kinds have come up.
void check_template(const common_chat_templates& templates, const common_chat_templates_inputs& inputs) {
    constexpr size_t kTextsMin = 12;
    grammar::Grammars grammars = no_tokens();
    const auto syntax = llama::form_or_calls(templates, grammars, inputs, {.form = kContentRules});
    CHECK(syntax.has_value());
    if (!syntax) return;
    const auto parser = llama::ReplyParser::create(syntax->params, &*syntax->form, false);
    REQUIRE(parser.has_value());
    const std::set<std::string> both = {"calls", "form"};
    std::set<std::string> kinds;
    for (const uint64_t seed : test::seeds(200)) {
        if (seed > kTextsMin && kinds == both) return;
        CAPTURE(seed);
        Random random(seed);
        const std::string text = random_text(*syntax, random);
        if (!text.empty()) check_text(**parser, text, kinds);
    }
    CHECK_EQ(kinds, both);
}

} // namespace

TEST_CASE("a form beside tools: texts that the grammar has are calls or of the form") {
    common_log_set_verbosity_thold(-1); // else it tells each beginning that is none
    std::vector<std::string> without;
    for (const std::filesystem::path& file : template_files()) {
        const std::string name = file.stem().string();
        CAPTURE(name);
        const common_chat_templates_ptr templates = read_template(file);
        const llama::TemplateSkills skills = llama::skills_of(*templates);
        if (skills.writes_tools && !skills.holds_form_or_calls) without.push_back(name);
        if (!skills.holds_form_or_calls) continue;
        for (const bool enable_thinking : {false, true}) {
            common_chat_templates_inputs inputs = question();
            inputs.enable_thinking = enable_thinking;
            inputs.parallel_tool_calls = enable_thinking;
            CAPTURE(enable_thinking);
            check_template(*templates, inputs);
        }
    }
    // LFM2's calls are written here; of the others, the syntax of calls does not hold them to their tool, or there is none
    // for a form. They are told of tools as templates are that know none.
    const std::vector<std::string> expected = {"GigaChat3-10B-A1.8B",
                                               "Kimi-K2-Instruct",
                                               "Kimi-K2-Thinking",
                                               "Kimi-K3",
                                               "LFM2-8B-A1B",
                                               "LFM2.5-8B-A1B",
                                               "LFM2.5-Instruct",
                                               "google-gemma-4-31B-it",
                                               "google-gemma-4-31B-it-interleaved",
                                               "ibm-granite-granite-3.3-2B-Instruct",
                                               "inclusionai-ling-3.0-flash",
                                               "meetkai-functionary-medium-v3.2",
                                               "moonshotai-Kimi-K2",
                                               "muse-glimmer",
                                               "openbmb-MiniCPM5-1B"};
    std::ranges::sort(without);
    CHECK_EQ(without, expected);
}

TEST_CASE("in the syntax of most templates, rules of ours stand for the arguments of calls") {
    common_log_set_verbosity_thold(-1);
    std::vector<std::string> as_text;
    std::vector<std::string> without;
    for (const std::filesystem::path& file : template_files()) {
        const std::string name = file.stem().string();
        const llama::TemplateSkills skills = llama::skills_of(*read_template(file));
        if (!skills.writes_tools || skills.is_lfm2) continue;
        const auto& [syntax, end, reads_json] = skills.arguments;
        if (syntax == llama::ArgumentSyntax::other) without.push_back(name);
        if (syntax == llama::ArgumentSyntax::text)
            as_text.push_back(name + (reads_json ? " reads JSON" : ""));
        CHECK_EQ(end.empty(), syntax != llama::ArgumentSyntax::text);
    }
    std::ranges::sort(as_text);
    std::ranges::sort(without);
    const std::vector<std::string> expected_as_text = {"ByteDance-Seed-OSS",
                                                       "GLM-4.6",
                                                       "GLM-4.7-Flash",
                                                       "MiniMax-M2",
                                                       "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16 reads JSON",
                                                       "Qwen3-Coder reads JSON",
                                                       "Qwen3.5-4B reads JSON",
                                                       "Spark2.5",
                                                       "StepFun3.5-Flash reads JSON",
                                                       "deepseek-ai-DeepSeek-V3.2",
                                                       "deepseek-ai-DeepSeek-V4",
                                                       "deepseek-ai-DeepSeek-V4-Flash-0731",
                                                       "inclusionai-ling-3.0-flash reads JSON",
                                                       "poolside-Laguna-S-2.1",
                                                       "poolside-Laguna-XS-2.1",
                                                       "poolside-Laguna-XS.2",
                                                       "tencent-Hy3"};
    const std::vector<std::string> expected_without = {"Kimi-K3",
                                                       "MiniMax-M3",
                                                       "google-gemma-4-31B-it",
                                                       "google-gemma-4-31B-it-interleaved",
                                                       "ibm-granite-granite-3.3-2B-Instruct",
                                                       "muse-glimmer",
                                                       "openbmb-MiniCPM5-1B"};
    CHECK_EQ(as_text, expected_as_text);
    CHECK_EQ(without, expected_without);
}
