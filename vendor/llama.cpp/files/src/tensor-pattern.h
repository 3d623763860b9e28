// Patterns for names of tensors, in the syntax of regular expressions that people know from llama.cpp's --override-tensor. They come
// from requests: std::regex, which llama.cpp uses, backtracks, so that a short pattern can take years or overflow the stack. Here, a
// pattern is a program of bounded size whose states are followed all at once: the time is at most size times length.
//
// Supported: literals, . [a-z] [^a-z] \d \w \s and their capitals, \., groups, |, * + ? {n} {n,} {n,m}, ^ and $. A pattern matches
// anywhere in a name.
#pragma once

#include <bitset>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ingle {

class tensor_pattern {
public:
    /// Nothing if the text is not a valid pattern; `reason` then says why.
    static std::optional<tensor_pattern> parse(std::string_view text, std::string & reason) {
        parser parsing{text};
        code program = parsing.alternatives(0);
        if (parsing.reason.empty() && parsing.at < text.size()) parsing.reason = "a ) has no (";
        reason = parsing.reason;
        if (!reason.empty()) return std::nullopt;
        program.push_back({op::match});
        return tensor_pattern(std::move(program));
    }

    /// Whether any part of the name matches.
    bool is_in(std::string_view name) const {
        std::vector<size_t> now;
        std::vector<size_t> next;
        for (size_t at = 0;; ++at) {
            std::vector<bool> seen(program_.size(), false);
            std::vector<size_t> live;
            for (const size_t state : now) follow(state, at, name.size(), seen, live);
            follow(0, at, name.size(), seen, live);
            next.clear();
            for (const size_t state : live) {
                const instruction & step = program_[state];
                if (step.kind == op::match) return true;
                if (at < name.size() && step.set[static_cast<unsigned char>(name[at])]) next.push_back(state + 1);
            }
            if (at >= name.size()) return false;
            now.swap(next);
        }
    }

    /// The same for a pattern that was parsed before; one that cannot be parsed matches nothing.
    static bool matches(const char * pattern, std::string_view name) {
        std::string reason;
        const auto parsed = parse(pattern, reason);
        return parsed && parsed->is_in(name);
    }

private:
    using char_set = std::bitset<256>;
    enum class op { one_of, jump, split, begin, end, match };
    struct instruction {
        op kind;
        char_set set = {};
        /// Relative to this instruction, so that code can be copied.
        ptrdiff_t to = 0;
    };
    using code = std::vector<instruction>;

    static constexpr size_t size_max = 1024;
    static constexpr int depth_max = 16;
    static constexpr size_t repeat_max = 256;

    explicit tensor_pattern(code program) : program_(std::move(program)) {}

    /// Adds the states that are reached from a state without reading a character: those that read one, and the match.
    void follow(size_t first, size_t at, size_t length, std::vector<bool> & seen, std::vector<size_t> & live) const {
        std::vector<size_t> open{first};
        while (!open.empty()) {
            const size_t state = open.back();
            open.pop_back();
            if (seen[state]) continue;
            seen[state] = true;
            const instruction & step = program_[state];
            const size_t other = static_cast<size_t>(static_cast<ptrdiff_t>(state) + step.to);
            switch (step.kind) {
                case op::one_of:
                case op::match: live.push_back(state); break;
                case op::jump: open.push_back(other); break;
                case op::split:
                    open.push_back(other);
                    open.push_back(state + 1);
                    break;
                case op::begin:
                    if (at == 0) open.push_back(state + 1);
                    break;
                case op::end:
                    if (at == length) open.push_back(state + 1);
                    break;
            }
        }
    }

    struct parser {
        std::string_view text;
        size_t at = 0;
        std::string reason = {};

        bool is_done() const { return !reason.empty() || at >= text.size(); }
        char peek() const { return text[at]; }

        code alternatives(int depth) {
            code all = sequence(depth);
            while (!is_done() && peek() == '|') {
                at += 1;
                const code other = sequence(depth);
                // split to the other; all; jump over the other; other
                all.insert(all.begin(), {op::split, {}, static_cast<ptrdiff_t>(all.size()) + 2});
                all.push_back({op::jump, {}, static_cast<ptrdiff_t>(other.size()) + 1});
                append(all, other);
            }
            return all;
        }

        code sequence(int depth) {
            code all;
            while (!is_done() && peek() != '|' && peek() != ')') append(all, repeated(atom(depth)));
            return all;
        }

