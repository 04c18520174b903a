// apr_regions: pools of the Apache Portable Runtime, each a region.
//
//     root pool of the process --> pool --> pool inside it --> ...      one allocator for all, with its lock
//
// Blocks are aligned to 8 and end with their pool only; pools end with the one around them, which clearing
// does, too. The allocator keeps what pools give back.
#pragma once

#include <apr_general.h>
#include <apr_pools.h>

#include "replay/region/region_table.hpp"
#include "replay/trace/region_op.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

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

}  // namespace mallard::replay
