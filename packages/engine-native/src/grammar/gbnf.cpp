#include "grammar/gbnf.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace grammar {

namespace {

/// Deepest nesting of groups: the reader recurses.
constexpr int kNestingMax = 1000;

/// Longest grammar, in bytes: far more than the largest lists of tools need, and still read in milliseconds.
constexpr size_t kGrammarBytesMax = size_t{2} * 1024 * 1024;

/// Largest count of a repetition, and largest token id.
constexpr uint32_t kRepetitionMax = 1'000'000'000;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || is_digit(c);
}

int hex_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// All characters except these.
std::vector<CharRange> all_but(std::vector<CharRange> ranges) {
    std::ranges::sort(ranges, {}, &CharRange::first);
    std::vector<CharRange> rest;
    uint32_t next = 0;
    for (const CharRange& range : ranges) {
        if (range.first > next) rest.push_back({.first = next, .last = range.first - 1});
        next = std::max(next, range.last + 1);
    }
    if (next <= kCharMax) rest.push_back({.first = next, .last = kCharMax});
    return rest;
}

/// The lexical elements of GBNF, read from the front. After the first error it stops and keeps that error.
class Lexer {
public:
    explicit Lexer(std::string_view text) : text_(text) {}

protected:
    struct TokenName {
        /// -1 if the token is given by its text.
        base::Token id;
        std::string_view text;
    };

    bool failed() const { return !error_.empty(); }
    /// The error, with the line; empty if there is none.
    const std::string& error() const { return error_; }
    bool at_end() const { return at_ >= text_.size(); }
    /// The next character, or one `ahead` of it; 0 at the end.
    char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

    void fail(std::string what) {
        if (failed()) return;
        const auto line =
            std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n') + 1;
        error_ = std::move(what) + " (line " + std::to_string(line) + ").";
    }

    /// Skips this character if it is next; false if it is not.
    bool take(char character) {
        if (failed() || at_end() || text_[at_] != character) return false;
        at_ += 1;
        return true;
    }

    void expect(std::string_view word) {
        if (failed()) return;
        if (text_.substr(at_, word.size()) != word) return fail(std::string(word) + " is missing");
        at_ += word.size();
    }

    /// Skips blanks and comments, and with `over_lines` also line ends.
    void skip_space(bool over_lines) {
        while (!failed() && !at_end()) {
            const char c = peek();
            if (c == '#') {
                while (!at_end() && peek() != '\n' && peek() != '\r') at_ += 1;
            } else if (c == ' ' || c == '\t' || (over_lines && (c == '\n' || c == '\r'))) {
                at_ += 1;
            } else {
                return;
            }
        }
    }

    void end_of_rule() {
        if (failed() || at_end() || take('\n')) return;
        if (!take('\r')) return fail("a rule must end at the end of a line");
        take('\n');
    }

    bool at_name() const { return !failed() && is_name_character(peek()); }

    std::string_view read_name() {
        const size_t begin = at_;
        while (at_name()) at_ += 1;
        if (at_ == begin) fail("a rule's name is missing");
        return text_.substr(begin, at_ - begin);
    }

    uint32_t read_hexadecimal(int digits) {
        uint32_t value = 0;
        for (int i = 0; i < digits; ++i) {
            const int digit = hex_value(peek());
            if (digit < 0) {
                fail("an escape needs " + std::to_string(digits) + " hexadecimal digits");
                return 0;
            }
            value = value * 16 + static_cast<uint32_t>(digit);
            at_ += 1;
        }
        if (value > kCharMax) fail("an escape is beyond U+10FFFF");
        return std::min(value, kCharMax);
    }

    /// Reads one character of a literal or class, resolving escapes.
    uint32_t read_character() {
        if (at_end()) fail("it ends inside a literal or a character class");
        if (failed()) return 0;
        if (take('\\')) {
            const char escape = peek();
            at_ += at_end() ? 0 : 1;
            switch (escape) {
                case 'x': return read_hexadecimal(2);
                case 'u': return read_hexadecimal(4);
                case 'U': return read_hexadecimal(8);
                case 't': return '\t';
                case 'r': return '\r';
                case 'n': return '\n';
                case '\\':
                case '"':
                case '[':
                case ']':
                case '-': return static_cast<unsigned char>(escape);
                default: fail("an escape is unknown"); return 0;
            }
        }
        // The text comes from a JavaScript string, so its UTF-8 is valid.
        const auto lead = static_cast<unsigned char>(peek());
        size_t length = 1;
        if (lead >= 0xF0) length = 4;
        else if (lead >= 0xE0) length = 3;
        else if (lead >= 0xC0) length = 2;
        uint32_t value = length == 1 ? lead : lead & (0x7FU >> length);
        for (size_t i = 1; i < length; ++i)
            value = value << 6 | (static_cast<unsigned char>(peek(i)) & 0x3FU);
        at_ = std::min(at_ + length, text_.size());
        return std::min(value, kCharMax);
    }

