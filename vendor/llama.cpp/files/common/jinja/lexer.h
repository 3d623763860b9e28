// Splits a template into tokens, as Jinja 2 does with trim_blocks and lstrip_blocks.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace jinja {

struct token {
    enum type {
        end,
        text,        // outside of statements and expressions
        begin_block, // {%
        end_block,   // %}
        begin_print, // {{
        end_print,   // }}
        name,
        string,
        whole,       // a number without a point
        real,
        op,          // value is the operator
    };
    type        t = end;
    std::string value;
    size_t      pos = 0; // byte in the source
};

struct lexer_result {
    std::vector<token> tokens;
    std::string source; // with \n for every line end, without one at the end
};

// "line 3, column 5"
std::string line_and_column(const std::string & source, size_t pos);

// a template that cannot be read, and where
struct syntax_error : std::runtime_error {
    syntax_error(const std::string & message, const std::string & source, size_t pos)
        : std::runtime_error(message + " at " + line_and_column(source, pos)) {}
};

struct lexer {
    // throws syntax_error
    lexer_result tokenize(const std::string & source);
};

} // namespace jinja
