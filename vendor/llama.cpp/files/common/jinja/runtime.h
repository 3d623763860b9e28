// Runs templates. A program is shared between threads and never changes.
#pragma once

#include "lexer.h"
#include "value.h"

#include <ctime>
#include <memory>
#include <optional> // for chat.h
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#define JJ_DEBUG(...) ((void) 0)

class common_json;

namespace jinja {

// variables; those of an outer scope are seen, and shadowed by a set
struct scope {
    std::shared_ptr<scope> outer;
    std::unordered_map<std::string, value> names;
    work_memory held;

    explicit scope(std::shared_ptr<scope> outer = nullptr) : outer(std::move(outer)) { work_on(WORK_VALUE_UNITS); held.take(WORK_VALUE_BYTES); }
    // null if there is none
    const value * find(const std::string & name) const;
    void set(const std::string & name, const value & val);
};

struct context {
    std::shared_ptr<const std::string> src; // the template
    std::time_t current_time;
    bool is_get_stats = false;              // marks values as used
    std::shared_ptr<scope> globals = std::make_shared<scope>();

    explicit context(std::string src = "") : src(std::make_shared<const std::string>(std::move(src))), current_time(std::time(nullptr)) {}
    context(const context &) = delete;
    context & operator=(const context &) = delete;

    value get_val(const std::string & name) const {
        const value * found = globals->find(name);
        return found == nullptr ? mk_val<value_undefined>(name) : *found;
    }
    void set_val(const std::string & name, const value & val) { globals->set(name, val); }
};

// sets each member of an object as a variable; mark_input: its texts come from the conversation
void global_from_json(context & ctx, const common_json & object, bool mark_input);

struct frame {
    context & ctx;
    std::shared_ptr<scope> names;
};

// what the template itself raises
struct raised_exception : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// an error with the place in the template
struct located_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct node {
    size_t pos    = 0; // byte in the source
    int    height = 0; // nesting depth of what is inside
    virtual ~node() = default;
    virtual const char * construct() const = 0;
};

struct expression : node {
    // evaluates with the place of an error
    value run(frame & in) const;

protected:
    virtual value eval(frame & in) const = 0;
};
using expression_ptr = std::unique_ptr<expression>;

enum class flow { next, break_loop, continue_loop };

struct statement : node {
    flow run(frame & in, text_out & out) const;

protected:
    virtual flow render(frame & in, text_out & out) const = 0;
};
using statements = std::vector<std::unique_ptr<statement>>;

flow render_all(const statements & body, frame & in, text_out & out);

struct program {
    statements body;
};

// + - * / // % ** ~ and comparisons, as in Python
value binary(const std::string & op, const value & a, const value & b);

struct runtime {
    context & ctx;
    explicit runtime(context & ctx) : ctx(ctx) {}

    value_string execute(const program & prog);
    // neighbours of the same origin are one part
    static value_string gather_string_parts(const value & rendered);
};

} // namespace jinja
