#include "llama/grammar/stack_set.h"

#include <algorithm>
#include <utility>

namespace llama_rt {

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
    push_alternatives(rules_.root, kEmptyStack);
    resolve(out);
}

void Stacks::advance(StackId stack, uint32_t character, StackSet& out) {
    if (stack == kEmptyStack || !accepts_any(stack, character, character)) return;
    todo_.push_back(behind(nodes_[stack].element, nodes_[stack].below));
    resolve(out);
}

void Stacks::advance_by_token(StackId stack, base::Token token, StackSet& out) {
    const Element& element = rules_.elements[nodes_[stack].element];
    const bool is_named = element.index == static_cast<uint32_t>(token);
    if (is_named != (element.kind == Element::Kind::token)) return;
    todo_.push_back(behind(nodes_[stack].element, nodes_[stack].below));
    resolve(out);
}

bool Stacks::waits_for_token(StackId stack) const {
    if (stack == kEmptyStack) return false;
    const Element::Kind kind = rules_.elements[nodes_[stack].element].kind;
    return kind == Element::Kind::token || kind == Element::Kind::other_token;
}

bool Stacks::accepts_any(StackId stack, uint32_t first, uint32_t last) const {
    if (stack == kEmptyStack) return false;
    const Element& element = rules_.elements[nodes_[stack].element];
    if (element.kind != Element::Kind::chars) return false;
    for (uint32_t i = element.index; i < element.index + element.count; ++i) {
        const CharRange& range = rules_.ranges[i];
        if (range.first > last) return false;
        if (range.last >= first) return true;
    }
    return false;
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

void Stacks::tidy(StackSet& stacks) {
    if (nodes_.size() < tidy_at_) return;
    const std::vector<Node> old = std::move(nodes_);
    nodes_.assign(1, Node{});
    seen_.assign(1, 0);
    table_.assign(kTableFirst, 0);
    set_ = 0;
    std::vector<StackId> renamed(old.size(), 0);
    for (StackId& stack : stacks) stack = keep(stack, old, renamed);
    tidy_at_ = std::max(kNodesFew, 2 * nodes_.size());
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

} // namespace llama_rt
