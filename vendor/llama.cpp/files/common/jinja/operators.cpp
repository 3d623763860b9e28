// Expressions and operators.
#include "jinja/ast.h"
#include "jinja/builtins.h"

#include <cmath>

namespace jinja {

//
// arithmetic
//

[[noreturn]] static void throw_unsupported(const std::string & op, const value & a, const value & b) {
    for (const auto & each : {a, b}) {
        if (each->is == kind::undefined) {
            throw_undefined(each);
        }
    }
    throw template_error("unsupported operand type(s) for " + op + ": '" + a->type() + "' and '" + b->type() + "'");
}

static double float_mod(double a, double b) {
    const double rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest == 0 ? std::copysign(0.0, b) : rest;
}

static double float_floor(double a, double b) {
    const double rest = std::fmod(a, b);
    double quotient   = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0)) {
        quotient -= 1;
    }
    if (quotient == 0) {
        return std::copysign(0.0, a / b);
    }
    const double below = std::floor(quotient);
    return quotient - below > 0.5 ? below + 1 : below;
}

static value floats(const std::string & op, double a, double b) {
    if (b == 0 && (op == "/" || op == "//" || op == "%")) {
        throw template_error(op == "%" ? "float modulo" : "float division by zero");
    }
    if (op == "+")  { return of(a + b); }
    if (op == "-")  { return of(a - b); }
    if (op == "*")  { return of(a * b); }
    if (op == "/")  { return of(a / b); }
    if (op == "//") { return of(float_floor(a, b)); }
    if (op == "%")  { return of(float_mod(a, b)); }
    if (a == 0 && b < 0) {
        throw template_error("0.0 cannot be raised to a negative power");
    }
    return of(std::pow(a, b));
}

static value integers(const std::string & op, const integer & a, const integer & b) {
    if (op == "+") { return of(a + b); }
    if (op == "-") { return of(a - b); }
    if (op == "*") { return of(a * b); }
    if (op == "/") {
        if (b.sign() == 0) {
            throw template_error("division by zero");
        }
        return of(a.to_double() / b.to_double());
    }
    if (op == "**") {
        if (b.sign() < 0) {
            return floats(op, a.to_double(), b.to_double());
        }
        const bool is_small = a.compare(integer(1)) <= 0 && a.compare(integer(-1)) >= 0;
        if (!is_small && b.compare(integer(20000)) > 0) {
            throw template_error("an integer has more than 4,300 digits");
        }
        return of(a.power(static_cast<uint64_t>(is_small ? (b.clamped() & 1) + 2 * (b.sign() != 0 ? 1 : 0) : b.clamped())));
    }
    integer remainder;
    const integer quotient = a.divided_by(b, remainder);
    return of(op == "//" ? quotient : remainder);
}

static value repeated(const value & what, const value & times) {
    if (!integer_of(times).fits()) {
        throw template_error("cannot fit 'int' into an index-sized integer");
    }
    const int64_t count = length_of(what) == 0 ? 0 : index_of(times);
    if (const auto * text = as<value_string_t>(what)) {
        text_out out;
        for (int64_t i = 0; i < count; ++i) {
            work_on(WORK_ITEM_UNITS);
            out.put(text->val_str);
        }
        auto result     = mk_val<value_string>(out.text);
        result->is_safe = text->is_safe;
        return result;
    }
    const auto * list = as<value_array_t>(what);
    auto out = mk_val<value_array>(list->is_tuple);
    for (int64_t i = 0; i < count; ++i) {
        work_on(WORK_ITEM_UNITS);
        for (const auto & item : list->items) {
            out->push_back(item);
        }
    }
    return out;
}

static bool is_safe_text(const value & val) {
    const auto * text = as<value_string_t>(val);
    return text != nullptr && text->is_safe;
}

