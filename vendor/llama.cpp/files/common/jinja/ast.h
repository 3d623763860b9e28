// The parts of a template. Each says how it is run; parser.cpp makes them.
#pragma once

#include "runtime.h"

#include <string>
#include <utility>
#include <vector>

namespace jinja {

//
// expressions
//

struct literal_expression : expression {
    enum type { none, boolean, whole, real, text };
    type        is   = none;
    bool        flag = false;
    integer     number;
    double      real_number = 0;
    std::string content;
    const char * construct() const override { return "a constant"; }

protected:
    value eval(frame & in) const override;
};

struct name_expression : expression {
    std::string name;
    const char * construct() const override { return "a name"; }

protected:
    value eval(frame & in) const override;
};

struct list_expression : expression {
    std::vector<expression_ptr> items;
    bool is_tuple = false;
    const char * construct() const override { return is_tuple ? "a tuple" : "a list"; }

protected:
    value eval(frame & in) const override;
};

struct object_expression : expression {
    std::vector<std::pair<expression_ptr, expression_ptr>> pairs;
    const char * construct() const override { return "a dict"; }

protected:
    value eval(frame & in) const override;
};

struct binary_expression : expression {
    std::string op;
    expression_ptr left;
    expression_ptr right;
    const char * construct() const override { return op.c_str(); }

protected:
    value eval(frame & in) const override;
};

// and, or
struct logical_expression : binary_expression {
protected:
    value eval(frame & in) const override;
};

// - + not
struct unary_expression : expression {
    std::string op;
    expression_ptr operand;
    const char * construct() const override { return op.c_str(); }

protected:
    value eval(frame & in) const override;
};

// a < b <= c
struct comparison : expression {
    expression_ptr first;
    std::vector<std::pair<std::string, expression_ptr>> rest;
    const char * construct() const override { return "a comparison"; }

protected:
    value eval(frame & in) const override;
};

// a if b else c; c may be missing
struct condition_expression : expression {
    expression_ptr condition;
    expression_ptr yes;
    expression_ptr no;
    const char * construct() const override { return "an inline if"; }

protected:
    value eval(frame & in) const override;
};

// a.b
struct attribute_expression : expression {
    expression_ptr object;
    std::string name;
    const char * construct() const override { return "an attribute"; }

protected:
    value eval(frame & in) const override;
};

// a[b]
struct item_expression : expression {
    expression_ptr object;
    expression_ptr key;
    const char * construct() const override { return "an item"; }

protected:
    value eval(frame & in) const override;
};

// a[b:c:d]
struct slice_expression : expression {
    expression_ptr object;
    expression_ptr start;
    expression_ptr stop;
    expression_ptr step;
    const char * construct() const override { return "a slice"; }

protected:
    value eval(frame & in) const override;
};

struct argument_list {
    std::vector<expression_ptr> pos;
    std::vector<std::pair<std::string, expression_ptr>> named;
    expression_ptr more_pos;   // *list
    expression_ptr more_named; // **object
    void eval(frame & in, call_args & args) const;
};

struct call_expression : expression {
    expression_ptr callee;
    argument_list  args;
    const char * construct() const override { return "a call"; }
    value call_with(frame & in, const value & caller) const;

protected:
    value eval(frame & in) const override { return call_with(in, nullptr); }
};

struct filter_expression : expression {
    expression_ptr operand; // null: what a filter block has written
    std::string    name;
    argument_list  args;
    std::string    title; // "the filter upper"
    const char * construct() const override { return title.c_str(); }
    value apply_to(frame & in, const value & operand_value) const;

protected:
    value eval(frame & in) const override { return apply_to(in, operand->run(in)); }
};

struct test_expression : expression {
    expression_ptr operand;
    std::string    name;
    argument_list  args;
    bool           is_negated = false;
    std::string    title;
    const char * construct() const override { return title.c_str(); }

protected:
    value eval(frame & in) const override;
};

//
// statements
//

struct text_statement : statement {
    std::string content;
    const char * construct() const override { return "text"; }

protected:
    flow render(frame & in, text_out & out) const override;
};

struct print_statement : statement {
    expression_ptr what;
    const char * construct() const override { return "{{ }}"; }

protected:
    flow render(frame & in, text_out & out) const override;
};

// the elif of an if stands in its `no`
struct if_statement : statement {
    expression_ptr condition;
    statements yes;
    statements no;
    const char * construct() const override { return "if"; }

protected:
    flow render(frame & in, text_out & out) const override;
};

struct assign_target {
    std::string name;      // of a variable
    std::string attribute; // of a namespace, if any
    std::vector<assign_target> parts; // of a tuple, if any
    void set(frame & in, const value & val) const;
};

struct for_statement : statement {
    assign_target  target;
    expression_ptr iterable;
    expression_ptr filter; // for … if …
    bool           is_recursive = false;
    statements     body;
    statements     otherwise;
    const char * construct() const override { return "for"; }

protected:
    flow render(frame & in, text_out & out) const override;

private:
    void loop_over(frame & in, const value & items, size_t depth0, text_out & out) const;
};

struct jump_statement : statement {
    flow where = flow::break_loop;
    const char * construct() const override { return where == flow::break_loop ? "break" : "continue"; }

protected:
    flow render(frame &, text_out &) const override { return where; }
};

struct set_statement : statement {
    assign_target  target;
    expression_ptr what; // null: what the body writes
    expression_ptr filter;
    statements     body;
    const char * construct() const override { return "set"; }

protected:
    flow render(frame & in, text_out & out) const override;
};

struct parameter {
    std::string    name;
    expression_ptr missing; // may be null
};

// of a macro, or the body of a call statement
struct macro_body {
    std::string name;
    std::vector<parameter> parameters;
    statements body;
    // which of its special names it reads
    bool uses_varargs = false;
    bool uses_kwargs  = false;
    bool uses_caller  = false;
    value bind(frame & in) const;

private:
    value invoke(const call_args & args, const std::weak_ptr<scope> & defined_in) const;
    void  bind_more(frame & inside, const call_args & args, const value_object_t & named) const;
};

struct macro_statement : statement {
    macro_body macro;
    const char * construct() const override { return "macro"; }

protected:
    flow render(frame & in, text_out & out) const override;
};

struct call_statement : statement {
    std::unique_ptr<call_expression> call;
    macro_body caller;
    const char * construct() const override { return "call"; }

protected:
    flow render(frame & in, text_out & out) const override;
};

struct filter_statement : statement {
    expression_ptr filter; // filter_expressions around one without an operand
    statements body;
    const char * construct() const override { return "filter"; }

protected:
    flow render(frame & in, text_out & out) const override;
};

// with, and generation of transformers
struct scope_statement : statement {
    std::vector<std::pair<assign_target, expression_ptr>> values;
    statements body;
    const char * construct() const override { return "with"; }

protected:
    flow render(frame & in, text_out & out) const override;
};

} // namespace jinja
