// Regions of other libraries, as strategies of a replay.
#pragma once

#include <apr_general.h>
#include <apr_pools.h>
#include <obstack.h>
#include <talloc.h>

#include <cstdlib>
#include <limits>
#include <memory_resource>
#include <new>

#include "harness/allocator/foreign_resources.hpp"
#include "replay/region/region_table.hpp"
#include "replay/trace/op.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

// apr_regions: pools of the Apache Portable Runtime, each a region.
//
//     root pool of the process --> pool --> pool inside it --> ...      one allocator for all, with its lock
//
// Blocks are aligned to 8 and end with their pool only; pools end with the one around them, which clearing
// does, too. The allocator keeps what pools give back.
class apr_regions {
 public:
  static constexpr bool ends_all_at_once = true;
  static constexpr bool clear_ends_children = true;
  static constexpr bool destroy_ends_children = true;
  static constexpr std::size_t most_align = 8;
  static constexpr std::size_t region_bytes = sizeof(apr_pool_t*);

  explicit apr_regions(const trace& t) : pools_(t) { ::apr_initialize(); }
  apr_regions(const apr_regions&) = delete;
  apr_regions& operator=(const apr_regions&) = delete;
  ~apr_regions() { ::apr_terminate(); }

  bool create(std::uint32_t region, std::uint32_t parent) {
    apr_pool_t* const outer = parent == no_region ? nullptr : pools_[parent];
    return ::apr_pool_create_ex(&pools_[region], outer, nullptr, nullptr) == APR_SUCCESS;
  }
  void* allocate(const region_op& o) { return ::apr_palloc(pools_[o.region()], o.size()); }
  void deallocate(void*, const region_op&) {}
  void clear(std::uint32_t region) { ::apr_pool_clear(pools_[region]); }
  void destroy(std::uint32_t region) { ::apr_pool_destroy(pools_[region]); }
  void end_pass() {}

 private:
  region_table<apr_pool_t*> pools_;
};

// talloc_regions: chunks of talloc, each region an empty one that its blocks and inner regions hang on.
//
//     region --> block, block, ..., inner region --> block ...      each a malloc with a header of links
//
// Blocks can be freed one by one; ending a region walks all that hangs on it. Aligned to 16.
class talloc_regions {
 public:
  static constexpr bool ends_all_at_once = true;
  static constexpr bool clear_ends_children = true;
  static constexpr bool destroy_ends_children = true;
  static constexpr std::size_t most_align = 16;
  static constexpr std::size_t region_bytes = sizeof(void*);

  explicit talloc_regions(const trace& t) : chunks_(t) {}

  bool create(std::uint32_t region, std::uint32_t parent) {
    chunks_[region] = ::talloc_named_const(parent == no_region ? nullptr : chunks_[parent], 0, "region");
    return chunks_[region] != nullptr;
  }
  void* allocate(const region_op& o) { return ::talloc_named_const(chunks_[o.region()], o.size(), "block"); }
  void deallocate(void* p, const region_op&) { ::_talloc_free(p, ""); }
  void clear(std::uint32_t region) { ::talloc_free_children(chunks_[region]); }
  void destroy(std::uint32_t region) { ::_talloc_free(chunks_[region], ""); }
  void end_pass() {}

 private:
  region_table<void*> chunks_;
};

// obstack_regions: obstacks of the C library, each a region; inner ones are obstacks of their own.
//
//     obstack --> chunk --> chunk        of malloc, 4 KiB; larger blocks get chunks of their size
//
// Blocks end with all that came after them, so here with their region. Clearing keeps the first chunk, as
// does freeing to an object that was made first. Aligned to 16. Exhaustion: the chunk function throws.
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

// monotonic_regions: std::pmr::monotonic_buffer_resource, one a region; inner ones are regions of their own.
//
//     pass --virtual call--> resource --virtual call a chunk--> counting_upstream --> operator new
//
// The upstream is that of foreign_resources.hpp, and so are its reasons. release() clears and gives all back.
class monotonic_regions {
 public:
  static constexpr bool ends_all_at_once = true;
  static constexpr bool clear_ends_children = false;
  static constexpr bool destroy_ends_children = false;
  static constexpr std::size_t region_bytes = sizeof(std::pmr::monotonic_buffer_resource);

  explicit monotonic_regions(const trace& t) : resources_(t) {}

  bool create(std::uint32_t region, std::uint32_t) {
    resources_.make(region, &upstream_);
    return true;
  }
  void* allocate(const region_op& o) {
    std::pmr::memory_resource* resource = &resources_[o.region()];
    asm("" : "+r"(resource));  // its type is not to be known to the compiler
    return resource->allocate(o.size(), o.align());
  }
  void deallocate(void*, const region_op&) {}
  void clear(std::uint32_t region) { resources_[region].release(); }
  void destroy(std::uint32_t region) { resources_.end(region); }
  void end_pass() {}

  [[nodiscard]] std::size_t held() const { return upstream_.held(); }
  [[nodiscard]] std::size_t max_held() const { return upstream_.max_held(); }
  void reset_max_held() { upstream_.reset_max_held(); }

 private:
  harness::counting_upstream<std::pmr::memory_resource> upstream_;
  region_table<std::pmr::monotonic_buffer_resource> resources_;
};

}  // namespace mallard::replay
