// heap_name<Heap>: the name of a heap in tables, plans and command lines.
//
// Each complete heap specialises it beside its definition; `a/b` is a over upstream b. A heap of the
// user's own gets a name by a specialisation of theirs.
#pragma once

#include <string_view>

namespace mallard {

template <class Heap>
inline constexpr std::string_view heap_name{};

template <class Heap>
concept named = !heap_name<Heap>.empty();

}  // namespace mallard
