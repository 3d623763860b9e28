#include "jinja/expression_parser.h"

#include "jinja/builtins.h"

#include <algorithm>
#include <cstdlib>

namespace jinja {

//
// tokens
//

const token & expression_parser::token_at(size_t at) const {
    static const token END;
    return at < tokens.size() ? tokens[at] : END;
}

const token & expression_parser::next() {
    const token & here = token_at(current);
    ++current;
    return here;
}

std::string expression_parser::named(const token & what) {
    switch (what.t) {
        case token::end:         return "the end of the template";
        case token::text:        return "text";
        case token::begin_block: return "{%";
        case token::end_block:   return "%}";
        case token::begin_print: return "{{";
        case token::end_print:   return "}}";
        default:                 return "'" + what.value.substr(0, 40) + "'";
    }
}

void expression_parser::fail_at(const std::string & message, size_t at) const {
    throw syntax_error(message, source, at < tokens.size() ? tokens[at].pos : source.size());
}

const token & expression_parser::expect(token::type type, const char * what) {
    if (here().t != type) {
        fail(std::string("expected ") + what + ", got " + named(here()));
    }
    return next();
}

void expression_parser::expect_op(const char * op) {
    if (!skip_op(op)) {
        fail(std::string("expected '") + op + "', got " + named(here()));
    }
}

bool expression_parser::skip_op(const char * op) {
    const bool is_here = is_op(op);
    current += is_here ? 1 : 0;
    return is_here;
}

bool expression_parser::skip_name(const char * name) {
    const bool is_here = is_name(name);
    current += is_here ? 1 : 0;
    return is_here;
}

bool expression_parser::is_constant(const std::string & name) {
    return name == "true" || name == "True" || name == "false" || name == "False" || name == "none" || name == "None";
}

int expression_parser::highest(const expression_ptr & a, const expression_ptr & b, const expression_ptr & c) {
    return std::max({a ? a->height : 0, b ? b->height : 0, c ? c->height : 0});
}

//
// tuples, conditions, operators
//

expression_ptr expression_parser::parse_tuple(bool with_condition, const char * end, bool in_brackets) {
    work_depth depth;
    const size_t start = current;
    std::vector<expression_ptr> items;
    bool is_tuple = false;
    int  height   = 0;
    while (true) {
        const bool is_over = here().t == token::end_block || here().t == token::end_print || is_op(")") || (end != nullptr && is_name(end));
        if (is_over || is_end()) {
            break;
        }
        items.push_back(with_condition ? parse_condition() : parse_logical("or"));
        height = std::max(height, items.back()->height);
        if (!skip_op(",")) {
            break;
        }
        is_tuple = true;
    }
    if (!is_tuple && items.size() == 1) {
        return std::move(items[0]);
    }
    if (items.empty() && !in_brackets) {
        fail("Expected an expression, got " + named(here()));
    }
    auto tuple      = make<list_expression>(start, height);
    tuple->items    = std::move(items);
    tuple->is_tuple = true;
    return tuple;
}

expression_ptr expression_parser::parse_condition() {
    work_depth depth;
    const size_t start = current;
    expression_ptr yes = parse_logical("or");
    while (skip_name("if")) {
        expression_ptr condition = parse_logical("or");
        expression_ptr no        = skip_name("else") ? parse_condition() : nullptr;
        auto out       = make<condition_expression>(start, highest(yes, condition, no));
        out->yes       = std::move(yes);
        out->condition = std::move(condition);
        out->no        = std::move(no);
        yes            = std::move(out);
    }
    return yes;
}

expression_ptr expression_parser::parse_logical(const char * op) {
    const size_t start = current;
    const bool is_or   = op[0] == 'o';
    expression_ptr left = is_or ? parse_logical("and") : parse_not();
    while (skip_name(op)) {
        expression_ptr right = is_or ? parse_logical("and") : parse_not();
        auto out   = make<logical_expression>(start, highest(left, right));
        out->op    = op;
        out->left  = std::move(left);
        out->right = std::move(right);
        left       = std::move(out);
    }
    return left;
}

expression_ptr expression_parser::parse_not() {
    work_depth depth;
    const size_t start = current;
    if (!skip_name("not")) {
        return parse_comparison();
    }
    expression_ptr operand = parse_not();
    auto out     = make<unary_expression>(start, operand->height);
    out->op      = "not";
    out->operand = std::move(operand);
    return out;
}

expression_ptr expression_parser::parse_comparison() {
    const size_t start   = current;
    expression_ptr first = parse_binary(0);
    int height = first->height;
    std::vector<std::pair<std::string, expression_ptr>> rest;
    while (true) {
        std::string op;
        if (is_name("not") && ahead().t == token::name && ahead().value == "in") {
            op = "not in";
            current += 2;
        } else if (std::any_of(comparisons().begin(), comparisons().end(), [&](const char * each) { return is_op(each) || is_name(each); })) {
            op = next().value;
        } else {
            break;
        }
        rest.emplace_back(op, parse_binary(0));
        height = std::max(height, rest.back().second->height);
    }
    if (rest.empty()) {
        return first;
    }
    auto out   = make<comparison>(start, height);
    out->first = std::move(first);
    out->rest  = std::move(rest);
    return out;
}

expression_ptr expression_parser::parse_binary(int level) {
    const size_t start = current;
    const auto operand = [&] { return level == 3 ? parse_unary() : parse_binary(level + 1); };
    expression_ptr left = operand();
    while (here().t == token::op) {
        const auto & ops = operator_levels()[static_cast<size_t>(level)];
        if (std::none_of(ops.begin(), ops.end(), [&](const char * op) { return here().value == op; })) {
            break;
        }
        const std::string op = next().value;
        expression_ptr right = operand();
        auto out   = make<binary_expression>(start, highest(left, right));
        out->op    = op;
        out->left  = std::move(left);
        out->right = std::move(right);
        left       = std::move(out);
    }
    return left;
}

expression_ptr expression_parser::parse_unary(bool with_filters) {
    work_depth depth;
    const size_t start = current;
    expression_ptr out;
    if (is_op("-") || is_op("+")) {
        const std::string op   = next().value;
        expression_ptr operand = parse_unary(false);
        auto unary     = make<unary_expression>(start, operand->height);
        unary->op      = op;
        unary->operand = std::move(operand);
        out            = std::move(unary);
    } else {
        out = parse_primary();
    }
    out = parse_postfix(std::move(out));
    return with_filters ? parse_filters_and_tests(std::move(out)) : std::move(out);
}

//
// constants, names, brackets
//

expression_ptr expression_parser::parse_number() {
    const size_t start   = current;
    const token & number = next();
    auto out = make<literal_expression>(start);
    out->is  = number.t == token::real ? literal_expression::real : literal_expression::whole;
    if (number.t == token::real) {
        parse_float(number.value, out->real_number);
    } else {
        parse_integer(number.value, 0, out->number);
    }
    return out;
}

expression_ptr expression_parser::parse_primary() {
    const size_t start = current;
    if (here().t == token::whole || here().t == token::real) {
        return parse_number();
    }
    if (here().t == token::string) {
        auto out = make<literal_expression>(start);
        out->is  = literal_expression::text;
        while (here().t == token::string) {
            out->content += next().value;
        }
        return out;
    }
    if (here().t == token::name) {
        const std::string name = next().value;
        if (is_constant(name)) {
            auto out  = make<literal_expression>(start);
            out->is   = name[0] == 'n' || name[0] == 'N' ? literal_expression::none : literal_expression::boolean;
            out->flag = name[0] == 't' || name[0] == 'T';
            return out;
        }
        specials.varargs = specials.varargs || name == "varargs";
        specials.kwargs  = specials.kwargs || name == "kwargs";
        specials.caller  = specials.caller || name == "caller";
        auto out  = make<name_expression>(start);
        out->name = name;
        return out;
    }
    if (skip_op("(")) {
        expression_ptr out = parse_tuple(true, nullptr, true);
        expect_op(")");
        return out;
    }
    if (skip_op("[")) {
        return parse_list();
    }
    if (skip_op("{")) {
        return parse_object();
    }
    fail("unexpected " + named(here()));
}

expression_ptr expression_parser::parse_list() {
    work_depth depth;
    const size_t start = current - 1;
    std::vector<expression_ptr> items;
    int height = 0;
    while (!is_op("]")) {
        if (!items.empty()) {
            expect_op(",");
        }
        if (is_op("]")) {
            break;
        }
        items.push_back(parse_expression());
        height = std::max(height, items.back()->height);
    }
    expect_op("]");
    auto out   = make<list_expression>(start, height);
    out->items = std::move(items);
    return out;
}

expression_ptr expression_parser::parse_object() {
    work_depth depth;
    const size_t start = current - 1;
    std::vector<std::pair<expression_ptr, expression_ptr>> pairs;
    int height = 0;
    while (!is_op("}")) {
        if (!pairs.empty()) {
            expect_op(",");
        }
        if (is_op("}")) {
            break;
        }
        expression_ptr key = parse_expression();
        expect_op(":");
        expression_ptr val = parse_expression();
        height = std::max({height, key->height, val->height});
        pairs.emplace_back(std::move(key), std::move(val));
    }
    expect_op("}");
    auto out   = make<object_expression>(start, height);
    out->pairs = std::move(pairs);
    return out;
}

} // namespace jinja
