// obstack_regions: obstacks of the C library, each a region; inner ones are obstacks of their own.
//
//     obstack --> chunk --> chunk        of malloc, 4 KiB; larger blocks get chunks of their size
//
// Blocks end with all that came after them, so here with their region. Clearing keeps the first chunk, as
// does freeing to an object that was made first. Aligned to 16. Exhaustion: the chunk function throws.
#pragma once

#include <obstack.h>

#include <cstdlib>
#include <limits>
#include <new>

#include "replay/region/region_table.hpp"
#include "replay/trace/region_op.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

class obstack_regions {
  struct stack {
    obstack of;
    void* first;  // an object of no bytes
  };

 public:
  static constexpr bool ends_all_at_once = true;
  static constexpr bool clear_ends_children = false;
  static constexpr bool destroy_ends_children = false;
  static constexpr std::size_t most_align = 16;
  static constexpr std::size_t region_bytes = sizeof(stack);

  explicit obstack_regions(const trace& t) : stacks_(t) {}

  bool create(std::uint32_t region, std::uint32_t) {
    stack& s = stacks_[region];
    ::_obstack_begin(&s.of, 0, 0, allocate_chunk, std::free);
    s.first = next(s, 0);
    return true;
  }
  // Lengths are of type int.
  void* allocate(const region_op& o) {
    if (o.size() > std::numeric_limits<int>::max() / 2) return nullptr;
    return next(stacks_[o.region()], static_cast<int>(o.size()));
  }
  void deallocate(void*, const region_op&) {}
  void clear(std::uint32_t region) {
    stack& s = stacks_[region];
    obstack_free(&s.of, s.first);
    s.first = next(s, 0);
  }
  void destroy(std::uint32_t region) { obstack_free(&stacks_[region].of, nullptr); }
  void end_pass() {}

 private:
  // The macro aligns by an offset from a null pointer.
  __attribute__((no_sanitize("undefined"))) static void* next(stack& s, int size) {
    return obstack_alloc(&s.of, size);
  }

  static void* allocate_chunk(long size) {
    void* chunk = std::malloc(static_cast<std::size_t>(size));
    if (chunk == nullptr) throw std::bad_alloc();
    return chunk;
  }

  region_table<stack> stacks_;
};

}  // namespace mallard::replay
