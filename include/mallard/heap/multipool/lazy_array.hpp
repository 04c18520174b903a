// lazy_array<T, N>: N values, or none, each initialised when first used.
//
//     begun   [1 0 0 1 ...]      a bit each: all that is written at the start, and to end all values
//     values  [T|. .|T| . . ]    . is not written yet, and reads as a T{}
//
// For state of which few parts are ever used, in heaps that are created often. Values must be trivially
// destructible. Cost: each access takes a load and a test; clear() is O(N / 64).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "mallard/core/check.hpp"

namespace mallard {

template <class T, std::size_t N>
class lazy_array {
  static_assert(std::is_trivially_destructible_v<T> && std::is_nothrow_default_constructible_v<T>);

 public:
  lazy_array() noexcept {}  // NOLINT(modernize-use-equals-default): that would write all values
  lazy_array(const lazy_array&) = delete;
  lazy_array& operator=(const lazy_array&) = delete;

  // Whether the value at `i`, which is below N, was used since the start or the last clear().
  [[nodiscard]] bool has_begun(std::size_t i) const noexcept {
    MALLARD_CHECK(i < N);
    return (begun_[word_of(i)] & bit(i)) != 0;
  }

  // The value at `i`, which is below N.
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept {
    return has_begun(i) ? values_[i] : fresh;
  }

  // The same, to be changed.
  [[nodiscard]] T& use(std::size_t i) noexcept {
    if (!has_begun(i)) {
      begun_[word_of(i)] |= bit(i);
      ::new (&values_[i]) T{};
    }
    return values_[i];
  }

  // Ends all values: each is a T{} again.
  void clear() noexcept { begun_ = {}; }

 private:
  static constexpr std::size_t bits = 64;
  static constexpr std::size_t places = std::max<std::size_t>(N, 1);
  static constexpr T fresh{};

  static constexpr std::size_t word_of(std::size_t i) noexcept { return N <= bits ? 0 : i / bits; }
  static constexpr std::uint64_t bit(std::size_t i) noexcept { return std::uint64_t{1} << (i % bits); }

  std::array<std::uint64_t, (places + bits - 1) / bits> begun_{};
  union {
    T values_[places];
  };
};

}  // namespace mallard
