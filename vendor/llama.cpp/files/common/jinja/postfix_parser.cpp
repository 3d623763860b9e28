// What follows an operand in an expression: attributes, items, calls, filters and tests.
#include "jinja/expression_parser.h"

#include <algorithm>

namespace jinja {

//
// what follows an operand
//

expression_ptr expression_parser::parse_postfix(expression_ptr operand) {
    work_depth depth;
    while (true) {
        if (is_op(".")) {
            operand = parse_dot(std::move(operand));
        } else if (is_op("[")) {
            operand = parse_subscript(std::move(operand));
        } else if (is_op("(")) {
            operand = parse_call(std::move(operand));
        } else {
            return operand;
        }
    }
}

expression_ptr expression_parser::parse_dot(expression_ptr operand) {
    const size_t start = current;
    next();
    if (here().t == token::whole) {
        expression_ptr key = parse_number();
        auto out    = make<item_expression>(start, operand->height);
        out->object = std::move(operand);
        out->key    = std::move(key);
        return out;
    }
    const std::string name = expect(token::name, "a name or a number").value;
    auto out    = make<attribute_expression>(start, operand->height);
    out->object = std::move(operand);
    out->name   = name;
    return out;
}

expression_ptr expression_parser::parse_subscript(expression_ptr operand) {
    const size_t start = current;
    next();
    expression_ptr parts[3];
    size_t part   = 0;
    bool is_slice = false;
    bool is_tuple = false;
    std::vector<expression_ptr> keys;
    while (!is_op("]")) {
        if (is_op(":") && part < 2) {
            next();
            ++part;
            is_slice = true;
        } else if (!is_slice && skip_op(",")) {
            keys.push_back(std::move(parts[0]));
            is_tuple = true;
        } else if (!parts[part]) {
            parts[part] = parse_expression();
        } else {
            fail("expected ']', got " + named(here()));
        }
    }
    next();
    if (is_slice && !is_tuple) {
        auto out    = make<slice_expression>(start, std::max(operand->height, highest(parts[0], parts[1], parts[2])));
        out->object = std::move(operand);
        out->start  = std::move(parts[0]);
        out->stop   = std::move(parts[1]);
        out->step   = std::move(parts[2]);
        return out;
    }
    if (is_tuple || !parts[0]) {
        fail_at("a subscript that is no expression or slice", start);
    }
    auto out    = make<item_expression>(start, highest(operand, parts[0]));
    out->object = std::move(operand);
    out->key    = std::move(parts[0]);
    return out;
}

expression_ptr expression_parser::parse_call(expression_ptr operand) {
    const size_t start = current;
    argument_list args;
    const int height = std::max(operand->height, parse_arguments(args));
    auto out    = make<call_expression>(start, height);
    out->callee = std::move(operand);
    out->args   = std::move(args);
    return out;
}

int expression_parser::parse_arguments(argument_list & args) {
    work_depth depth;
    int height = 0;
    bool is_first = true;
    const auto parsed = [&] {
        expression_ptr out = parse_expression();
        height = std::max(height, out->height);
        return out;
    };
    expect_op("(");
    while (!is_op(")")) {
        if (!is_first) {
            expect_op(",");
        }
        is_first = false;
        if (is_op(")")) {
            break;
        }
        if (skip_op("*")) {
            args.more_pos = parsed();
        } else if (skip_op("**")) {
            args.more_named = parsed();
        } else if (here().t == token::name && ahead().t == token::op && ahead().value == "=") {
            const std::string name = next().value;
            next();
            args.named.emplace_back(name, parsed());
        } else if (!args.named.empty() || args.more_pos || args.more_named) {
            fail("invalid syntax for function call expression");
        } else {
            args.pos.push_back(parsed());
        }
    }
    expect_op(")");
    return height;
}

//
// filters and tests
//

expression_ptr expression_parser::parse_filters_and_tests(expression_ptr operand) {
    work_depth depth;
    while (true) {
        if (is_op("|")) {
            operand = parse_filters(std::move(operand));
        } else if (is_name("is")) {
            operand = parse_test(std::move(operand));
        } else if (is_op("(")) {
            operand = parse_call(std::move(operand));
        } else {
            return operand;
        }
    }
}

expression_ptr expression_parser::parse_filters(expression_ptr operand, bool begins) {
    while (begins || skip_op("|")) {
        begins  = false;
        operand = parse_filter(std::move(operand));
    }
    return operand;
}

std::string expression_parser::parse_dotted_name() {
    std::string name = expect(token::name, "a name").value;
    while (skip_op(".")) {
        name += "." + expect(token::name, "a name").value;
    }
    return name;
}

expression_ptr expression_parser::parse_filter(expression_ptr operand) {
    const size_t start     = current;
    const std::string name = parse_dotted_name();
    argument_list args;
    const int height = std::max(operand->height, is_op("(") ? parse_arguments(args) : 0);
    auto out     = make<filter_expression>(start, height);
    out->operand = std::move(operand);
    out->name    = name;
    out->args    = std::move(args);
    out->title   = "the filter " + name;
    return out;
}

expression_ptr expression_parser::parse_test(expression_ptr operand) {
    const size_t start = current;
    next();
    const bool is_negated  = skip_name("not");
    const std::string name = parse_dotted_name();
    argument_list args;
    int height = operand->height;
    const token::type kind = here().t;
    const bool is_value    = kind == token::name || kind == token::string || kind == token::whole || kind == token::real || is_op("[") || is_op("{");
    if (is_op("(")) {
        height = std::max(height, parse_arguments(args));
    } else if (is_name("is")) {
        fail("You cannot chain multiple tests with is");
    } else if (is_value && !is_name("else") && !is_name("or") && !is_name("and")) {
        args.pos.push_back(parse_postfix(parse_primary()));
        height = std::max(height, args.pos[0]->height);
    }
    auto out        = make<test_expression>(start, height);
    out->operand    = std::move(operand);
    out->name       = name;
    out->args       = std::move(args);
    out->is_negated = is_negated;
    out->title      = "the test " + name;
    return out;
}

} // namespace jinja
