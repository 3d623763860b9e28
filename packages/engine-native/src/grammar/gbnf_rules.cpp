// The part of gbnf.h that works on rules after they are read: checks for left recursion, normal form, and combining grammars.
#include "grammar/gbnf.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace grammar {

namespace {

constexpr CharRange kSurrogates{.first = 0xD800, .last = 0xDFFF};

/// Maximum number of repetitions of something that may be empty: every count is a state of its own.
constexpr uint32_t kEmptyRepetitionsMax = 100;

bool calls_rule(const Element& element) {
    return element.kind == Element::Kind::rule || element.kind == Element::Kind::repeat;
}

/// Which rules can match the empty text, propagated from rules to those that use them. With `are_characters_empty`: which rules
/// can match any text at all.
class Emptiness {
public:
    explicit Emptiness(const Rules& rules, bool are_characters_empty = false)
        : rules_(rules),
          are_characters_empty_(are_characters_empty),
          may_be_empty_(rules.alternatives.size(), false) {
        std::vector<std::vector<size_t>> users(rules.alternatives.size());
        for (uint32_t rule = 0; rule < rules.alternatives.size(); ++rule) {
            for (const uint32_t begin : rules.alternatives[rule]) add_alternative(rule, begin, users);
        }
        while (!todo_.empty()) {
            const uint32_t rule = todo_.back();
            todo_.pop_back();
            for (const size_t user : users[rule]) fill(user);
        }
    }

    bool of(uint32_t rule) const { return may_be_empty_[rule]; }

    bool of(const Element& element) const {
        if (element.kind == Element::Kind::repeat && element.min == 0) return true;
        return calls_rule(element) && may_be_empty_[element.index];
    }

private:
    struct Alternative {
        uint32_t rule;
        /// Elements that are not known to match the empty text.
        size_t missing;
    };

    void add_alternative(uint32_t rule, uint32_t begin, std::vector<std::vector<size_t>>& users) {
        size_t missing = 1; // fill() below subtracts it again
        for (uint32_t i = begin; rules_.elements[i].kind != Element::Kind::end; ++i) {
            const Element& element = rules_.elements[i];
            if (element.kind == Element::Kind::repeat && element.min == 0) continue;
            if (are_characters_empty_ && !calls_rule(element)) continue;
            missing += 1;
            if (calls_rule(element)) users[element.index].push_back(alternatives_.size());
        }
        alternatives_.push_back({.rule = rule, .missing = missing});
        fill(alternatives_.size() - 1);
    }

    void fill(size_t index) {
        Alternative& alternative = alternatives_[index];
        alternative.missing -= 1;
        if (alternative.missing > 0 || may_be_empty_[alternative.rule]) return;
        may_be_empty_[alternative.rule] = true;
        todo_.push_back(alternative.rule);
    }

