// free_chunks: free chunks, found by size and by age.
//
//     sizes   [0] [1] [2] ... [chunk_sizes::count - 1]
//              |       |
//            chunk   chunk            newest first: its pages are the likeliest to be in caches
//              |
//            chunk
//     age    newest <-> ... <-> oldest
//
// A chunk holds its links in its first bytes; the rest of it is not touched. Sizes are indices of
// chunk_sizes. Not synchronised.
// Invariant: each chunk is once in the list of its size and once in the list of ages.
// Cost: O(1), except bytes() and validate(). Initialised at compile time, nothing to destroy.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <new>
#include <utility>

#include "mallard/core/usage.hpp"

namespace mallard {

// The sizes in which free chunks are kept, counted in pages.
//
//     1 2 3 ... 64 | 66 68 ... 128 | 132 136 ... 256 | ... | 2^18
//     every page   | 32 sizes a doubling
//
// A chunk serves only requests of its own size, so fewer sizes fit sooner, and rounding up holds memory for
// nothing. 32 sizes a doubling lose nothing up to 64 pages, where most chunks are, and less than 1/32 of the
// request above. The largest is what monotonic_growth asks for at most: 1 GiB in pages of 4 KiB.
// Invariant: index(pages(i)) == i, and pages(index(n)) >= n is the same for every size in between.
// Cost: three shifts.
class chunk_sizes {
  static constexpr std::size_t per_doubling = 32;
  static constexpr std::size_t exact = 2 * per_doubling;  // pages: up to here every size is one

 public:
  static constexpr std::size_t largest = std::size_t{1} << 18;  // pages
  static constexpr std::size_t count =
      exact + per_doubling * static_cast<std::size_t>(std::countr_zero(largest / exact));

  // The least size that holds `pages` pages; precondition: 0 < pages <= largest.
  [[nodiscard]] static constexpr std::size_t index(std::size_t pages) noexcept {
    const std::size_t last = pages - 1;
    if (last < exact) [[likely]]
      return last;
    const auto dropped = static_cast<std::size_t>(std::bit_width(last / exact));  // bits of `last`
    return dropped * per_doubling + (last >> dropped);
  }

  // Pages of the size `index`, below count.
  [[nodiscard]] static constexpr std::size_t pages(std::size_t index) noexcept {
    if (index < exact) [[likely]]
      return index + 1;
    const std::size_t dropped = index / per_doubling - 1;
    return (index - dropped * per_doubling + 1) << dropped;
  }
};

class free_chunks {
 public:
  // Adds the chunk at `p`, of size `size`, as the newest.
  void put(void* p, std::size_t size) noexcept {
    chunk* const c = ::new (p) chunk{{nullptr, by_size_[size]}, {nullptr, newest_}, size};
    if (c->of_size.older != nullptr) c->of_size.older->of_size.newer = c;
    by_size_[size] = c;
    (newest_ == nullptr ? oldest_ : newest_->of_age.newer) = c;
    newest_ = c;
  }

  // Removes the newest chunk of a size; null if there is none.
  [[nodiscard]] void* take(std::size_t size) noexcept {
    chunk* const found = by_size_[size];
    if (found != nullptr) unlink(found);
    return found;
  }

  // Removes the oldest chunk and sets `size` to its size. Precondition: there is one.
  [[nodiscard]] void* take_oldest(std::size_t& size) noexcept {
    chunk* const found = oldest_;
    size = found->size;
    unlink(found);
    return found;
  }

  // Sum of `bytes_of(size)` over all chunks.
  template <class BytesOf>
  [[nodiscard]] std::size_t bytes(BytesOf bytes_of) const noexcept {
    std::size_t sum = 0;
    for (const chunk* c = newest_; c != nullptr; c = c->of_age.older) sum += bytes_of(c->size);
    return sum;
  }

  [[nodiscard]] violation validate() const noexcept {
    std::size_t chunks = 0;
    const chunk* newer = nullptr;
    for (const chunk* c = newest_; c != nullptr; newer = std::exchange(c, c->of_age.older), ++chunks)
      if (c->of_age.newer != newer || c->size >= chunk_sizes::count)
        return {"free_chunks: a chunk was overwritten"};
    if (oldest_ != newer) return {"free_chunks: the oldest chunk is another"};
    for (std::size_t size = 0; size < chunk_sizes::count; ++size) {
      newer = nullptr;
      for (const chunk* c = by_size_[size]; c != nullptr; newer = std::exchange(c, c->of_size.older)) {
        if (c->of_size.newer != newer) return {"free_chunks: a chunk of the same size was overwritten"};
        if (c->size != size || chunks-- == 0) return {"free_chunks: a chunk is among others of its size"};
      }
    }
    if (chunks != 0) return {"free_chunks: a chunk cannot be found by its size"};
    return {};
  }

 private:
  struct chunk;
  struct links {
    chunk* newer;
    chunk* older;
  };
  struct chunk {
    links of_size;
    links of_age;
    std::size_t size;
  };

  void unlink(chunk* c) noexcept {
    const auto [newer_of_size, older_of_size] = c->of_size;
    (newer_of_size == nullptr ? by_size_[c->size] : newer_of_size->of_size.older) = older_of_size;
    if (older_of_size != nullptr) older_of_size->of_size.newer = newer_of_size;
    const auto [newer, older] = c->of_age;
    (newer == nullptr ? newest_ : newer->of_age.older) = older;
    (older == nullptr ? oldest_ : older->of_age.newer) = newer;
  }

  chunk* newest_ = nullptr;
  chunk* oldest_ = nullptr;
  std::array<chunk*, chunk_sizes::count> by_size_{};
};

}  // namespace mallard
