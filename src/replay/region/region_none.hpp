// region_none: the baseline of a trace of regions. Blocks are places computed beforehand; regions are
// nothing.
#pragma once

#include "replay/allocator/none.hpp"
#include "replay/trace/region_op.hpp"

namespace mallard::replay {

class region_none {
 public:
  static constexpr bool starts_warm = true;
  static constexpr bool clear_ends_children = true;
  static constexpr bool destroy_ends_children = true;

  explicit region_none(const trace& t) : places_(t) {}

  MALLARD_INLINE bool create(std::uint32_t, std::uint32_t) { return true; }
  MALLARD_INLINE void* allocate(const region_op&) { return places_.next(); }
  MALLARD_INLINE void deallocate(void*, const region_op&) {}
  MALLARD_INLINE void clear(std::uint32_t) {}
  MALLARD_INLINE void destroy(std::uint32_t) {}
  void end_pass() { places_.end_pass(); }

  [[nodiscard]] std::size_t held() const { return places_.held(); }
  [[nodiscard]] std::size_t max_held() const { return places_.max_held(); }

 private:
  none places_;
};

}  // namespace mallard::replay
