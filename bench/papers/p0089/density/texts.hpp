// texts: what strings are made of, drawn before anything is timed: uniform lengths of 33..1000 characters.
//
//     characters  [ xkqhzw....................................... ]   one a text, and the longest string
//     texts          ^offset, length   ^        ^                     a prime number of them
//
// A prime number, so that structures of up to 2^16 elements, each beginning 128 texts after the one before
// it, all begin elsewhere; and each text begins at another character, so that no two are equal. Mapped
// memory, the same in every process; no heap is touched. Seed 000, section 7.2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>

#include "harness/mapping.hpp"

namespace mallard::bench {

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

}  // namespace mallard::bench
