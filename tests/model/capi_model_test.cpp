// The functions of mallard.h have every property of the model suite: over the system, in a buffer, and locked
// or cached, where threads are at once in them.
#include <cstddef>
#include <memory>

#include "capi/heap_over_c.hpp"
#include "mallard/core/boundary_tag.hpp"
#include "model/every_property.hpp"

namespace mallard::model {
namespace {

struct over_the_system_model : model {
  [[maybe_unused]] static constexpr std::size_t header_bytes = boundary_tag::overhead;
  static constexpr bool bursts_are_adjacent = true;
  using heap = capi::heap_over_c<0>;
};

struct locked_over_the_system_model : over_the_system_model {
  using heap = capi::heap_over_c<MALLARD_LOCKED>;
};

// A block of a stricter alignment goes into a cache when it is freed, and requests like it do not look there.
// What is cached is in the way of blocks that would grow, until its thread ends.
struct cached_over_the_system_model : over_the_system_model {
  [[maybe_unused]] static constexpr std::size_t largest_reused_align = MALLARD_ALIGNMENT;
  static constexpr bool grows_in_place = false;
  using heap = capi::heap_over_c<MALLARD_CACHED>;
};

template <unsigned Flags>
struct in_a_buffer_model : model {
  using heap = capi::heap_over_c<Flags>;
  struct rig {
    static constexpr std::size_t bytes = std::size_t{1} << 24;
    std::unique_ptr<std::byte[]> buffer = std::make_unique_for_overwrite<std::byte[]>(bytes);
    capi::heap_over_c<Flags> heap{buffer.get(), bytes};
  };
};

struct cached_in_a_buffer_model : in_a_buffer_model<MALLARD_CACHED> {
  [[maybe_unused]] static constexpr std::size_t largest_reused_align = MALLARD_ALIGNMENT;
  static constexpr bool grows_in_place = false;
};

struct reap_model : model {
  static constexpr bool grows_in_place = false;
  using heap = capi::heap_over_c<0, MALLARD_REAP>;
};

struct region_model : model {
  static constexpr bool reuses = false;
  using heap = capi::heap_over_c<0, MALLARD_REGION>;
};

struct segments_model : model {
  static constexpr bool grows_in_place = false;  // only what has segments of its own
  using heap = capi::heap_over_c<0, MALLARD_SEGMENTS>;
};

struct locked_segments_model : segments_model {
  using heap = capi::heap_over_c<MALLARD_LOCKED, MALLARD_SEGMENTS>;
};

const bool held = has_every_property<over_the_system_model>("c_over_the_system") &&
                  has_every_property<locked_over_the_system_model>("c_locked_over_the_system") &&
                  has_every_property<cached_over_the_system_model>("c_cached_over_the_system") &&
                  has_every_property<reap_model>("c_reap") && has_every_property<region_model>("c_region") &&
                  has_every_property<segments_model>("c_segments") &&
                  has_every_property<locked_segments_model>("c_locked_segments") &&
                  has_every_property<in_a_buffer_model<0>>("c_in_a_buffer") &&
                  has_every_property<cached_in_a_buffer_model>("c_cached_in_a_buffer") &&
                  has_every_property<in_a_buffer_model<MALLARD_LOCKED>>("c_locked_in_a_buffer");

}  // namespace
}  // namespace mallard::model
