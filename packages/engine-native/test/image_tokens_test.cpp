// base/types.h: images among the tokens of a text.
#include "base/types.h"
#include "check.h"

#include <limits>
#include <vector>

using base::Token;

namespace {

std::vector<Token> text_with(base::ImageId first, base::ImageId second) {
    return {7,
            base::image_token(first, true),
            base::image_token(first, false),
            base::image_token(first, false),
            base::image_token(second, true),
            base::image_token(second, false),
            8};
}

} // namespace

TEST_CASE("image tokens: an image's tokens are negative and identify it") {
    for (const base::ImageId image : {1, 2, 3, base::kImageIdMax}) {
        for (const bool is_first : {true, false}) {
            const Token token = base::image_token(image, is_first);
            CHECK(base::is_image(token));
            CHECK_EQ(base::image_of(token), image);
            CHECK_EQ(base::continues_image(token), !is_first);
        }
    }
    CHECK(!base::is_image(0));
    // No image has it, but a client may send it.
    constexpr Token lowest = std::numeric_limits<Token>::min();
    static_assert(base::image_of(lowest) > base::kImageIdMax);
    CHECK(base::is_image(lowest));
}

TEST_CASE("image tokens: a text is cut between images, equal ones too, and never inside one") {
    for (const base::ImageId second : {5, 6}) {
        const std::vector<Token> text = text_with(5, second);
        CHECK_EQ(base::last_edge(text, 3), 1);
        CHECK_EQ(base::next_edge(text, 2), 4);
        CHECK_EQ(base::last_edge(text, 4), 4);
        CHECK_EQ(base::last_edge(text, 5), 4);
        CHECK_EQ(base::next_edge(text, 5), 6);
        CHECK_EQ(base::last_edge(text, 7), 7);
    }
}

TEST_CASE("image tokens: runs end where text and images meet") {
    const std::vector<Token> text = text_with(5, 5);
    CHECK_EQ(base::end_of_kind(text, 0), 1);
    CHECK_EQ(base::end_of_kind(text, 1), 4);
    CHECK_EQ(base::end_of_kind(text, 2), 4);
    CHECK_EQ(base::end_of_kind(text, 4), 6);
    CHECK_EQ(base::end_of_kind(text, 6), 7);
}