        code repeated(code once) {
            while (!is_done()) {
                size_t least = 0;
                size_t most = 0;
                bool is_endless = false;
                switch (peek()) {
                    case '*': is_endless = true; break;
                    case '+': least = 1; is_endless = true; break;
                    case '?': most = 1; break;
                    case '{':
                        if (!bounds(least, most, is_endless)) return once;
                        break;
                    default: return once;
                }
                at += 1;
                code all;
                for (size_t i = 0; i < least && reason.empty(); ++i) append(all, once);
                if (is_endless) {
                    const ptrdiff_t size = static_cast<ptrdiff_t>(once.size());
                    all.push_back({op::split, {}, size + 2});
                    append(all, once);
                    all.push_back({op::jump, {}, -(size + 1)});
                } else {
                    for (size_t i = least; i < most && reason.empty(); ++i) {
                        all.push_back({op::split, {}, static_cast<ptrdiff_t>(once.size()) + 1});
                        append(all, once);
                    }
                }
                once = std::move(all);
                if (!is_done() && peek() == '?') at += 1; // lazy: the same names match
            }
            return once;
        }

        /// Reads {n}, {n,} or {n,m}, up to the closing brace.
        bool bounds(size_t & least, size_t & most, bool & is_endless) {
            at += 1;
            const bool has_least = number(least);
            most = least;
            if (!is_done() && peek() == ',') {
                at += 1;
                is_endless = !number(most);
            }
            if (!has_least || is_done() || peek() != '}' || (!is_endless && most < least)) return fail("a { } is no {n}, {n,} or {n,m}");
            if (least > repeat_max || most > repeat_max) return fail("a { } repeats too often");
            return true;
        }

        bool number(size_t & value) {
            const size_t first = at;
            value = 0;
            while (at < text.size() && peek() >= '0' && peek() <= '9' && value <= repeat_max) {
                value = value * 10 + static_cast<size_t>(peek() - '0');
                at += 1;
            }
            return at > first;
        }

        code atom(int depth) {
            const char first = peek();
            at += 1;
            switch (first) {
                case '(': return group(depth);
                case '[': return {{op::one_of, char_class()}};
                case '.': return {{op::one_of, ~char_set()}};
                case '^': return {{op::begin}};
                case '$': return {{op::end}};
                case '\\': return {{op::one_of, escaped()}};
                case '*':
                case '+':
                case '?':
                case '{': fail(std::string("nothing stands before a ") + first); return {};
                default: return {{op::one_of, only(first)}};
            }
        }

        code group(int depth) {
            if (depth >= depth_max) {
                fail("its groups are nested too deeply");
                return {};
            }
            if (text.substr(at, 2) == "?:") at += 2;
            else if (at < text.size() && peek() == '?') {
                fail("a group begins with (?, and only (?: is supported");
                return {};
            }
            code inner = alternatives(depth + 1);
            if (reason.empty() && (at >= text.size() || peek() != ')')) fail("a ( has no )");
            at += 1;
            return inner;
        }

        char_set char_class() {
            char_set set;
            const bool is_negated = at < text.size() && peek() == '^';
            if (is_negated) at += 1;
            while (at < text.size() && peek() != ']') {
                const char first = peek();
                at += 1;
                if (first == '\\') {
                    set |= escaped();
                    continue;
                }
                if (at + 1 < text.size() && peek() == '-' && text[at + 1] != ']') {
                    const char last = text[at + 1];
                    at += 2;
                    if (last == '\\' || static_cast<unsigned char>(last) < static_cast<unsigned char>(first)) {
                        fail("a range of characters ends before it begins");
                        return set;
                    }
                    for (int each = static_cast<unsigned char>(first); each <= static_cast<unsigned char>(last); ++each)
                        set.set(static_cast<size_t>(each));
                } else {
                    set |= only(first);
                }
            }
            if (at >= text.size()) fail("a [ has no ]");
            at += 1;
            return is_negated ? ~set : set;
        }

        char_set escaped() {
            if (at >= text.size()) {
                fail("it ends with a backslash");
                return {};
            }
            const char name = peek();
            at += 1;
            char_set set;
            switch (name) {
                case 'd':
                case 'D': add(set, '0', '9'); break;
                case 'w':
                case 'W':
                    add(set, '0', '9');
                    add(set, 'a', 'z');
                    add(set, 'A', 'Z');
                    set |= only('_');
                    break;
                case 's':
                case 'S':
                    add(set, '\t', '\r');
                    set |= only(' ');
                    break;
                default:
                    if ((name >= 'a' && name <= 'z') || (name >= 'A' && name <= 'Z') || (name >= '0' && name <= '9'))
                        fail(std::string("\\") + name + " is not supported");
                    return only(name);
            }
            return name < 'a' ? ~set : set;
        }

        static void add(char_set & set, char first, char last) {
            for (char each = first; each <= last; ++each) set |= only(each);
        }

        static char_set only(char one) { return char_set().set(static_cast<unsigned char>(one)); }

        void append(code & all, const code & more) {
            if (all.size() + more.size() > size_max) {
                fail("it is too large");
                return;
            }
            all.insert(all.end(), more.begin(), more.end());
        }

        bool fail(std::string why) {
            if (reason.empty()) reason = std::move(why);
            return false;
        }
    };

    code program_;
};

} // namespace ingle
