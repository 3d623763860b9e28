// sched::TextTree against a list of texts, at random.
#include "sched/text_tree.h"

#include "check.h"
#include "random.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

using base::SegmentId;
using base::Token;
using sched::TextTree;
using test::Random;

namespace {

using Tokens = std::vector<Token>;

/// Few different tokens, so that texts have common prefixes.
Tokens random_text(Random& random) {
    Tokens tokens;
    for (int32_t left = random.between(1, 30); left > 0; --left) tokens.push_back(random.between(0, 1));
    return tokens;
}

uint64_t distinct_prefixes(const std::map<SegmentId, Tokens>& texts) {
    std::set<Tokens> prefixes;
    for (const auto& [id, text] : texts) {
        for (size_t length = 1; length <= text.size(); ++length)
            prefixes.emplace(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length));
    }
    return prefixes.size();
}

} // namespace

TEST_CASE(
    "text tree: reports how much each text has in common with another, and keeps each common prefix once") {
    Random random(11);
    TextTree tree;
    std::map<SegmentId, Tokens> texts;
    std::map<SegmentId, TextTree::Node*> ends;
    for (SegmentId id = 1; id <= 2000; ++id) {
        texts[id] = random_text(random);
        ends[id] = tree.add(texts[id], id);
        if (texts.size() > 40) {
            const auto gone = std::next(texts.begin(), random.between(0, 39));
            tree.remove(ends.at(gone->first), gone->first);
            ends.erase(gone->first);
            texts.erase(gone);
        }
        const Tokens asked = random_text(random);
        std::map<SegmentId, int32_t> found;
        tree.visit(asked, [&](SegmentId piece, int32_t common) { found[piece] = common; });
        std::map<SegmentId, int32_t> expected;
        for (const auto& [piece, text] : texts) {
            const auto common = std::ranges::mismatch(text, asked).in1 - text.begin();
            if (common > 0) expected[piece] = static_cast<int32_t>(common);
        }
        REQUIRE(found == expected);
        REQUIRE(tree.bytes() == distinct_prefixes(texts) * sizeof(Token));
    }
    for (const auto& [id, end] : ends) CHECK(end->text() == texts.at(id));
    for (const auto& [id, end] : ends) tree.remove(end, id);
    CHECK_EQ(tree.bytes(), 0);
}
