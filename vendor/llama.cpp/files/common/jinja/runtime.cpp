#include "jinja/ast.h"
#include "jinja/builtins.h"

#include "json.h"

#include <algorithm>

namespace jinja {

//
// variables
//

const value * scope::find(const std::string & name) const {
    for (const scope * each = this; each != nullptr; each = each->outer.get()) {
        work_on(16 + name.size());
        const auto found = each->names.find(name);
        if (found != each->names.end()) {
            return &found->second;
        }
    }
    return nullptr;
}

void scope::set(const std::string & name, const value & val) {
    work_on(WORK_ITEM_UNITS + name.size());
    const auto [place, is_new] = names.emplace(name, val);
    if (is_new) {
        held.take(2 * WORK_ITEM_BYTES + name.size());
    } else {
        place->second = val;
    }
}

static value from_json(const common_json & json, bool mark_input) {
    work_depth depth;
    if (json.is_null()) {
        return mk_val<value_none>();
    }
    if (json.is_boolean()) {
        return of(json.get<bool>());
    }
    if (json.is_number_integer()) {
        return of(integer::from_digits(json.dump()));
    }
    if (json.is_number_float()) {
        return of(json.get<double>());
    }
    if (json.is_string()) {
        return mk_val<value_string>(json.get<std::string>(), mark_input);
    }
    if (json.is_array()) {
        auto list = mk_val<value_array>();
        for (const auto & item : json) {
            list->push_back(from_json(item, mark_input));
        }
        return list;
    }
    if (const std::string digits = json.long_integer(); !digits.empty()) {
        return of(integer::from_digits(digits));
    }
    auto object = mk_val<value_object>();
    for (auto it = json.begin(); it != json.end(); ++it) {
        object->insert(value(mk_val<value_string>(it.key(), mark_input)), from_json(it.value(), mark_input));
    }
    return object;
}

void global_from_json(context & ctx, const common_json & object, bool mark_input) {
    if (!object.is_object()) {
        throw template_error("the variables of a template must be an object");
    }
    for (auto it = object.begin(); it != object.end(); ++it) {
        ctx.set_val(it.key(), from_json(it.value(), mark_input));
    }
}

//
// errors
//

[[noreturn]] static void throw_located(const node & at, const frame & in, const std::exception & error) {
    throw located_error(std::string(error.what()) + " (" + at.construct() + " at " + line_and_column(*in.ctx.src, at.pos) + ")");
}

value expression::run(frame & in) const {
    work_depth depth;
    try {
        return eval(in);
    } catch (const located_error &) {
        throw;
    } catch (const std::exception & error) {
        throw_located(*this, in, error);
    }
}

flow statement::run(frame & in, text_out & out) const {
    work_depth depth;
    try {
        return render(in, out);
    } catch (const located_error &) {
        throw;
    } catch (const std::exception & error) {
        throw_located(*this, in, error);
    }
}

flow render_all(const statements & body, frame & in, text_out & out) {
    for (const auto & each : body) {
        const flow where = each->run(in, out);
        if (where != flow::next) {
            return where;
        }
    }
    return flow::next;
}

value_string runtime::execute(const program & prog) {
    frame in{ctx, std::make_shared<scope>(ctx.globals)};
    text_out out;
    render_all(prog.body, in, out);
    return mk_val<value_string>(out.text);
}

value_string runtime::gather_string_parts(const value & rendered) {
    return mk_val<value_string>(text_of(rendered));
}

//
// statements
//

flow text_statement::render(frame &, text_out & out) const {
    out.put(content);
    return flow::next;
}

flow print_statement::render(frame & in, text_out & out) const {
    const value val = what->run(in);
    if (in.ctx.is_get_stats) {
        value_t::stats_t::mark_used(val, true);
    }
    if (const auto * text = as<value_string_t>(val)) {
        out.put(text->val_str); // without a copy
    } else {
        out.put(text_of(val));
    }
    return flow::next;
}

flow if_statement::render(frame & in, text_out & out) const {
    return render_all(is_true(condition->run(in)) ? yes : no, in, out);
}

void assign_target::set(frame & in, const value & val) const {
    if (!parts.empty()) {
        const std::vector<value> items = items_of(val);
        if (items.size() != parts.size()) {
            throw template_error(items.size() < parts.size() ? "not enough values to unpack" : "too many values to unpack");
        }
        for (size_t i = 0; i < parts.size(); ++i) {
            parts[i].set(in, items[i]);
        }
    } else if (attribute.empty()) {
        in.names->set(name, val);
    } else {
        const value * found = in.names->find(name);
        const auto * object = found == nullptr ? nullptr : as<value_object_t>(*found);
        if (object == nullptr || !object->is_namespace) {
            throw template_error("cannot assign attribute on non-namespace object");
        }
        check_does_not_hold(*object, val);
        const_cast<value_object_t *>(object)->insert(attribute, val);
    }
}

void for_statement::loop_over(frame & in, const value & val, size_t depth0, text_out & out) const {
    if (in.ctx.is_get_stats) {
        value_t::stats_t::mark_used(val);
        val->stats.ops.insert("array_access");
        if (val->is == kind::object) {
            val->stats.ops.insert("object_access");
        }
    }
    auto kept = std::make_shared<std::vector<value>>(items_of(val));
    const work_memory memory(WORK_ITEM_BYTES * kept->size());
    if (filter) {
        std::vector<value> passed;
        for (const auto & item : *kept) {
            frame inside{in.ctx, std::make_shared<scope>(in.names)};
            target.set(inside, item);
            if (is_true(filter->run(inside))) {
                passed.push_back(item);
            }
        }
        *kept = std::move(passed);
    }
    const auto loop = mk_val<value_loop_t>(kept, depth0);
    if (is_recursive) {
        loop->again = [this, &ctx = in.ctx, outer = in.names](const value & items, size_t depth) -> value {
            frame inside{ctx, outer};
            text_out written;
            loop_over(inside, items, depth, written);
            return of(written.text);
        };
    }
    for (; loop->index0 < kept->size(); ++loop->index0) {
        frame inside{in.ctx, std::make_shared<scope>(in.names)};
        inside.names->set("loop", loop);
        target.set(inside, (*kept)[loop->index0]);
        if (render_all(body, inside, out) == flow::break_loop) {
            return;
        }
    }
    if (kept->empty()) {
        frame inside{in.ctx, std::make_shared<scope>(in.names)};
        render_all(otherwise, inside, out);
    }
}

flow for_statement::render(frame & in, text_out & out) const {
    loop_over(in, iterable->run(in), 0, out);
    return flow::next;
}

flow set_statement::render(frame & in, text_out &) const {
    if (what) {
        target.set(in, what->run(in));
        return flow::next;
    }
    frame inside{in.ctx, std::make_shared<scope>(in.names)};
    text_out written;
    render_all(body, inside, written);
    inside.names->set("", of(written.text));
    target.set(in, filter ? filter->run(inside) : of(written.text));
    return flow::next;
}

// varargs, kwargs and caller
void macro_body::bind_more(frame & inside, const call_args & args, const value_object_t & named) const {
    auto more_pos   = mk_val<value_array>(true);
    auto more_named = mk_val<value_object>();
    for (size_t i = parameters.size(); i < args.pos.size(); ++i) {
        more_pos->push_back(args.pos[i]);
    }
    value caller = mk_val<value_undefined>("No caller defined");
    for (const auto & [key, val] : named.pairs) {
        const std::string name_of = text_of(key).str();
        if (uses_caller && name_of == "caller") {
            caller = val;
        } else if (uses_kwargs) {
            more_named->insert(key, val);
        } else if (name_of == "caller") {
            throw template_error("macro '" + name + "' was invoked with two values for the special caller argument, or does not use it");
        } else {
            throw template_error("macro '" + name + "' takes no keyword argument '" + name_of + "'");
        }
    }
    if (!uses_varargs && !more_pos->items.empty()) {
        throw template_error("macro '" + name + "' takes not more than " + std::to_string(parameters.size()) + " argument(s)");
    }
    if (uses_varargs) { inside.names->set("varargs", more_pos); }
    if (uses_kwargs)  { inside.names->set("kwargs", more_named); }
    if (uses_caller)  { inside.names->set("caller", caller); }
}

value macro_body::invoke(const call_args & args, const std::weak_ptr<scope> & defined_in) const {
    const std::shared_ptr<scope> outer = defined_in.lock();
    if (!outer) {
        throw template_error("the macro '" + name + "' is called after the loop that defined it");
    }
    frame inside{args.ctx, std::make_shared<scope>(outer)};
    value_object_t more_named;
    std::vector<value> given(parameters.size());
    for (size_t i = 0; i < args.pos.size() && i < given.size(); ++i) {
        given[i] = args.pos[i];
    }
    for (const auto & [key, val] : args.named) {
        work_on(4 * parameters.size() + key.size());
        const auto place = std::find_if(parameters.begin(), parameters.end(), [&key = key](const parameter & each) { return each.name == key; });
        if (place == parameters.end()) {
            more_named.insert(key, val);
            continue;
        }
        value & slot = given[static_cast<size_t>(place - parameters.begin())];
        if (slot) {
            throw template_error("macro '" + name + "' got multiple values for argument '" + key + "'");
        }
        slot = val;
    }
    bind_more(inside, args, more_named);
    for (size_t i = 0; i < parameters.size(); ++i) {
        if (!given[i]) {
            given[i] = parameters[i].missing ? parameters[i].missing->run(inside)
                                             : mk_val<value_undefined>("parameter '" + parameters[i].name + "' was not provided; it");
        }
        inside.names->set(parameters[i].name, given[i]);
    }
    text_out written;
    render_all(body, inside, written);
    return of(written.text);
}

value macro_body::bind(frame & in) const {
    return mk_val<value_func>(name, [this, defined_in = std::weak_ptr<scope>(in.names)](const call_args & args) { return invoke(args, defined_in); });
}

flow macro_statement::render(frame & in, text_out &) const {
    in.names->set(macro.name, macro.bind(in));
    return flow::next;
}

flow call_statement::render(frame & in, text_out & out) const {
    out.put(text_of(call->call_with(in, caller.bind(in))));
    return flow::next;
}

flow filter_statement::render(frame & in, text_out & out) const {
    frame inside{in.ctx, std::make_shared<scope>(in.names)};
    text_out written;
    render_all(body, inside, written);
    inside.names->set("", of(written.text));
    out.put(text_of(filter->run(inside)));
    return flow::next;
}

flow scope_statement::render(frame & in, text_out & out) const {
    frame inside{in.ctx, std::make_shared<scope>(in.names)};
    for (const auto & [target, what] : values) {
        target.set(inside, what->run(in));
    }
    return render_all(body, inside, out);
}

} // namespace jinja
