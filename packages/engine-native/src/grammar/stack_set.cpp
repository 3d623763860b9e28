#include "grammar/stack_set.h"

#include <algorithm>
#include <utility>

namespace grammar {

namespace {

/// Work is counted in rule calls followed ("steps"); a million take some ten milliseconds. A character of JSON needs about ten,
/// so testing a whole large vocabulary, which is seldom needed, takes a few millions.
constexpr size_t kStepsFirst = 20'000'000;
constexpr size_t kStepsPerToken = 1'000'000;

/// How many stacks of a set can be looked at in the time of one step.
constexpr size_t kLooksPerStep = 8;

/// Maximum number of stacks kept at a time: about 100 MB, which only grammars written for it reach.
constexpr size_t kNodesMax = size_t{1} << 22;

/// With fewer stacks than this, tidy() does nothing.
constexpr size_t kNodesFew = size_t{1} << 14;

constexpr size_t kTableFirst = 1024;

size_t hash_of(uint32_t element, uint32_t below, uint32_t count) {
    uint64_t hash = (static_cast<uint64_t>(element) << 32 | below) * 0x9E3779B97F4A7C15ULL;
    hash = (hash ^ hash >> 29 ^ count) * 0xBF58476D1CE4E5B9ULL;
    return static_cast<size_t>(hash ^ hash >> 32);
}

} // namespace

Stacks::Stacks(const Rules& rules)
    : rules_(rules),
      nodes_(1),
      table_(kTableFirst),
      seen_(1),
      steps_left_(kStepsFirst),
      tidy_at_(kNodesFew) {}

void Stacks::start_token() {
    steps_left_ = std::min(steps_left_ + kStepsPerToken, kStepsFirst);
}

void Stacks::begin(StackSet& out) {
    start_set(out);
    push_alternatives(rules_.root, kEmptyStack);
    resolve(out);
}

CharRange Stacks::advance(std::span<const StackId> stacks, uint32_t character, StackSet& out) {
    count_look_through(stacks.size());
    start_set(out);
    CharRange alike{.first = 0, .last = kCharMax};
    for (const StackId stack : stacks) {
        const Node node = nodes_[stack];
        for (const CharRange& range : ranges_of(stack)) {
            if (range.first > character) {
                alike.last = std::min(alike.last, range.first - 1);
                break;
            }
            if (range.last < character) {
                alike.first = std::max(alike.first, range.last + 1);
                continue;
            }
            alike = {.first = std::max(alike.first, range.first), .last = std::min(alike.last, range.last)};
            todo_.push_back(behind(node.element, node.below));
            resolve(out);
            break;
        }
    }
    return alike;
}

void Stacks::advance_by_any(std::span<const StackId> stacks, std::span<const CharRange> characters,
                            StackSet& out) {
    count_look_through(stacks.size());
    start_set(out);
    for (const StackId stack : stacks) {
        const Node node = nodes_[stack];
        if (!accepts_all(stack, characters)) continue;
        todo_.push_back(behind(node.element, node.below));
        resolve(out);
    }
}

void Stacks::advance_by_token(std::span<const StackId> stacks, base::Token token, StackSet& out) {
    count_look_through(stacks.size());
    start_set(out);
    for (const StackId stack : stacks) {
        if (!waits_for_token(stack)) continue;
        const Node node = nodes_[stack];
        const Element& element = rules_.elements[node.element];
        const bool is_named = element.index == static_cast<uint32_t>(token);
        if (is_named != (element.kind == Element::Kind::token)) continue;
        todo_.push_back(behind(node.element, node.below));
        resolve(out);
    }
}

bool Stacks::waits_for_token(StackId stack) const {
    if (stack == kEmptyStack) return false;
    const Element::Kind kind = rules_.elements[nodes_[stack].element].kind;
    return kind == Element::Kind::token || kind == Element::Kind::other_token;
}

void Stacks::add_tokens(StackId stack, const TokenSet& with_text, TokenSet& out) const {
    if (!waits_for_token(stack)) return;
    const Element& element = rules_.elements[nodes_[stack].element];
    const auto token = static_cast<base::Token>(element.index);
    if (element.kind == Element::Kind::token) {
        if (with_text.has(token)) out.add(token);
        return;
    }
    const bool is_in = !with_text.has(token) || out.has(token);
    out.add(with_text);
    if (!is_in) out.remove(token);
}

/// The characters that the stack accepts next.
std::span<const CharRange> Stacks::ranges_of(StackId stack) const {
    if (stack == kEmptyStack) return {};
    const Element& element = rules_.elements[nodes_[stack].element];
    if (element.kind != Element::Kind::chars) return {};
    return std::span(rules_.ranges).subspan(element.index, element.count);
}

bool Stacks::accepts_any(StackId stack, uint32_t first, uint32_t last) const {
    for (const CharRange& range : ranges_of(stack)) {
        if (range.first > last) return false;
        if (range.last >= first) return true;
    }
    return false;
}

bool Stacks::accepts_all(StackId stack, std::span<const CharRange> characters) const {
    const std::span<const CharRange> ranges = ranges_of(stack);
    auto range = ranges.begin();
    for (const auto& [first, last] : characters) {
        while (range != ranges.end() && range->last < last) ++range;
        if (range == ranges.end() || range->first > first) return false;
    }
    return true;
}

StackId Stacks::behind(uint32_t element, StackId below) {
    // A call at the end of a rule leaves nothing to return to, so loops do not make stacks higher.
    if (rules_.elements[element + 1].kind == Element::Kind::end) return below;
    return intern({.element = element + 1, .below = below, .count = 0});
}

void Stacks::push_alternatives(uint32_t rule, StackId below) {
    for (const uint32_t begin : rules_.alternatives[rule]) {
        const bool is_empty = rules_.elements[begin].kind == Element::Kind::end;
        todo_.push_back(is_empty ? below : intern({.element = begin, .below = below, .count = 0}));
    }
}

void Stacks::count_look_through(size_t stacks) {
    count(stacks / kLooksPerStep);
}

void Stacks::count(size_t steps) {
    is_overrun_ |= steps_left_ <= steps;
    steps_left_ -= std::min(steps_left_, steps);
    if (share_ == nullptr || is_overrun_) return;
    try {
        share_->use(steps);
    } catch (const ShareUsedUp&) {
        todo_.clear();
        throw;
    }
}

/// A stack is added to a set only once.
void Stacks::start_set(StackSet& out) {
    out.clear();
    set_ += 1;
}

/// Follows rule calls until every stack waits for a character or a token, or is empty.
void Stacks::resolve(StackSet& out) {
    while (!todo_.empty() && !is_overrun_) {
        const StackId stack = todo_.back();
        todo_.pop_back();
        count(1);
        if (seen_[stack] == set_) continue;
        seen_[stack] = set_;
        const Node node = nodes_[stack];
        const Element& element = rules_.elements[node.element];
        if (stack == kEmptyStack) {
            out.push_back(stack);
        } else if (element.kind == Element::Kind::rule) {
            push_alternatives(element.index, behind(node.element, node.below));
        } else if (element.kind == Element::Kind::repeat) {
            // Beyond its minimum, the count of an unlimited repetition does not matter.
            const uint32_t count =
                element.max == kNoMax ? std::min(node.count + 1, element.min) : node.count + 1;
            if (node.count < element.max)
                push_alternatives(element.index, intern({node.element, node.below, count}));
            if (node.count >= element.min) todo_.push_back(behind(node.element, node.below));
        } else {
            out.push_back(stack);
        }
    }
    todo_.clear();
}

StackId Stacks::intern(const Node& node) {
    const size_t mask = table_.size() - 1;
    size_t place = hash_of(node.element, node.below, node.count) & mask;
    while (table_[place] != 0) {
        if (nodes_[table_[place]] == node) return table_[place];
        place = (place + 1) & mask;
    }
    if (nodes_.size() >= kNodesMax) {
        is_overrun_ = true;
        return kEmptyStack;
    }
    const auto id = static_cast<StackId>(nodes_.size());
    nodes_.push_back(node);
    seen_.push_back(0);
    table_[place] = id;
    if (nodes_.size() * 2 > table_.size()) grow_table();
    return id;
}

void Stacks::grow_table() {
    table_.assign(table_.size() * 2, 0);
    for (StackId id = 1; id < nodes_.size(); ++id) {
        const Node& node = nodes_[id];
        size_t place = hash_of(node.element, node.below, node.count) & (table_.size() - 1);
        while (table_[place] != 0) place = (place + 1) & (table_.size() - 1);
        table_[place] = id;
    }
}

bool Stacks::tidy(StackSet& stacks) {
    if (nodes_.size() < tidy_at_) return false;
    const std::vector<Node> old = std::move(nodes_);
    nodes_.assign(1, Node{});
    seen_.assign(1, 0);
    table_.assign(kTableFirst, 0);
    set_ = 0;
    std::vector<StackId> renamed(old.size(), 0);
    for (StackId& stack : stacks) stack = keep(stack, old, renamed);
    tidy_at_ = std::max(kNodesFew, 2 * nodes_.size());
    return true;
}

/// Interns a stack again, from the bottom up.
StackId Stacks::keep(StackId stack, const std::vector<Node>& old, std::vector<StackId>& renamed) {
    std::vector<StackId> path;
    for (StackId id = stack; id != kEmptyStack && renamed[id] == 0; id = old[id].below) path.push_back(id);
    for (size_t i = path.size(); i > 0; --i) {
        const Node& node = old[path[i - 1]];
        renamed[path[i - 1]] = intern({node.element, renamed[node.below], node.count});
    }
    return renamed[stack];
}

} // namespace grammar
