// Rules of the caller's own for the arguments of tools, in place of those that are converted from their schemas.
#pragma once

#include "json.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace tool_rules {

struct rule_set {
    // by the name of a tool: the schema that parsers read instead of the one that the template is given
    std::map<std::string, common_json> parameters;
    // GBNF, by what it stands for: the name under which a parser adds a schema ("tool-NAME-schema", "tool-NAME-arg-PARAMETER-schema"),
    // or "tool-NAME-arg-PARAMETER-text" for a string that is written as it is. The grammar only names rules: the caller adds them
    std::map<std::string, std::string> rules;

    // what parsers have told: the texts that end a string that is written as it is, and whether a value that may also be
    // something else is read as JSON where it can be
    std::set<std::string> ends;
    bool reads_json = false;
};

// what is used on this thread; null: nothing
rule_set *& current();

// the schema that parsers read for a tool; null: the one that it has
const common_json * parameters_of(const std::string & tool);

// the rule that stands for this; null: none
const std::string * rule_of(const std::string & name);

// GBNF for a string that is written as it is, up to and including its end, if there is a rule for it
std::optional<std::string> text_rule(const std::string & name, const std::string & end);

} // namespace tool_rules
