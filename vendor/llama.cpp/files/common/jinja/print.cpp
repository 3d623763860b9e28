// str(), repr() and json.dumps().
#include "jinja/builtins.h"
#include "jinja/text.h"
#include "jinja/runtime.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace jinja {

static std::string escape_of(const char * format, uint32_t point) {
    char buffer[16];
    std::snprintf(buffer, sizeof(buffer), format, static_cast<unsigned int>(point));
    return buffer;
}

static void put_repr_point(text_out & out, std::string_view text, const code_point & point, char quote, bool is_input) {
    const uint32_t value = point.value;
    if (value == '\\' || value == static_cast<uint32_t>(quote)) {
        out.put(std::string("\\") + static_cast<char>(value), is_input);
    } else if (value == '\n' || value == '\r' || value == '\t') {
        out.put(value == '\n' ? "\\n" : value == '\r' ? "\\r" : "\\t", is_input);
    } else if (!point.valid || is_printable(value)) {
        out.put(text, is_input);
    } else {
        out.put(escape_of(value < 0x100 ? "\\x%02x" : value < 0x10000 ? "\\u%04x" : "\\U%08x", value), is_input);
    }
}

static void put_repr_text(text_out & out, const string & text) {
    const std::string whole = text.str();
    const bool has_single   = whole.find('\'') != std::string::npos;
    const char quote        = has_single && whole.find('"') == std::string::npos ? '"' : '\'';
    out.put(std::string(1, quote));
    for (const auto & part : text.parts) {
        const std::string_view piece = part.val;
        for (size_t at = 0; at < piece.size();) {
            const code_point point = code_point_at(piece, at);
            put_repr_point(out, piece.substr(at, point.bytes), point, quote, part.is_input);
            at += point.bytes;
        }
    }
    out.put(std::string(1, quote));
}

static void put_repr_object(text_out & out, const value_object_t & object) {
    out.put(object.is_namespace ? "<Namespace {" : "{");
    bool is_first = true;
    for (const auto & [key, val] : object.pairs) {
        out.put(is_first ? "" : ", ");
        put_repr(out, key);
        out.put(": ");
        put_repr(out, val);
        is_first = false;
    }
    out.put(object.is_namespace ? "}>" : "}");
}

void put_repr(text_out & out, const value & val) {
    work_depth depth;
    if (const auto * text = as<value_string_t>(val)) {
        put_repr_text(out, text->val_str);
    } else if (const auto * list = as<value_array_t>(val)) {
        out.put(list->is_tuple ? "(" : "[");
        for (size_t i = 0; i < list->items.size(); ++i) {
            out.put(i > 0 ? ", " : "");
            put_repr(out, list->items[i]);
        }
        out.put(list->is_tuple ? (list->items.size() == 1 ? ",)" : ")") : "]");
    } else if (const auto * object = as<value_object_t>(val)) {
        put_repr_object(out, *object);
    } else {
        out.put(val->is == kind::undefined ? string("Undefined") : text_of(val));
    }
}

string text_of(const value & val) {
    work_on(WORK_ITEM_UNITS);
    switch (val->is) {
        case kind::undefined: return string();
        case kind::none:      return string("None");
        case kind::boolean:   return string(as<value_bool_t>(val)->flag ? "True" : "False");
        case kind::integer:   work_on(WORK_VALUE_UNITS); return string(as<value_int_t>(val)->number.str());
        case kind::real:      work_on(4 * WORK_VALUE_UNITS); return string(float_text(as<value_float_t>(val)->number));
        case kind::text:      work_on(as<value_string_t>(val)->val_str.length()); return as<value_string_t>(val)->val_str;
        case kind::loop: {
            const auto * loop = as<value_loop_t>(val);
            return string("<LoopContext " + std::to_string(loop->index0 + 1) + "/" + std::to_string(loop->items->size()) + ">");
        }
        case kind::function: return string("<function " + as<value_func_t>(val)->name + ">");
        default: break;
    }
    text_out out;
    put_repr(out, val);
    return out.text;
}

//
// JSON
//

static void put_json_text(text_out & out, const string & text, bool ensure_ascii) {
    out.put("\"");
    for (const auto & part : text.parts) {
        const std::string_view piece = part.val;
        size_t plain = 0; // what comes before needs no escape
        for (size_t at = 0; at < piece.size();) {
            const code_point point = code_point_at(piece, at);
            const uint32_t   value = point.value;
            const bool escapes = value == '"' || value == '\\' || value < 0x20 || (ensure_ascii && value >= 0x7F && !(value == 0x7F));
            if (escapes) {
                out.put(piece.substr(plain, at - plain), part.is_input);
                plain = at + point.bytes;
                const char * const known = value == '"' ? "\\\"" : value == '\\' ? "\\\\" : value == '\n' ? "\\n" : value == '\r' ? "\\r"
                                         : value == '\t' ? "\\t" : value == '\b' ? "\\b" : value == '\f' ? "\\f" : nullptr;
                if (known != nullptr) {
                    out.put(known, part.is_input);
                } else if (value < 0x10000) {
                    out.put(escape_of("\\u%04x", point.valid ? value : 0xFFFD), part.is_input);
                } else {
                    out.put(escape_of("\\u%04x", 0xD800 + ((value - 0x10000) >> 10)), part.is_input);
                    out.put(escape_of("\\u%04x", 0xDC00 + ((value - 0x10000) & 0x3FF)), part.is_input);
                }
            }
            at += point.bytes;
        }
        out.put(piece.substr(plain), part.is_input);
    }
    out.put("\"");
}