// with +, a text beside one that is safe is escaped, as markupsafe does it; Jinja's ~ does not
static value joined_texts(const value & a, const value & b) {
    const bool becomes_safe = is_safe_text(a) || is_safe_text(b);
    text_out out;
    for (const auto & each : {a, b}) {
        out.put(becomes_safe && !is_safe_text(each) ? escaped(text_of(each)) : text_of(each));
    }
    auto result     = mk_val<value_string>(out.text);
    result->is_safe = becomes_safe;
    return result;
}

static value joined(const value & a, const value & b) {
    if (a->is == kind::text) {
        return joined_texts(a, b);
    }
    auto out = mk_val<value_array>(as<value_array_t>(a)->is_tuple);
    for (const auto * list : {as<value_array_t>(a), as<value_array_t>(b)}) {
        for (const auto & item : list->items) {
            out->push_back(item);
        }
    }
    return out;
}

value binary(const std::string & op, const value & a, const value & b) {
    if (op == "~") {
        text_out out;
        out.put(text_of(a)).put(text_of(b));
        return of(out.text);
    }
    if (is_number(a) && is_number(b)) {
        const bool is_float = a->is == kind::real || b->is == kind::real;
        return is_float ? floats(op, double_of(a), double_of(b)) : integers(op, integer_of(a), integer_of(b));
    }
    const auto is_sequence = [](const value & val) { return val->is == kind::text || val->is == kind::list; };
    if (op == "+" && is_sequence(a) && a->type() == b->type()) {
        return joined(a, b);
    }
    // Jinja has an error here; but templates add variables and descriptions that a request may lack
    if (op == "+" && a->is == kind::text && b->is == kind::undefined) {
        return a;
    }
    if (op == "+" && a->is == kind::undefined && b->is == kind::text) {
        return b;
    }
    if (op == "*" && is_sequence(a) && is_integral(b)) {
        return repeated(a, b);
    }
    if (op == "*" && is_sequence(b) && is_integral(a)) {
        return repeated(b, a);
    }
    if (op == "%" && a->is == kind::text) {
        return of(percent_format(as<value_string_t>(a)->val_str, b));
    }
    throw_unsupported(op, a, b);
}

const std::vector<std::vector<const char *>> & operator_levels() {
    static const std::vector<std::vector<const char *>> levels = {{"+", "-"}, {"~"}, {"*", "/", "//", "%"}, {"**"}};
    return levels;
}

const std::vector<const char *> & comparisons() {
    static const std::vector<const char *> ops = {"==", "!=", "<", "<=", ">", ">=", "in"};
    return ops;
}

static bool compare(const std::string & op, const value & a, const value & b) {
    if (op == "==")     { return is_equal(a, b); }
    if (op == "!=")     { return !is_equal(a, b); }
    if (op == "<")      { return is_less(a, b); }
    if (op == ">")      { return is_less(b, a, ">"); }
    if (op == "<=")     { return is_less(a, b, "<=") || is_equal(a, b); }
    if (op == ">=")     { return is_less(b, a, ">=") || is_equal(a, b); }
    if (op == "in")     { return is_in(a, b); }
    return !is_in(a, b);
}

//
// expressions
//

value literal_expression::eval(frame &) const {
    switch (is) {
        case none:    return mk_val<value_none>();
        case boolean: return of(flag);
        case whole:   return of(number);
        case real:    return of(real_number);
        case text:    return of(content);
    }
    return nullptr;
}

value name_expression::eval(frame & in) const {
    if (const value * found = in.names->find(name)) {
        if (in.ctx.is_get_stats) {
            value_t::stats_t::mark_used(*found);
        }
        return *found;
    }
    const value function = global_of(name);
    return function ? function : mk_val<value_undefined>(name);
}

value list_expression::eval(frame & in) const {
    auto out = mk_val<value_array>(is_tuple);
    for (const auto & item : items) {
        out->push_back(item->run(in));
    }
    return out;
}

value object_expression::eval(frame & in) const {
    auto out = mk_val<value_object>();
    for (const auto & [key, val] : pairs) {
        const value name = key->run(in);
        out->insert(name, val->run(in));
    }
    return out;
}

