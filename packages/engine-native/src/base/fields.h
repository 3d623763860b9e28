// Declares the fields of structs that cross to or from JavaScript, one row per field beside the struct: its name in JavaScript,
// the member, and constraints beyond its type. napi/read.h and napi/write.h convert by these rows, and test/seam.test.ts compares
// their names with the seam's .d.ts files.
//
//     struct Options {
//         std::string path;
//         int32_t threads;
//     };
//     constexpr auto fields_of(const Options*) {
//         return base::rows(base::field("path", &Options::path), base::field("threads", &Options::threads, {.min = 1}));
//     }
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace base {

/// The JavaScript type of a value, where the C++ type suggests another one.
enum class As { itself, bigint, bytes };

/// Constraints on a field beyond its type.
template <class T>
struct Rule {};

/// Inclusive bounds.
template <class T>
    requires(std::integral<T> || std::floating_point<T>) && (!std::same_as<T, bool>)
struct Rule<T> {
    T min = std::numeric_limits<T>::lowest();
    T max = std::numeric_limits<T>::max();
    As as = As::itself;
};

template <>
struct Rule<std::string> {
    As as = As::itself;
};

template <class T>
struct Rule<std::vector<T>> {
    size_t size_max = std::numeric_limits<size_t>::max();
    bool is_left_out_if_empty = false;
};

template <class T>
struct Rule<std::shared_ptr<T>> {
    bool may_be_null = false;
};

template <class Struct, class T>
struct Field {
    const char* name;
    T Struct::* member;
    Rule<T> rule;
};

template <class Struct, class T>
constexpr Field<Struct, T> field(const char* name, T Struct::* member, Rule<T> rule = {}) {
    return {.name = name, .member = member, .rule = rule};
}

/// A field whose values are strings in JavaScript.
template <class Struct, class T, size_t count>
struct Choice {
    const char* name;
    T Struct::* member;
    std::array<std::pair<const char*, T>, count> values;
};

template <class Struct, class T, size_t count>
constexpr Choice<Struct, T, count> choice(const char* name, T Struct::* member,
                                          const std::pair<const char*, T> (&values)[count]) {
    return {.name = name, .member = member, .values = std::to_array(values)};
}

/// A struct in `Struct` whose fields belong to the same JavaScript object.
template <class Struct, class T>
struct Inlined {
    T Struct::* member;
};

template <class Struct, class T>
constexpr Inlined<Struct, T> inlined(T Struct::* member) {
    return {.member = member};
}

template <size_t index, class Row>
struct RowAt {
    Row row;
};

/// Rows side by side: what std::tuple does too, but every file that includes a table would pay for it as it compiles.
template <class Indices, class... Row>
struct RowsAt;
template <size_t... index, class... Row>
struct RowsAt<std::index_sequence<index...>, Row...> : RowAt<index, Row>... {
    constexpr bool each(const auto& use) const { return (use(RowAt<index, Row>::row) && ...); }
};

/// The table of a struct's fields, which fields_of() returns.
template <class... Row>
constexpr RowsAt<std::index_sequence_for<Row...>, Row...> rows(const Row&... row) {
    return {{row}...};
}

template <class T>
concept HasFields = requires { fields_of(static_cast<const T*>(nullptr)); };

/// Calls `use` with each row of T's fields, until it returns false. Returns true if it never did.
template <HasFields T>
bool for_each_field(const auto& use) {
    constexpr auto table = fields_of(static_cast<const T*>(nullptr));
    return table.each(use);
}

} // namespace base
