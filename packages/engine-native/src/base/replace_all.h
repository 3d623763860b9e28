// Used by what writes and reads chat templates' texts.
#pragma once

#include <string>
#include <string_view>

namespace base {

/// What takes a place is not looked at again. `what` is not empty.
inline void replace_all(std::string& text, std::string_view what, std::string_view with) {
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
}

} // namespace base
