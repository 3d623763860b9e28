#include "tool-rules.h"

#include "json-schema-to-grammar.h"

namespace tool_rules {

rule_set *& current() {
    static thread_local rule_set * rules = nullptr;
    return rules;
}

const common_json * parameters_of(const std::string & tool) {
    const rule_set * rules = current();
    if (!rules) {
        return nullptr;
    }
    const auto found = rules->parameters.find(tool);
    return found == rules->parameters.end() ? nullptr : &found->second;
}

const std::string * rule_of(const std::string & name) {
    const rule_set * rules = current();
    if (!rules) {
        return nullptr;
    }
    const auto found = rules->rules.find(name);
    return found == rules->rules.end() ? nullptr : &found->second;
}

std::optional<std::string> text_rule(const std::string & name, const std::string & end) {
    if (rule_set * rules = current()) {
        rules->ends.insert(end);
    }
    const std::string * rule = rule_of(name);
    if (!rule) {
        return std::nullopt;
    }
    return *rule + " " + gbnf_format_literal(end);
}

} // namespace tool_rules
