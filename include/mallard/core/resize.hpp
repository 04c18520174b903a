// resize_request: changes the size of a live block, in place where possible, in one call.
//
// One call, so that a locked heap locks once (seed 001, "New functions for expansion capabilities":
// allocation_command with limit, preferred and received sizes). Sizes are in bytes; facades convert from and
// to objects.
//
// Growing (expand_forward, expand_backward, allocate_new), tried in that order:
//
//              expand_backward        block today        expand_forward
//     ... <---------------------- [ data ... + size ] ----------------------> ...
//           a multiple of `step`
//
//   - the result has at least `limit` bytes, and `preferred` bytes if possible;
//   - expand_forward keeps `data` where it is;
//   - expand_backward may move the start down by a multiple of `step`, and may grow forward as well; the old
//     bytes stay in place, and the caller moves them;
//   - allocate_new leaves the old block alive: the caller moves the contents and deallocates it.
//
// Shrinking (shrink): the result keeps `data`, has at most `limit` bytes if the heap can do so, and at least
// `preferred`; try_shrink succeeds even if no memory could be returned.
//
// A caller that knows only the address passes unknown_size, and a `measurable` heap looks the size up itself:
// still one call and one lock.
//
// Afterwards the block counts as requested with `preferred` bytes if it received that many, otherwise with
// `limit` bytes; a block whose received size did not change counts as before. On failure the result is a null
// block and nothing has changed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mallard/core/block.hpp"

namespace mallard {

// The bits of an allocation_type (allocator/resize_objects.hpp), so that converting one to the other is free.
enum class resize_way : unsigned {
  none = 0,
  allocate_new = 0x01,
  expand_forward = 0x02,
  expand_backward = 0x04,
  shrink = 0x08,
  try_shrink = 0x40,
};

[[nodiscard]] constexpr resize_way operator|(resize_way a, resize_way b) noexcept {
  return static_cast<resize_way>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

[[nodiscard]] constexpr resize_way operator&(resize_way a, resize_way b) noexcept {
  return static_cast<resize_way>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}

// True if `set` names `way`.
[[nodiscard]] constexpr bool has_way(resize_way set, resize_way way) noexcept {
  return (set & way) != resize_way::none;
}

// A size that no block has.
inline constexpr std::size_t unknown_size = SIZE_MAX;

struct resize_request {
  void* data;             // the live block
  std::size_t size;       // bytes: any size between the requested and the received one, or unknown_size
  std::size_t align;      // bytes, as when it was allocated
  std::size_t limit;      // bytes: the least a grown block, the most a shrunk block may have
  std::size_t preferred;  // bytes: what the caller would like to have; grow: >= limit, shrink: <= limit
  resize_way ways;        // growing or shrinking ways, not both
  std::size_t step = 1;   // bytes: a backward move is a multiple of it; itself a multiple of `align`
};

struct resize_result {
  block memory;         // the block afterwards; null when the request could not be met
  bool reused = false;  // it contains the old block (grown or shrunk in place); false: it is a new one
};

}  // namespace mallard
