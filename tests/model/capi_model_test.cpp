// The functions of mallard.h have every property of the model suite: over the system, in a buffer, and locked
// or cached, where threads are at once in them.
#include <algorithm>
#include <cstddef>
#include <memory>

#include "capi/handle.hpp"
#include "mallard.h"
#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/boundary_tag.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/resize.hpp"
#include "mallard/core/usage.hpp"
#include "model/every_property.hpp"

namespace mallard::capi {
namespace {

// heap_over_c<Flags, Kind>: the functions of mallard.h as a heap of the library, for the model suite to drive
// them.
//
//     model suite --> heap_over_c --> mallard_heap_... --> libmallard
//
// Sizes of commands are in objects: a resize is asked in objects as large as its step. What the heap itself
// takes is left out of the figures, so that they are those of its chunks. Of a region there is less here, as
// it knows less; what its blocks receive is what was asked for.
template <unsigned Flags, unsigned Kind = MALLARD_BEST_FIT>
class heap_over_c {
  static constexpr bool knows_blocks = Kind != MALLARD_REGION;

 public:
  static constexpr bool is_concurrent = (Flags & (MALLARD_LOCKED | MALLARD_CACHED)) != 0;
  static constexpr resize_way ways = resize_way::expand_forward | resize_way::expand_backward |
                                     resize_way::allocate_new | resize_way::shrink | resize_way::try_shrink;

  explicit heap_over_c(void* buffer = nullptr, std::size_t size = 0)
      : heap_(Flags, buffer, size, Kind), own_(heap_.statistics().held) {}

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    void* const p = mallard_heap_allocate_aligned(heap_.get(), align, size);
    EXPECT_TRUE(is_aligned(p, MALLARD_ALIGNMENT));
    if constexpr (knows_blocks)
      return received(p);
    else
      return {p, p == nullptr ? 0 : std::max<std::size_t>(size, 1)};
  }
  void deallocate(void* p) noexcept
    requires(knows_blocks)
  {
    mallard_heap_free(heap_.get(), p);
  }
  void deallocate(void* p, std::size_t, std::size_t) noexcept { mallard_heap_free(heap_.get(), p); }
  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept
    requires(knows_blocks)
  {
    return mallard_heap_usable_size(heap_.get(), p);
  }

  [[nodiscard]] resize_result resize(const resize_request& request) noexcept
    requires(knows_blocks)
  {
    const std::size_t limit = objects(request.limit, request.step);
    const std::size_t preferred = std::max(limit, request.preferred / request.step);
    const bool shrinks = has_way(request.ways, resize_way::shrink | resize_way::try_shrink);
    const mallard_command_result told = mallard_heap_allocation_command(
        heap_.get(), static_cast<unsigned>(request.ways), request.step, request.align, limit,
        shrinks ? request.preferred : preferred, request.data);
    return {received(told.first), told.reused};
  }

  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t contiguous) noexcept {
    mallard_chain c = to_c(out);
    const bool is_served = mallard_heap_allocate_nodes(heap_.get(), &c, count, size, align, contiguous);
    out = {c.first, c.last, c.count};
    return is_served;
  }
  [[nodiscard]] bool allocate_burst(chain& out, const std::size_t* lengths, std::size_t count,
                                    std::size_t unit, std::size_t align, std::size_t contiguous) noexcept {
    mallard_chain c = to_c(out);
    const bool is_served =
        mallard_heap_allocate_arrays(heap_.get(), &c, lengths, count, unit, align, contiguous);
    out = {c.first, c.last, c.count};
    return is_served;
  }
  void deallocate_burst(chain& blocks) noexcept
    requires(knows_blocks)
  {
    mallard_chain c = to_c(blocks);
    mallard_heap_free_chain(heap_.get(), &c);
    blocks = {c.first, c.last, c.count};
  }
  void deallocate_burst(chain& blocks, std::size_t, std::size_t) noexcept
    requires(knows_blocks)
  {
    deallocate_burst(blocks);
  }

  void clear() noexcept { mallard_heap_clear(heap_.get()); }
  std::size_t trim(std::size_t keep) noexcept
    requires(knows_blocks)
  {
    return mallard_heap_trim(heap_.get(), keep);
  }

  [[nodiscard]] heap_usage usage() const noexcept {
    const mallard_heap_statistics told = heap_.statistics();
    return {told.held - own_, told.held - own_ - told.cached, told.in_use};
  }
  [[nodiscard]] violation validate() const noexcept { return {mallard_heap_validate(heap_.get())}; }

 private:
  // As many as hold these bytes.
  static std::size_t objects(std::size_t bytes, std::size_t size) noexcept {
    return bytes / size + static_cast<std::size_t>(bytes % size != 0);
  }
  static mallard_chain to_c(const chain& c) noexcept { return {c.front(), c.back(), c.size()}; }

  [[nodiscard]] block received(void* p) const noexcept { return {p, usable_size(p)}; }

  handle heap_;
  std::size_t own_;  // bytes held by a heap without blocks
};

}  // namespace
}  // namespace mallard::capi

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
