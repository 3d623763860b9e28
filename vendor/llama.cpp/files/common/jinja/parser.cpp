#include "jinja/parser.h"

#include "jinja/ast.h"
#include "jinja/expression_parser.h"

#include <algorithm>
#include <initializer_list>
#include <map>

namespace jinja {

namespace {

class template_parser : public expression_parser {
public:
    using expression_parser::expression_parser;

    statements parse() {
        statements body = parse_until({});
        if (!is_end()) {
            fail("unexpected '" + here().value + "'");
        }
        return body;
    }

    using tag_table = std::map<std::string, std::unique_ptr<statement> (template_parser::*)(size_t)>;
    static const tag_table & tags() {
        static const tag_table table = {
            {"break", &template_parser::parse_break},         {"call", &template_parser::parse_call_block},
            {"continue", &template_parser::parse_continue},   {"filter", &template_parser::parse_filter_block},
            {"for", &template_parser::parse_for},             {"generation", &template_parser::parse_generation},
            {"if", &template_parser::parse_if},               {"macro", &template_parser::parse_macro},
            {"print", &template_parser::parse_print_tag},     {"set", &template_parser::parse_set},
            {"with", &template_parser::parse_with},
        };
        return table;
    }

private:
    int loops = 0; // around this place

    bool is_tag(std::initializer_list<const char *> names) const {
        return here().t == token::begin_block && ahead().t == token::name &&
               std::any_of(names.begin(), names.end(), [&](const char * name) { return ahead().value == name; });
    }

    // statements until one of these tags, which is not read
    statements parse_until(std::initializer_list<const char *> ends) {
        work_depth depth;
        statements body;
        const size_t start = current > 0 ? current - 1 : 0;
        while (!is_end() && !is_tag(ends)) {
            body.push_back(parse_statement());
        }
        if (is_end() && ends.size() > 0) {
            fail_at("there is no {% " + std::string(*(ends.end() - 1)) + " %} for the statement", start);
        }
        return body;
    }

    // the name of the tag that ended parse_until()
    std::string read_tag_name() {
        next();
        return next().value;
    }

    void expect_end_block() { expect(token::end_block, "%}"); }

    void read_end_tag() {
        read_tag_name();
        expect_end_block();
    }

    std::unique_ptr<statement> parse_statement() {
        work_depth depth;
        const size_t start = current;
        std::unique_ptr<statement> out;
        if (here().t == token::text) {
            auto text     = std::make_unique<text_statement>();
            text->content = next().value;
            return finished(std::move(text), start, 0);
        }
        if (here().t == token::begin_print) {
            next();
            out = parse_print(start);
            expect(token::end_print, "}}");
            return out;
        }
        next();
        if (here().t != token::name) {
            fail("a tag without a name");
        }
        return parse_tag(next().value, start);
    }

    std::unique_ptr<statement> parse_print(size_t start) {
        auto print  = std::make_unique<print_statement>();
        print->what = parse_tuple();
        const int height = print->what->height;
        return finished(std::move(print), start, height);
    }

    std::unique_ptr<statement> parse_generation(size_t start) {
        auto scope = std::make_unique<scope_statement>();
        expect_end_block();
        scope->body = parse_until({"endgeneration"});
        read_end_tag();
        const int height = height_of(scope->body);
        return finished(std::move(scope), start, height);
    }

    std::unique_ptr<statement> parse_print_tag(size_t start) {
        auto print = parse_print(start);
        expect_end_block();
        return print;
    }

    std::unique_ptr<statement> parse_break(size_t start) { return parse_jump("break", start); }
    std::unique_ptr<statement> parse_continue(size_t start) { return parse_jump("continue", start); }

    std::unique_ptr<statement> parse_tag(const std::string & name, size_t start) {
        const auto found = tags().find(name);
        if (found != tags().end()) {
            return (this->*found->second)(start);
        }
        for (const char * known : {"autoescape", "block", "do", "extends", "from", "import", "include"}) {
            if (name == known) {
                fail_at("the statement '" + name + "' is not supported", start);
            }
        }
        fail_at("Encountered unknown tag '" + name + "'", start);
    }

    std::unique_ptr<statement> parse_if(size_t start) {
        work_depth depth;
        auto out       = std::make_unique<if_statement>();
        out->condition = parse_tuple(false);
        expect_end_block();
        out->yes = parse_until({"elif", "else", "endif"});
        const size_t tag       = current;
        const std::string name = read_tag_name();
        if (name == "elif") {
            out->no.push_back(parse_if(tag));
        } else {
            if (name == "else") {
                expect_end_block();
                out->no = parse_until({"endif"});
                read_tag_name();
            }
            expect_end_block();
        }
        const int height = std::max({out->condition->height, height_of(out->yes), height_of(out->no)});
        return finished(std::move(out), start, height);
    }

    std::unique_ptr<statement> parse_for(size_t start) {
        auto out    = std::make_unique<for_statement>();
        out->target = parse_target("in", false);
        if (!skip_name("in")) {
            fail("expected 'in'");
        }
        out->iterable = parse_tuple(false, "recursive");
        if (skip_name("if")) {
            out->filter = parse_expression();
        }
        out->is_recursive = skip_name("recursive");
        expect_end_block();
        ++loops;
        out->body = parse_until({"else", "endfor"});
        --loops;
        if (read_tag_name() == "else") {
            expect_end_block();
            out->otherwise = parse_until({"endfor"});
            read_tag_name();
        }
        expect_end_block();
        const int height = std::max({out->iterable->height, out->filter ? out->filter->height : 0, height_of(out->body), height_of(out->otherwise)});
        return finished(std::move(out), start, height);
    }