    /// Reads a character class up to its ]; the [ has been taken.
    std::vector<CharRange> read_char_class() {
        const bool is_negated = take('^');
        std::vector<CharRange> ranges;
        while (!failed() && !take(']')) {
            const uint32_t first = read_character();
            uint32_t last = first;
            if (peek() == '-' && peek(1) != ']' && take('-')) last = read_character();
            if (last < first) fail("a character range is reversed");
            ranges.push_back({.first = first, .last = last});
        }
        return is_negated ? all_but(std::move(ranges)) : ranges;
    }

    /// Reads <text> or <[id]>.
    TokenName read_token_name() {
        const size_t begin = at_;
        expect("<");
        if (take('[')) {
            const uint32_t id = read_number();
            expect("]>");
            return {.id = static_cast<base::Token>(id), .text = {}};
        }
        const size_t end = text_.find('>', at_);
        if (end == std::string_view::npos) {
            fail("a token's \">\" is missing");
            return {.id = -1, .text = {}};
        }
        at_ = end + 1;
        return {.id = -1, .text = text_.substr(begin, at_ - begin)};
    }

    bool is_repetition() const {
        const char c = peek();
        return c == '*' || c == '+' || c == '?' || c == '{';
    }

    uint32_t read_number() {
        uint64_t value = 0;
        if (!is_digit(peek())) fail("a number is missing");
        for (; is_digit(peek()); ++at_)
            value = std::min<uint64_t>(value * 10 + static_cast<uint64_t>(peek() - '0'), kNoMax);
        if (value > kRepetitionMax) fail("a number is too large");
        return static_cast<uint32_t>(value);
    }

    /// Reads *, +, ? or {}; returns the minimum and maximum, kNoMax for no limit.
    std::pair<uint32_t, uint32_t> read_counts() {
        if (take('*')) return {0, kNoMax};
        if (take('+')) return {1, kNoMax};
        if (take('?')) return {0, 1};
        expect("{");
        skip_space(true);
        const uint32_t min = read_number();
        uint32_t max = min;
        skip_space(true);
        if (take(',')) {
            skip_space(true);
            max = is_digit(peek()) ? read_number() : kNoMax;
            skip_space(true);
        }
        expect("}");
        if (max < min) fail("a repetition's maximum is less than its minimum");
        return {min, max};
    }

private:
    std::string_view text_;
    size_t at_ = 0;
    std::string error_;
};

/// Reads a grammar by recursive descent. After the first error, every function returns at once.
class Reader : Lexer {
public:
    Reader(std::string_view text, const TokenFinder& find_token) : Lexer(text), find_token_(find_token) {}

    base::Result<Rules> read() {
        skip_space(true);
        while (!failed() && !at_end()) read_rule();
        if (!failed()) finish();
        if (failed()) return base::fail(base::Code::invalid_argument, "The grammar is wrong: " + error());
        return std::move(rules_);
    }

private:
    using Sequence = std::vector<Element>;

    void read_rule() {
        const std::string name(read_name());
        skip_space(false);
        expect("::=");
        skip_space(true);
        if (failed()) return;
        const uint32_t rule = rule_of(name);
        if (is_defined_[rule]) return fail("the rule \"" + name + "\" is defined twice");
        is_defined_[rule] = true;
        read_alternatives(rule, 0);
        end_of_rule();
        skip_space(true);
    }

    void read_alternatives(uint32_t rule, int depth) {
        if (depth > kNestingMax) return fail("its groups are nested too deeply");
        for (;;) {
            Sequence sequence;
            read_sequence(sequence, depth);
            if (failed()) return;
            add_alternative(rule, sequence);
            if (!take('|')) return;
            skip_space(true);
        }
    }

    void read_sequence(Sequence& sequence, int depth) {
        // Where the item begins that a following *, +, ? or {} repeats; absent at the start of the sequence.
        std::optional<size_t> last;
        while (!failed() && !at_end()) {
            const size_t before = sequence.size();
            if (is_repetition()) {
                if (!last) return fail("there is nothing to repeat");
                read_repetition(sequence, *last);
            } else if (read_item(sequence, depth)) {
                last = before;
            } else {
                return;
            }
            skip_space(depth > 0);
        }
    }