value binary_expression::eval(frame & in) const {
    const value a = left->run(in);
    return binary(op, a, right->run(in));
}

value logical_expression::eval(frame & in) const {
    const value a = left->run(in);
    return is_true(a) == (op == "and") ? right->run(in) : a;
}

value unary_expression::eval(frame & in) const {
    const value val = operand->run(in);
    if (op == "not") {
        return of(!is_true(val));
    }
    if (!is_number(val)) {
        if (val->is == kind::undefined) {
            throw_undefined(val);
        }
        throw template_error("bad operand type for unary " + op + ": '" + val->type() + "'");
    }
    const bool is_minus = op == "-";
    if (val->is == kind::real) {
        return of(is_minus ? -double_of(val) : double_of(val));
    }
    return of(is_minus ? -integer_of(val) : integer_of(val));
}

value comparison::eval(frame & in) const {
    value left = first->run(in);
    for (const auto & [op, operand] : rest) {
        const value right = operand->run(in);
        if (!compare(op, left, right)) {
            return of(false);
        }
        left = right;
    }
    return of(true);
}

value condition_expression::eval(frame & in) const {
    if (is_true(condition->run(in))) {
        return yes->run(in);
    }
    return no ? no->run(in) : mk_val<value_undefined>("the inline if-expression evaluated to false and no else section was defined; it");
}

static void mark_access(frame & in, const value & object, const value & found, const char * op) {
    if (in.ctx.is_get_stats) {
        value_t::stats_t::mark_used(object);
        value_t::stats_t::mark_used(found);
        object->stats.ops.insert(op);
    }
}

value attribute_expression::eval(frame & in) const {
    const value holder = object->run(in);
    const value found  = attribute_of(holder, name);
    mark_access(in, holder, found, "object_access");
    return found;
}

value item_expression::eval(frame & in) const {
    const value holder = object->run(in);
    const value index  = key->run(in);
    const value found  = item_of(holder, index);
    mark_access(in, holder, found, is_integral(index) ? "array_access" : "object_access");
    return found;
}

value slice_expression::eval(frame & in) const {
    const value holder = object->run(in);
    const auto bound   = [&](const expression_ptr & part) { return part ? part->run(in) : nullptr; };
    const value from   = bound(start);
    const value to     = bound(stop);
    const value found  = slice_of(holder, from, to, bound(step));
    mark_access(in, holder, found, "array_access");
    return found;
}

void argument_list::eval(frame & in, call_args & args) const {
    for (const auto & each : pos) {
        args.pos.push_back(each->run(in));
    }
    for (const auto & [name, each] : named) {
        args.named.emplace_back(name, each->run(in));
    }
    if (more_pos) {
        for (const auto & item : items_of(more_pos->run(in))) {
            args.pos.push_back(item);
        }
    }
    if (more_named) {
        const value more    = more_named->run(in);
        const auto * object = as<value_object_t>(more);
        if (object == nullptr) {
            throw template_error("argument after ** must be a mapping, not " + more->type());
        }
        for (const auto & [key, val] : object->pairs) {
            const std::string name = text_of(key).str();
            // names lose the mark of input
            if (name.find_first_of("<>[]{}|") != std::string::npos) {
                throw template_error("the name of an argument after ** has brackets");
            }
            args.named.emplace_back(name, val);
        }
    }
}

value call_expression::call_with(frame & in, const value & caller) const {
    const value function = callee->run(in);
    call_args given(in.ctx);
    args.eval(in, given);
    if (caller) {
        given.named.emplace_back("caller", caller);
    }
    return call(function, given);
}

value filter_expression::apply_to(frame & in, const value & operand_value) const {
    call_args given(in.ctx);
    given.pos.push_back(operand_value);
    args.eval(in, given);
    return apply_filter(name, given);
}

value test_expression::eval(frame & in) const {
    call_args given(in.ctx);
    given.pos.push_back(operand->run(in));
    args.eval(in, given);
    return of(apply_test(name, given) != is_negated);
}

} // namespace jinja
