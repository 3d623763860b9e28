// The arguments of tool calls in the syntax of a chat template: rules of ours stand for the schemas that llama.cpp would convert.
#pragma once

#include "base/fields.h"

#include <memory>
#include <string>
#include <vector>

struct common_chat_templates;

namespace tool_rules {
struct rule_set;
}

namespace llama {

struct Chat;

/// A rule for arguments in the grammar of calls.
struct ArgumentRule {
    /// What it stands for: "tool-NAME-schema", the object of all arguments of a tool; "tool-NAME-arg-PARAMETER-schema", a value as
    /// JSON; or "tool-NAME-arg-PARAMETER-text", a value that is written as it is.
    std::string stands_for;
    /// The name of a rule in the chat's `tool_rules`.
    std::string rule;
};

constexpr auto fields_of(const ArgumentRule*) {
    return base::rows(base::field("standsFor", &ArgumentRule::stands_for),
                      base::field("rule", &ArgumentRule::rule));
}

/// How calls in a template's syntax write their arguments.
enum class ArgumentSyntax {
    /// In a way for which we have no rules.
    other,
    /// As one JSON object.
    json,
    /// One by one: strings as they are, up to a certain text, and other values as JSON.
    text
};

struct ArgumentSkills {
    ArgumentSyntax syntax = ArgumentSyntax::other;
    /// The text that ends a string; no string contains it. Empty unless strings are written as they are.
    std::string end = {};
    /// Whether a value that may be a string or something else is read as JSON if it is JSON; otherwise, it is a string.
    bool reads_json = false;
};

constexpr auto fields_of(const ArgumentSkills*) {
    return base::rows(base::choice("syntax", &ArgumentSkills::syntax,
                                   {{"other", ArgumentSyntax::other},
                                    {"json", ArgumentSyntax::json},
                                    {"text", ArgumentSyntax::text}}),
                      base::field("end", &ArgumentSkills::end),
                      base::field("readsJson", &ArgumentSkills::reads_json));
}

/// Throws what the template throws.
ArgumentSkills argument_skills_of(const common_chat_templates& templates);

/// While it exists, llama.cpp uses the chat's rules and schemas for its tools' arguments on this thread.
class ArgumentRules {
public:
    /// Throws if a schema is no JSON.
    explicit ArgumentRules(const Chat& chat);
    ~ArgumentRules();
    ArgumentRules(const ArgumentRules&) = delete;
    ArgumentRules& operator=(const ArgumentRules&) = delete;

private:
    std::unique_ptr<tool_rules::rule_set> rules_;
};

} // namespace llama
