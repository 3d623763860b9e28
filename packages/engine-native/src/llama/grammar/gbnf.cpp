#include "llama/grammar/gbnf.h"

#include "llama/grammar/gbnf_rules.h"
#include "llama/grammar/gbnf_text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace llama_rt {

namespace {

/// Deepest nesting of groups: the reader recurses.
constexpr int kNestingMax = 1000;

/// Longest grammar, in bytes: far more than the largest lists of tools need, and still read in milliseconds.
constexpr size_t kTextBytesMax = size_t{2} * 1024 * 1024;

/// Reads a grammar by recursive descent. After the first error, every function returns at once.
class Reader {
public:
    Reader(std::string_view text, const TokenFinder& find_token) : text_(text), find_token_(find_token) {}

    base::Result<Rules> read() {
        text_.skip_space(true);
        while (!text_.failed() && !text_.at_end()) read_rule();
        if (!text_.failed()) finish();
        if (text_.failed())
            return base::fail(base::Code::invalid_argument, "The grammar is wrong: " + text_.error());
        return std::move(rules_);
    }

private:
    using Sequence = std::vector<Element>;

    void read_rule() {
        const std::string name(text_.name());
        text_.skip_space(false);
        text_.expect("::=");
        text_.skip_space(true);
        if (text_.failed()) return;
        const uint32_t rule = rule_of(name);
        if (is_defined_[rule]) return text_.fail("the rule \"" + name + "\" is defined twice");
        is_defined_[rule] = true;
        read_alternatives(rule, 0);
        text_.end_of_rule();
        text_.skip_space(true);
    }

    void read_alternatives(uint32_t rule, int depth) {
        if (depth > kNestingMax) return text_.fail("its groups are nested too deeply");
        for (;;) {
            Sequence sequence;
            read_sequence(sequence, depth);
            if (text_.failed()) return;
            add_alternative(rule, sequence);
            if (!text_.take('|')) return;
            text_.skip_space(true);
        }
    }

    void read_sequence(Sequence& sequence, int depth) {
        // Where the item begins that a following *, +, ? or {} repeats; absent at the start of the sequence.
        std::optional<size_t> last;
        while (!text_.failed() && !text_.at_end()) {
            const size_t before = sequence.size();
            if (text_.is_repetition()) {
                if (!last) return text_.fail("there is nothing to repeat");
                read_repetition(sequence, *last);
            } else if (read_item(sequence, depth)) {
                last = before;
            } else {
                return;
            }
            text_.skip_space(depth > 0);
        }
    }

    /// False if no item begins here.
    bool read_item(Sequence& sequence, int depth) {
        if (text_.take('"')) read_literal(sequence);
        else if (text_.take('[')) sequence.push_back(chars(text_.char_class()));
        else if (text_.take('.')) sequence.push_back(chars({{.first = 0, .last = kCharMax}}));
        else if (text_.take('(')) read_group(sequence, depth);
        else if (text_.take('!')) read_token(sequence, Element::Kind::other_token);
        else if (text_.peek() == '<') read_token(sequence, Element::Kind::token);
        else if (text_.at_name())
            sequence.push_back({.kind = Element::Kind::rule, .index = rule_of(text_.name())});
        else return false;
        return true;
    }

    void read_literal(Sequence& sequence) {
        while (!text_.failed() && !text_.take('"')) {
            const uint32_t character = text_.character();
            sequence.push_back(chars({{.first = character, .last = character}}));
        }
    }

    void read_group(Sequence& sequence, int depth) {
        text_.skip_space(true);
        const uint32_t rule = new_rule();
        read_alternatives(rule, depth + 1);
        text_.expect(")");
        sequence.push_back({.kind = Element::Kind::rule, .index = rule});
    }

    void read_token(Sequence& sequence, Element::Kind kind) {
        const GbnfText::TokenName name = text_.token_name();
        if (text_.failed()) return;
        const base::Token token = name.id >= 0 ? name.id : find_token_(name.text);
        if (token < 0) return text_.fail(std::string(name.text) + " is not one token of this model");
        sequence.push_back({.kind = kind, .index = static_cast<uint32_t>(token)});
    }

    /// Replaces the elements from `first` on by one that repeats them.
    void read_repetition(Sequence& sequence, size_t first) {
        const auto [min, max] = text_.repetition();
        if (text_.failed()) return;
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
            if (!is_defined_[rule]) return text_.fail("the rule \"" + name + "\" is used but not defined");
        }
        const auto root = names_.find("root");
        if (root == names_.end()) return text_.fail("it has no rule \"root\"");
        rules_.root = root->second;
        if (std::optional<std::string> problem = prepare_rules(rules_)) text_.fail(std::move(*problem));
    }

    GbnfText text_;
    const TokenFinder& find_token_;
    Rules rules_;
    std::vector<bool> is_defined_;
    std::map<std::string, uint32_t, std::less<>> names_;
};

} // namespace

base::Result<Rules> read_gbnf(std::string_view text, const TokenFinder& find_token) {
    if (text.size() > kTextBytesMax) {
        return base::fail(base::Code::invalid_argument, "The grammar is too large: it has " +
                                                            std::to_string(text.size()) + " bytes, and " +
                                                            std::to_string(kTextBytesMax) + " are allowed.");
    }
    return Reader(text, find_token).read();
}

} // namespace llama_rt