static std::string json_float(double number) {
    return std::isnan(number) ? "NaN" : std::isinf(number) ? (number < 0 ? "-Infinity" : "Infinity") : float_text(number);
}

static string json_key(const value & key) {
    switch (key->is) {
        case kind::text:    return as<value_string_t>(key)->val_str;
        case kind::none:    return string("null");
        case kind::boolean: return string(is_true(key) ? "true" : "false");
        case kind::integer: return text_of(key);
        case kind::real:    return string(json_float(double_of(key)));
        default: throw template_error("keys must be str, int, float, bool or None, not " + key->type());
    }
}

namespace {

class json_writer {
public:
    explicit json_writer(const json_style & style) : style(style) {}
    text_out out;

    void put(const value & val, size_t level) {
        work_depth depth;
        if (const auto * text = as<value_string_t>(val)) {
            put_json_text(out, text->val_str, style.ensure_ascii);
        } else if (const auto * list = as<value_array_t>(val)) {
            put_list(*list, level);
        } else if (const auto * object = as<value_object_t>(val); object != nullptr && !object->is_namespace) {
            put_object(*object, level);
        } else if (val->is == kind::none) {
            out.put("null");
        } else if (val->is == kind::boolean) {
            out.put(is_true(val) ? "true" : "false");
        } else if (val->is == kind::integer) {
            out.put(text_of(val));
        } else if (val->is == kind::real) {
            work_on(4 * WORK_VALUE_UNITS);
            out.put(json_float(double_of(val)));
        } else {
            throw template_error("Object of type " + val->type() + " is not JSON serializable");
        }
    }

private:
    const json_style & style;

    void new_line(size_t level) {
        if (style.has_indent) {
            out.put("\n");
            for (size_t i = 0; i < level; ++i) {
                out.put(style.indent);
            }
        }
    }

    void put_list(const value_array_t & list, size_t level) {
        out.put("[");
        for (size_t i = 0; i < list.items.size(); ++i) {
            out.put(i > 0 ? style.item_separator : string());
            new_line(level + 1);
            put(list.items[i], level + 1);
        }
        if (!list.items.empty()) {
            new_line(level);
        }
        out.put("]");
    }

    void put_object(const value_object_t & object, size_t level) {
        std::vector<std::pair<value, value>> pairs = object.pairs;
        if (style.sort_keys) {
            std::stable_sort(pairs.begin(), pairs.end(), [](const auto & a, const auto & b) { return is_less(a.first, b.first); });
        }
        out.put("{");
        for (size_t i = 0; i < pairs.size(); ++i) {
            out.put(i > 0 ? style.item_separator : string());
            new_line(level + 1);
            put_json_text(out, json_key(pairs[i].first), style.ensure_ascii);
            out.put(style.key_separator);
            put(pairs[i].second, level + 1);
        }
        if (!pairs.empty()) {
            new_line(level);
        }
        out.put("}");
    }
};

} // namespace

string json_text(const value & val, const json_style & style) {
    json_writer writer(style);
    writer.put(val, 0);
    return writer.out.text;
}

value tojson(const call_args & args) {
    const bound_args given(args, "tojson", {"x", "ensure_ascii", "indent", "separators", "sort_keys"});
    if (args.ctx.is_get_stats) {
        value_t::stats_t::mark_used(given.at(0), true);
    }
    json_style style;
    style.ensure_ascii = given.flag(1, false);
    style.sort_keys    = given.flag(4, false);
    style.has_indent   = given.at(2) && given.at(2)->is != kind::none;
    if (style.has_indent) {
        style.indent         = given.at(2)->is == kind::text ? given.text(2) : string(work_spaces(index_of(given.at(2))));
        style.item_separator = string(",");
    }
    if (given.at(3) && given.at(3)->is != kind::none) {
        const std::vector<value> separators = items_of(given.at(3));
        if (separators.size() != 2) {
            throw template_error("tojson() needs two separators");
        }
        style.item_separator = text_of(separators[0]);
        style.key_separator  = text_of(separators[1]);
    }
    return of(json_text(given.at(0), style));
}

} // namespace jinja