    /// False if no item begins here.
    bool read_item(Sequence& sequence, int depth) {
        if (take('"')) read_literal(sequence);
        else if (take('[')) sequence.push_back(chars(read_char_class()));
        else if (take('.')) sequence.push_back(chars({{.first = 0, .last = kCharMax}}));
        else if (take('(')) read_group(sequence, depth);
        else if (take('!')) read_token(sequence, Element::Kind::other_token);
        else if (peek() == '<') read_token(sequence, Element::Kind::token);
        else if (at_name()) sequence.push_back({.kind = Element::Kind::rule, .index = rule_of(read_name())});
        else return false;
        return true;
    }

    void read_literal(Sequence& sequence) {
        while (!failed() && !take('"')) {
            const uint32_t character = read_character();
            sequence.push_back(chars({{.first = character, .last = character}}));
        }
    }

    void read_group(Sequence& sequence, int depth) {
        skip_space(true);
        const uint32_t rule = new_rule();
        read_alternatives(rule, depth + 1);
        expect(")");
        sequence.push_back({.kind = Element::Kind::rule, .index = rule});
    }

    void read_token(Sequence& sequence, Element::Kind kind) {
        const TokenName name = read_token_name();
        if (failed()) return;
        const base::Token token = name.id >= 0 ? name.id : find_token_(name.text);
        if (token < 0) return fail(std::string(name.text) + " is not one token of this model");
        sequence.push_back({.kind = kind, .index = static_cast<uint32_t>(token)});
    }

    /// Replaces the elements from `first` on by one that repeats them.
    void read_repetition(Sequence& sequence, size_t first) {
        const auto [min, max] = read_counts();
        if (failed()) return;
        const auto begin = sequence.begin() + static_cast<std::ptrdiff_t>(first);
        const Sequence body(begin, sequence.end());
        sequence.erase(begin, sequence.end());
        if (max == 0 || body.empty()) return;
        const bool is_rule = body.size() == 1 && body.front().kind == Element::Kind::rule;
        const uint32_t rule = is_rule ? body.front().index : new_rule();
        if (!is_rule) add_alternative(rule, body);
        sequence.push_back(
            {.kind = Element::Kind::repeat, .index = rule, .count = 0, .min = min, .max = max});
    }

    void add_alternative(uint32_t rule, const Sequence& sequence) {
        rules_.alternatives[rule].push_back(static_cast<uint32_t>(rules_.elements.size()));
        rules_.elements.insert(rules_.elements.end(), sequence.begin(), sequence.end());
        rules_.elements.push_back({});
    }

    Element chars(const std::vector<CharRange>& ranges) {
        const auto first = static_cast<uint32_t>(rules_.ranges.size());
        append_characters(ranges, rules_.ranges);
        return {.kind = Element::Kind::chars,
                .index = first,
                .count = static_cast<uint32_t>(rules_.ranges.size()) - first};
    }

    uint32_t new_rule() {
        rules_.alternatives.emplace_back();
        is_defined_.push_back(true);
        return static_cast<uint32_t>(rules_.alternatives.size()) - 1;
    }

    uint32_t rule_of(std::string_view name) {
        const auto found = names_.find(name);
        if (found != names_.end()) return found->second;
        const uint32_t rule = new_rule();
        is_defined_[rule] = false;
        names_.emplace(name, rule);
        return rule;
    }

    void finish() {
        for (const auto& [name, rule] : names_) {
            if (!is_defined_[rule]) return fail("the rule \"" + name + "\" is used but not defined");
        }
        const auto root = names_.find("root");
        if (root == names_.end()) return fail("it has no rule \"root\"");
        rules_.root = root->second;
        if (std::optional<std::string> problem = prepare_rules(rules_)) fail(std::move(*problem));
    }

    const TokenFinder& find_token_;
    Rules rules_;
    std::vector<bool> is_defined_;
    std::map<std::string, uint32_t, std::less<>> names_;
};

} // namespace

base::Result<Rules> read_gbnf(std::string_view text, const TokenFinder& find_token) {
    if (text.size() > kGrammarBytesMax) {
        return base::fail(base::Code::invalid_argument,
                          "The grammar is too large: it has " + std::to_string(text.size()) + " bytes, and " +
                              std::to_string(kGrammarBytesMax) + " are allowed.");
    }
    return Reader(text, find_token).read();
}

} // namespace grammar
