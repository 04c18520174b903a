// content_hash: one hash for every key, whatever its allocator.
//
// A string's is that of its characters, a container's that of its size and first element. libstdc++ keeps
// the hash of a std::string in the node of a set, but not that of a std::pmr::string, and knows none at all
// of strings with other allocators: so that columns differ in their allocator alone, all use one of these
// two, of which the first is kept in nodes.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <type_traits>

namespace mallard::bench {

struct content_hash {
  [[nodiscard]] std::size_t operator()(int key) const noexcept { return std::hash<int>()(key); }

  template <class Key>
  [[nodiscard]] std::size_t operator()(const Key& key) const noexcept {
    if constexpr (std::is_convertible_v<const Key&, std::string_view>)
      return std::hash<std::string_view>()(key);
    else
      return key.size() * 0x9e3779b97f4a7c15 + (key.empty() ? 0 : (*this)(*key.begin()));
  }
};

struct kept_hash : content_hash {};
struct unkept_hash : content_hash {};

}  // namespace mallard::bench

// How libstdc++ is told whether a hash is worth keeping.
template <>
struct std::__is_fast_hash<mallard::bench::kept_hash> : std::false_type {};
template <>
struct std::__is_fast_hash<mallard::bench::unkept_hash> : std::true_type {};
