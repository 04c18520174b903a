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
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "harness/mapping.hpp"

namespace mallard::bench {

// One hash for every key, whatever its allocator: a string's is that of its characters, a container's that of
// its size and first element. libstdc++ keeps the hash of a std::string in the node of a set, but not that of
// a std::pmr::string, and knows none at all of strings with other allocators: so that columns differ in their
// allocator alone, all use one of these two, of which the first is kept in nodes.
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

// How libstdc++ learns whether a hash is worth keeping.
template <>
struct std::__is_fast_hash<mallard::bench::kept_hash> : std::false_type {};
template <>
struct std::__is_fast_hash<mallard::bench::unkept_hash> : std::true_type {};

namespace mallard::bench {

// What strings are made of, drawn before anything is timed: uniform lengths of 33..1000 characters.
//
//     characters  [ xkqhzw....................................... ]   one a text, and the longest string
//     texts          ^offset, length   ^        ^                     a prime number of them
//
// A prime number, so that structures of up to 2^16 elements, each beginning 128 texts after the one before
// it, all begin elsewhere; and each text begins at another character, so that no two are equal. Mapped
// memory, the same in every process; no heap is touched. Seed 000, section 7.2.
class texts {
 public:
  static constexpr std::size_t shortest = 33;  // characters; beyond what fits into the string itself
  static constexpr std::size_t longest = 1000;
  static constexpr std::size_t count = 65537;

  texts()
      : memory_(room + count * sizeof(entry), harness::fill::before_use),
        entries_(reinterpret_cast<entry*>(static_cast<char*>(memory_.data()) + room)) {
    std::mt19937_64 random(20150615);
    for (char& c : std::span(static_cast<char*>(memory_.data()), characters))
      c = static_cast<char>('a' + random() % 26);
    std::uniform_int_distribution<std::uint32_t> length(shortest, longest);
    for (std::size_t i = 0; i < count; ++i)
      entries_[i] = {static_cast<std::uint32_t>(i * scatter % count), length(random)};
  }

  [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
    const entry e = entries_[i % count];
    return {static_cast<const char*>(memory_.data()) + e.offset, e.length};
  }

 private:
  static constexpr std::size_t characters = count + longest;
  static constexpr std::size_t room = (characters + 7) / 8 * 8;  // bytes of the characters, aligned
  static constexpr std::size_t scatter = 40503;                  // any number that the prime does not divide

  struct entry {
    std::uint32_t offset;
    std::uint32_t length;
  };

  harness::scratch memory_;
  entry* entries_;
};

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
