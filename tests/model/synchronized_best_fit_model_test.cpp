// synchronized_best_fit: as it is shipped, with chunks so small that every path is short, and in a buffer.
#include "mallard/heap/synchronized_best_fit.hpp"

#include <memory>

#include "mallard/source/fixed_buffer.hpp"
#include "model/every_property.hpp"
#include "watched_mutex.hpp"

namespace mallard::model {
namespace {

struct tagged : model {
  // A stricter one goes into a cache when it is freed by its pointer alone, and requests like it do not look
  // there.
  static constexpr std::size_t largest_reused_align = boundary_tag::granule;
  [[maybe_unused]] static constexpr std::size_t header_bytes = boundary_tag::overhead;
};

struct synchronized_best_fit_model : tagged {
  [[maybe_unused]] static constexpr bool bursts_are_adjacent = true;
  using heap = basic_synchronized_best_fit<source>;
};

// The source asks for the lock, and is asked often.
struct watched_model : tagged {
  [[maybe_unused]] static constexpr bool grows_in_place = false;
  using heap =
      basic_synchronized_best_fit<attended_requests<source>, doubling<256, 2048>, 4096, watched_mutex>;
};

// A buffer is all there is: what caches keep must come back before a request is refused.
struct in_a_buffer_model : tagged {
  using heap = basic_synchronized_best_fit<fixed_buffer>;
  struct rig {
    static constexpr std::size_t bytes = std::size_t{1} << 24;
    std::unique_ptr<std::byte[]> buffer = std::make_unique_for_overwrite<std::byte[]>(bytes);
    basic_synchronized_best_fit<fixed_buffer> heap{buffer.get(), bytes};
  };
};

const bool held = has_every_property<synchronized_best_fit_model>("synchronized_best_fit") &&
                  has_every_property<watched_model>("synchronized_best_fit_whose_lock_is_watched") &&
                  has_every_property<in_a_buffer_model>("synchronized_best_fit_in_a_buffer");

}  // namespace
}  // namespace mallard::model
