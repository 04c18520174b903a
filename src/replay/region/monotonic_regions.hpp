// monotonic_regions: std::pmr::monotonic_buffer_resource, one a region; inner ones are regions of their own.
//
//     pass --virtual call--> resource --virtual call a chunk--> counting_upstream --> operator new
//
// The upstream is that of foreign_resources.hpp, and so are its reasons. release() clears and gives all back.
#pragma once

#include <memory_resource>

#include "harness/allocator/foreign_resources.hpp"
#include "replay/region/region_table.hpp"
#include "replay/trace/region_op.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

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