    std::unique_ptr<statement> parse_jump(const std::string & name, size_t start) {
        if (loops == 0) {
            fail_at("'" + name + "' outside of a loop", start);
        }
        auto out   = std::make_unique<jump_statement>();
        out->where = name == "break" ? flow::break_loop : flow::continue_loop;
        expect_end_block();
        return finished(std::move(out), start, 0);
    }

    // a, (b, c), namespace.d
    assign_target parse_target(const char * end, bool has_namespaces) {
        assign_target whole;
        bool is_tuple = false;
        std::vector<assign_target> parts;
        while (true) {
            if (here().t == token::op && here().value == ")") {
                break;
            }
            if (!parts.empty() && (here().t == token::end_block || (end != nullptr && is_name(end)) || is_op("="))) {
                break;
            }
            parts.push_back(parse_one_target(has_namespaces));
            if (!skip_op(",")) {
                break;
            }
            is_tuple = true;
        }
        if (!is_tuple && parts.size() == 1) {
            return std::move(parts[0]);
        }
        whole.parts = std::move(parts);
        return whole;
    }

    assign_target parse_one_target(bool has_namespaces) {
        work_depth depth;
        assign_target one;
        if (skip_op("(")) {
            one = parse_target(nullptr, false);
            expect_op(")");
            return one;
        }
        one.name = expect(token::name, "a name").value;
        if (is_constant(one.name)) {
            fail("can't assign to '" + one.name + "'");
        }
        if (has_namespaces && skip_op(".")) {
            one.attribute = expect(token::name, "a name").value;
        }
        return one;
    }

    // the value that a filter block or a set block has written
    expression_ptr block_value() { return make<name_expression>(current); }

    std::unique_ptr<statement> parse_set(size_t start) {
        auto out    = std::make_unique<set_statement>();
        out->target = parse_target(nullptr, true);
        int height  = 0;
        if (skip_op("=")) {
            out->what = parse_tuple();
            height    = out->what->height;
            expect_end_block();
        } else {
            if (is_op("|")) {
                out->filter = parse_filters(block_value());
                height      = out->filter->height;
            }
            expect_end_block();
            out->body = parse_until({"endset"});
            read_end_tag();
            height = std::max(height, height_of(out->body));
        }
        return finished(std::move(out), start, height);
    }

    void parse_parameters(macro_body & macro) {
        expect_op("(");
        while (!is_op(")")) {
            if (!macro.parameters.empty()) {
                expect_op(",");
            }
            parameter one;
            one.name = expect(token::name, "a name").value;
            if (skip_op("=")) {
                one.missing = parse_expression();
            } else if (!macro.parameters.empty() && macro.parameters.back().missing) {
                fail("non-default argument follows default argument");
            }
            macro.parameters.push_back(std::move(one));
        }
        expect_op(")");
    }

    void parse_body(macro_body & macro, const char * end) {
        expect_end_block();
        const int outer_loops = loops;
        const special_names outer = specials;
        loops    = 0;
        specials = {};
        macro.body = parse_until({end});
        macro.uses_varargs = specials.varargs;
        macro.uses_kwargs  = specials.kwargs;
        macro.uses_caller  = specials.caller;
        specials = outer;
        loops    = outer_loops;
        read_end_tag();
    }

    std::unique_ptr<statement> parse_macro(size_t start) {
        auto out        = std::make_unique<macro_statement>();
        out->macro.name = expect(token::name, "a name").value;
        parse_parameters(out->macro);
        parse_body(out->macro, "endmacro");
        const int height = height_of(out->macro.body);
        return finished(std::move(out), start, height);
    }

    std::unique_ptr<statement> parse_call_block(size_t start) {
        auto out         = std::make_unique<call_statement>();
        out->caller.name = "caller";
        if (is_op("(")) {
            parse_parameters(out->caller);
        }
        const size_t place  = current;
        expression_ptr call = parse_expression();
        if (dynamic_cast<call_expression *>(call.get()) == nullptr) {
            fail_at("expected call", place);
        }
        out->call.reset(static_cast<call_expression *>(call.release()));
        parse_body(out->caller, "endcall");
        const int height = std::max(out->call->height, height_of(out->caller.body));
        return finished(std::move(out), start, height);
    }

    std::unique_ptr<statement> parse_filter_block(size_t start) {
        auto out    = std::make_unique<filter_statement>();
        out->filter = parse_filters(block_value(), true);
        expect_end_block();
        out->body = parse_until({"endfilter"});
        read_end_tag();
        const int height = std::max(out->filter->height, height_of(out->body));
        return finished(std::move(out), start, height);
    }

    std::unique_ptr<statement> parse_with(size_t start) {
        auto out   = std::make_unique<scope_statement>();
        int height = 0;
        while (here().t != token::end_block) {
            if (!out->values.empty()) {
                expect_op(",");
            }
            assign_target target = parse_one_target(false);
            expect_op("=");
            out->values.emplace_back(std::move(target), parse_expression());
            height = std::max(height, out->values.back().second->height);
        }
        expect_end_block();
        out->body = parse_until({"endwith"});
        read_end_tag();
        height = std::max(height, height_of(out->body));
        return finished(std::move(out), start, height);
    }

    static int height_of(const statements & body) {
        int height = 0;
        for (const auto & each : body) {
            height = std::max(height, each->height);
        }
        return height;
    }
};

} // namespace

program parse_from_tokens(const lexer_result & tokens) {
    return {template_parser(tokens).parse()};
}

std::vector<std::string> statement_names() {
    std::vector<std::string> names;
    for (const auto & tag : template_parser::tags()) {
        names.push_back(tag.first);
    }
    return names;
}

} // namespace jinja
