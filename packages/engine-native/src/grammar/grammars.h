// The grammars of one model: a bounded cache, so that a grammar used again and again is read once. Any thread.
#pragma once

#include "base/result.h"
#include "grammar/gbnf.h"
#include "grammar/pieces.h"

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace grammar {

class Grammars {
public:
    /// Calls `make_pieces` once, when pieces are first needed.
    Grammars(TokenFinder find_token, std::function<std::shared_ptr<const Pieces>()> make_pieces);

    /// The rules of a GBNF grammar. `invalid_argument` says what is wrong with it.
    base::Result<std::shared_ptr<const Rules>> rules(std::string_view text);

    std::shared_ptr<const Pieces> pieces();

private:
    struct Entry {
        std::string text;
        std::shared_ptr<const Rules> rules;
    };

    std::shared_ptr<const Rules> find(std::string_view text);
    void keep(std::string_view text, const std::shared_ptr<const Rules>& rules);

    // Constant after construction.
    const TokenFinder find_token_;
    const std::function<std::shared_ptr<const Pieces>()> make_pieces_;

    // Has its own lock.
    std::once_flag pieces_made_;
    std::shared_ptr<const Pieces> pieces_;

    // Guarded by mutex_. Most recently used first.
    std::mutex mutex_;
    std::list<Entry> entries_;
    size_t bytes_ = 0;
};

} // namespace grammar
