// scripted_heap<Ways>: knows these ways to resize its only old block, answers as scripted, and keeps what
// it saw.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/resize.hpp"

namespace mallard {

template <resize_way Ways>
class scripted_heap {
 public:
  static constexpr std::size_t old_size = 40;

  alignas(64) std::array<std::byte, 64> old_block{};
  alignas(64) std::array<std::byte, 64> new_block{};
  resize_result answer;                // of the next resize
  std::optional<resize_request> seen;  // in the latest one
  std::size_t largest = 64;            // bytes that allocate can give
  int allocations = 0;

  static constexpr resize_way ways = Ways;

  [[nodiscard]] block allocate(std::size_t size, std::size_t) noexcept {
    ++allocations;
    return size <= largest ? block{new_block.data(), size} : block{};
  }
  void deallocate(void*, std::size_t, std::size_t) noexcept {}
  [[nodiscard]] std::size_t usable_size(const void*) const noexcept { return old_size; }
  [[nodiscard]] resize_result resize(const resize_request& request) noexcept {
    seen = request;
    return answer;
  }
};
static_assert(resizable<scripted_heap<resize_way::none>> && measurable<scripted_heap<resize_way::none>>);

}  // namespace mallard
