// Reads expressions, with the precedence that Jinja 2 gives them.
#pragma once

#include "ast.h"
#include "lexer.h"

#include <memory>
#include <string>
#include <utility>

namespace jinja {

class expression_parser {
public:
    explicit expression_parser(const lexer_result & lexed) : tokens(lexed.tokens), source(lexed.source) {}

protected:
    const std::vector<token> & tokens;
    const std::string & source;
    size_t current = 0;

    // names that a macro has if it reads them
    struct special_names {
        bool varargs = false;
        bool kwargs  = false;
        bool caller  = false;
    };
    special_names specials;

    bool is_end() const { return current >= tokens.size(); }
    const token & here() const { return token_at(current); }
    const token & ahead() const { return token_at(current + 1); }
    const token & next();
    const token & expect(token::type type, const char * what);
    bool is_op(const char * op) const { return here().t == token::op && here().value == op; }
    bool is_name(const char * name) const { return here().t == token::name && here().value == name; }
    bool skip_op(const char * op);
    bool skip_name(const char * name);
    void expect_op(const char * op);
    static bool is_constant(const std::string & name);
    // for an error
    static std::string named(const token & what);
    static int highest(const expression_ptr & a, const expression_ptr & b = nullptr, const expression_ptr & c = nullptr);
    [[noreturn]] void fail(const std::string & message) const { fail_at(message, current); }
    // at a token
    [[noreturn]] void fail_at(const std::string & message, size_t at) const;

    expression_ptr parse_expression() { return parse_condition(); }
    // a, b, c without brackets; with_condition: `if` belongs to it. It also ends at this name.
    expression_ptr parse_tuple(bool with_condition = true, const char * end = nullptr, bool in_brackets = false);
    // | a | b; begins: without the first |
    expression_ptr parse_filters(expression_ptr operand, bool begins = false);

    // height: of the highest part
    template <typename T>
    std::unique_ptr<T> finished(std::unique_ptr<T> made, size_t start, int height) const {
        work_depth::check(height); // running and freeing it recurse as deeply
        made->pos    = token_at(start).pos;
        made->height = height + 1;
        return made;
    }
    template <typename T>
    std::unique_ptr<T> make(size_t start, int height = 0) const { return finished(std::make_unique<T>(), start, height); }

private:
    const token & token_at(size_t at) const;

    expression_ptr parse_condition();
    expression_ptr parse_logical(const char * op);
    expression_ptr parse_not();
    expression_ptr parse_comparison();
    // level 0: + -, 1: ~, 2: * / // %, 3: **
    expression_ptr parse_binary(int level);
    expression_ptr parse_unary(bool with_filters = true);
    expression_ptr parse_primary();
    expression_ptr parse_number();
    expression_ptr parse_list();
    expression_ptr parse_object();
    expression_ptr parse_postfix(expression_ptr operand);
    expression_ptr parse_dot(expression_ptr operand);
    expression_ptr parse_subscript(expression_ptr operand);
    expression_ptr parse_call(expression_ptr operand);
    expression_ptr parse_filters_and_tests(expression_ptr operand);
    expression_ptr parse_filter(expression_ptr operand);
    expression_ptr parse_test(expression_ptr operand);
    std::string    parse_dotted_name();
    // returns the height of the highest
    int parse_arguments(argument_list & args);
};

} // namespace jinja
