#include "llama/context/filler_rows.h"

#include "check.h"

TEST_CASE(
    "filler rows: a batch is filled up to the next size, by at most what the context has sequences for") {
    CHECK_EQ(llama::filled_rows(1), 1);
    CHECK_EQ(llama::filled_rows(5), 8);
    CHECK_EQ(llama::filled_rows(33), 48);
    CHECK_EQ(llama::filled_rows(128), 128);
    CHECK_EQ(llama::filled_rows(129), 129);
    CHECK_EQ(llama::filler_rows_max(2), 0);
    CHECK_EQ(llama::filler_rows_max(3), 1);
    CHECK_EQ(llama::filler_rows_max(64), 15);
    CHECK_EQ(llama::filler_rows_max(256), 31);
    for (int32_t replies = 1; replies <= 256; ++replies) {
        const int32_t fillers = llama::filled_rows(replies) - replies;
        CHECK(fillers >= 0);
        CHECK(fillers <= llama::filler_rows_max(replies));
    }
}
