// Regions of other libraries, as strategies of a replay.
#pragma once

#include <apr_general.h>
#include <apr_pools.h>
#include <talloc.h>

#include "replay/region/region_table.hpp"
#include "replay/trace/region_op.hpp"
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

}  // namespace mallard::replay
