// "{:>5}".format(value).
#include "jinja/builtins.h"
#include "jinja/format.h"
#include "jinja/text.h"

#include <algorithm>

namespace jinja {

namespace {

field_spec read_spec(const std::string & text, bool is_input) {
    field_spec spec;
    size_t at = 0;
    if (!text.empty()) {
        const size_t bytes = code_point_at(text, 0).bytes;
        const auto is_align = [&](size_t i) { return i < text.size() && std::string("<>=^").find(text[i]) != std::string::npos; };
        if (is_align(bytes)) {
            spec.fill  = string(text.substr(0, bytes), is_input);
            spec.align = text[bytes];
            at         = bytes + 1;
        } else if (is_align(0)) {
            spec.align = text[at++];
        }
    }
    const auto take = [&](const char * chars) {
        return at < text.size() && std::string(chars).find(text[at]) != std::string::npos ? text[at++] : '\0';
    };
    if (const char sign = take("+- ")) {
        spec.sign = sign;
    }
    spec.is_alternate = take("#") != 0;
    if (at < text.size() && text[at] == '0' && spec.align == 0) {
        spec.fill  = string("0");
        spec.align = '=';
    }
    spec.width    = read_format_number(text, at);
    spec.grouping = take(",_");
    if (take(".") != 0) {
        spec.precision = read_format_number(text, at);
    }
    spec.kind = take("bcdeEfFgGnosxX%");
    if (at != text.size()) {
        throw template_error("Invalid format specifier '" + text + "'");
    }
    return spec;
}

// the specification may come from a conversation
void put_formatted(text_out & out, const value & val, const std::string & text, bool is_input) {
    if (text.empty()) {
        out.put(text_of(val));
        return;
    }
    field_spec spec = read_spec(text, is_input);
    const bool is_float_kind = std::string("eEfFgGn%").find(spec.kind) != std::string::npos && spec.kind != 0;
    if (val->is == kind::real || (is_integral(val) && is_float_kind)) {
        if (val->is == kind::real && spec.kind != 0 && !is_float_kind) {
            throw template_error(std::string("Unknown format code '") + spec.kind + "' for object of type 'float'");
        }
        put_float(out, double_of(val), spec);
    } else if (val->is == kind::integer || (val->is == kind::boolean && spec.kind != 0 && spec.kind != 's')) {
        if (spec.kind == 's') {
            throw template_error("Unknown format code 's' for object of type 'int'");
        }
        put_integer(out, integer_of(val), spec);
    } else if (val->is == kind::text || val->is == kind::boolean) {
        if ((spec.kind != 0 && spec.kind != 's') || spec.align == '=') {
            throw template_error("Unknown format code for object of type '" + val->type() + "'");
        }
        put_aligned(out, cut_to(text_of(val), spec.precision), spec, spec.align == 0 ? '<' : spec.align, 0);
    } else {
        throw template_error("unsupported format string passed to " + val->type() + ".__format__");
    }
}

class brace_writer {
public:
    brace_writer(const string & format, const call_args & args) : format(format), source(format.str()), args(args) {}

    string write() {
        size_t plain = 0;
        for (size_t at = find(0); at != std::string::npos; at = find(plain)) {
            out.put(format.substr(plain, at));
            if (at + 1 < source.size() && source[at + 1] == source[at]) {
                out.put(format.substr(at, at + 1));
                plain = at + 2;
                continue;
            }
            const size_t end = end_of_field(at);
            put_field(source.substr(at + 1, end - at - 1));
            plain = end + 1;
        }
        out.put(format.substr(plain));
        return out.text;
    }

private:
    const string & format;
    const std::string source;
    const call_args & args;
    size_t next = 0;
    text_out out;

    size_t find(size_t from) const {
        work_on(8);
        return source.find_first_of("{}", from);
    }

    size_t end_of_field(size_t begin) const {
        int depth = 0;
        for (size_t at = begin; at < source.size() && source[begin] == '{'; ++at) {
            work_on(4);
            depth += source[at] == '{' ? 1 : source[at] == '}' ? -1 : 0;
            if (depth == 0) {
                return at;
            }
        }
        throw template_error(source[begin] == '{' ? "expected '}' before end of string" : "Single '}' encountered in format string");
    }

    value base_of(const std::string & name) {
        if (name.empty() || name.find_first_not_of("0123456789") == std::string::npos) {
            size_t at = 0;
            const size_t index = name.empty() ? next++ : static_cast<size_t>(read_format_number(name, at));
            if (index >= args.pos.size()) {
                throw template_error("Replacement index " + std::to_string(index) + " out of range for positional args tuple");
            }
            return args.pos[index];
        }
        work_on(4 * args.named.size() + name.size());
        for (const auto & [key, val] : args.named) {
            if (key == name) {
                return val;
            }
        }
        throw template_error("the format has no argument '" + name + "'");
    }

    // the argument, then .name and [key]
    value value_of(const std::string & name) {
        size_t at = std::min(name.find_first_of(".["), name.size());
        value val = base_of(name.substr(0, at));
        while (at < name.size()) {
            const bool is_item = name[at] == '[';
            const size_t end   = is_item ? name.find(']', at) : std::min(name.find_first_of(".[", at + 1), name.size());
            if (end == std::string::npos) {
                throw template_error("Missing ']' in format string");
            }
            const std::string key = name.substr(at + 1, end - at - 1);
            const bool is_index   = !key.empty() && key.find_first_not_of("0123456789") == std::string::npos;
            val = is_item ? item_of(val, is_index ? of(integer::from_digits(key)) : of(key)) : attribute_of(val, key);
            at  = end + (is_item ? 1 : 0);
        }
        return val;
    }

    void put_field(const std::string & field) {
        const size_t colon = std::min(field.find(':'), field.size());
        const size_t mark  = std::min(field.find('!'), colon);
        value val = value_of(field.substr(0, mark));
        if (mark < colon) {
            const std::string how = field.substr(mark + 1, colon - mark - 1);
            if (how != "s" && how != "r" && how != "a") {
                throw template_error("Unknown conversion specifier '" + how + "'");
            }
            val = of(how == "s" ? text_of(val) : repr_of(val, how == "a"));
        }
        std::string spec = colon < field.size() ? field.substr(colon + 1) : "";
        bool is_input = format.any_part_is_input();
        if (spec.find('{') != std::string::npos) {
            const size_t begin = spec.find('{');
            const size_t end   = spec.find('}', begin);
            const string inner = text_of(value_of(spec.substr(begin + 1, end - begin - 1)));
            is_input = is_input || inner.any_part_is_input();
            spec     = spec.substr(0, begin) + inner.str() + spec.substr(std::min(end, spec.size() - 1) + 1);
        }
        put_formatted(out, val, spec, is_input);
    }
};

} // namespace

string brace_format(const string & format, const call_args & args) {
    return brace_writer(format, args).write();
}

} // namespace jinja