    const Rules& rules_;
    bool are_characters_empty_;
    std::vector<bool> may_be_empty_;
    std::vector<Alternative> alternatives_;
    std::vector<uint32_t> todo_;
};

/// The rules that a rule may begin with.
std::vector<uint32_t> leftmost_of(const Rules& rules, const Emptiness& emptiness, uint32_t rule) {
    std::vector<uint32_t> leftmost;
    for (const uint32_t begin : rules.alternatives[rule]) {
        for (uint32_t i = begin; calls_rule(rules.elements[i]); ++i) {
            leftmost.push_back(rules.elements[i].index);
            if (!emptiness.of(rules.elements[i])) break;
        }
    }
    return leftmost;
}

/// A depth-first search without recursion: calls can be as deep as there are rules.
bool has_left_recursion(const Rules& rules, const Emptiness& emptiness) {
    enum class State : uint8_t { unseen, open, done };
    struct Visit {
        uint32_t rule;
        std::vector<uint32_t> left;
    };
    std::vector<State> states(rules.alternatives.size(), State::unseen);
    std::vector<Visit> path;
    const auto enter = [&](uint32_t rule) {
        states[rule] = State::open;
        path.push_back({.rule = rule, .left = leftmost_of(rules, emptiness, rule)});
    };
    for (uint32_t first = 0; first < states.size(); ++first) {
        if (states[first] == State::unseen) enter(first);
        while (!path.empty()) {
            Visit& visit = path.back();
            if (visit.left.empty()) {
                states[visit.rule] = State::done;
                path.pop_back();
                continue;
            }
            const uint32_t next = visit.left.back();
            visit.left.pop_back();
            if (states[next] == State::open) return true;
            if (states[next] == State::unseen) enter(next);
        }
    }
    return false;
}

/// Appends a grammar's rules to `rules`; returns the index of its root there.
uint32_t append_rules(const Rules& added, Rules& rules) {
    const auto first_rule = static_cast<uint32_t>(rules.alternatives.size());
    const auto first_range = static_cast<uint32_t>(rules.ranges.size());
    const auto first_element = static_cast<uint32_t>(rules.elements.size());
    rules.ranges.insert(rules.ranges.end(), added.ranges.begin(), added.ranges.end());
    for (Element element : added.elements) {
        if (element.kind == Element::Kind::chars) element.index += first_range;
        else if (calls_rule(element)) element.index += first_rule;
        rules.elements.push_back(element);
    }
    for (std::vector<uint32_t> alternatives : added.alternatives) {
        for (uint32_t& begin : alternatives) begin += first_element;
        rules.alternatives.push_back(std::move(alternatives));
    }
    return first_rule + added.root;
}

} // namespace

Rules either_of(const Rules& one, const Rules& other) {
    Rules rules;
    std::vector<uint32_t> alternatives;
    for (const Rules* each : {&one, &other}) {
        const uint32_t root = append_rules(*each, rules);
        alternatives.push_back(static_cast<uint32_t>(rules.elements.size()));
        rules.elements.push_back({.kind = Element::Kind::rule, .index = root});
        rules.elements.push_back({});
    }
    rules.root = static_cast<uint32_t>(rules.alternatives.size());
    rules.alternatives.push_back(std::move(alternatives));
    return rules;
}

bool has_texts(const Rules& rules) {
    return Emptiness(rules, true).of(rules.root);
}

std::string gbnf_literal(std::string_view text) {
    std::string literal = "\"";
    for (const char c : text) {
        if (c == '\n') literal += "\\n";
        else if (c == '\r') literal += "\\r";
        else if (c == '\t') literal += "\\t";
        else if (c == '"' || c == '\\') literal.append("\\").push_back(c);
        else literal += c;
    }
    return literal.append("\"");
}

void append_characters(std::vector<CharRange> ranges, std::vector<CharRange>& out) {
    std::ranges::sort(ranges, {}, &CharRange::first);
    const size_t begin = out.size();
    const auto append = [&](uint32_t first, uint32_t last) {
        if (first > last) return;
        if (out.size() > begin && first <= out.back().last + 1) {
            out.back().last = std::max(out.back().last, last);
        } else {
            out.push_back({.first = first, .last = last});
        }
    };
    for (const auto& [first, last] : ranges) {
        append(first, std::min(last, kSurrogates.first - 1));
        append(std::max(first, kSurrogates.last + 1), last);
    }
}

std::optional<std::string> prepare_rules(Rules& rules) {
    const Emptiness emptiness(rules);
    for (Element& element : rules.elements) {
        if (element.kind != Element::Kind::repeat || !emptiness.of(element.index)) continue;
        element.min = 0;
        if (element.max != kNoMax && element.max > kEmptyRepetitionsMax)
            return "something that may be empty is repeated too often";
    }
    if (has_left_recursion(rules, Emptiness(rules)))
        return "a rule begins with itself, directly or through others";
    return std::nullopt;
}

} // namespace grammar
