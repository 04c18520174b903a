// structures: DS1..DS12 with the allocators of a binding; how they are filled, and how every leaf is written.
//
//     1 vector<int>          5 vector<1>      9 set<1>
//     2 vector<string>       6 vector<2>     10 set<2>
//     3 set<int>             7 vector<3>     11 set<3>       set: std::unordered_set
//     4 set<string>          8 vector<4>     12 set<4>
//
// The inner ones have 128 leaves each. Vectors are reserved, sets grow. Leaves come from a cursor over
// numbers and texts, so that neighbours differ and no set drops one. Seed 000, section 7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "p0089/density/content_hash.hpp"
#include "p0089/density/texts.hpp"

namespace mallard::bench {

inline constexpr std::size_t inner_leaves = 128;

template <class Binding>
struct structures {
  template <class T>
  using allocator = typename Binding::template container_allocator<T>;
  using string = std::basic_string<char, std::char_traits<char>, typename Binding::template allocator<char>>;
  template <class T>
  using vector = std::vector<T, allocator<T>>;
  template <class T, class Hash>
  using set = std::unordered_set<T, Hash, std::equal_to<T>, allocator<T>>;

  // DS n; Hash is that of the sets' keys which are no numbers.
  template <int N, class Hash>
  static auto type() {
    if constexpr (N == 1) return std::type_identity<vector<int>>();
    if constexpr (N == 2) return std::type_identity<vector<string>>();
    if constexpr (N == 3) return std::type_identity<set<int, std::hash<int>>>();
    if constexpr (N == 4) return std::type_identity<set<string, Hash>>();
    if constexpr (N >= 5 && N <= 8) return std::type_identity<vector<of<N - 4, Hash>>>();
    if constexpr (N >= 9) return std::type_identity<set<of<N - 8, Hash>, Hash>>();
  }
  template <int N, class Hash>
  using of = typename decltype(type<N, Hash>())::type;
};

// Leaves that a structure is filled with, in turn.
class leaf_cursor {
 public:
  explicit leaf_cursor(const texts& from) : texts_(from) {}

  // Scattered over all numbers, and different for 2^32 of them.
  [[nodiscard]] int number() { return static_cast<int>(next_++ * 2654435761u); }
  [[nodiscard]] std::string_view text() { return texts_[next_++]; }

 private:
  const texts& texts_;
  std::uint32_t next_ = 0;
};

template <class C>
concept reservable_back = requires(C& c) { c.emplace_back(); };

template <class Container>
void fill(Container& c, std::size_t elements, leaf_cursor& leaves) {
  using element = typename Container::value_type;
  constexpr bool has_back = reservable_back<Container>;
  if constexpr (has_back) c.reserve(elements);
  for (std::size_t i = 0; i < elements; ++i) {
    if constexpr (std::is_same_v<element, int>) {
      if constexpr (has_back)
        c.emplace_back(leaves.number());
      else
        c.emplace(leaves.number());
    } else if constexpr (std::is_same_v<typename element::value_type, char>) {
      if constexpr (has_back)
        c.emplace_back(leaves.text());
      else
        c.emplace(leaves.text());
    } else if constexpr (has_back) {
      fill(c.emplace_back(), inner_leaves, leaves);
    } else {
      element inner(c.get_allocator());
      fill(inner, inner_leaves, leaves);
      c.insert(std::move(inner));
    }
  }
}

// Writes as the optimiser cannot leave out: a number in place, a string's characters all over. A set's keys
// are written as well, after which only its end is right to use: a number gets the value that it has.
inline void* (*volatile write_over)(void*, int, std::size_t) = &std::memset;

template <class Element>
void write_leaves(Element& element) {
  if constexpr (std::is_same_v<std::remove_const_t<Element>, int>) {
    auto* const number = const_cast<volatile int*>(&element);
    *number = element;
  } else if constexpr (std::is_same_v<typename Element::value_type, char>) {
    write_over(const_cast<char*>(element.data()), '.', element.size());
  } else {
    for (auto& inner : element) write_leaves(inner);
  }
}

}  // namespace mallard::bench
