// multipool over monotonic: a heap that ends its upstream along with itself.
#include "mallard/heap/multipool.hpp"
#include "model/every_property.hpp"

namespace mallard::model {
namespace {

// Blocks above the largest class, and chunks, are never reused by the monotonic upstream.
struct over_monotonic_model : model {
  static constexpr bool bursts_are_adjacent = true;
  using heap = basic_multipool<basic_monotonic<source>>;
  static constexpr std::size_t largest_reused_size = heap::classes::largest;
  static constexpr std::size_t largest_reused_align = heap::classes::max_align;
};

// As it is shipped, over pages of the system.
struct over_os_pages_model : over_monotonic_model {
  using heap = multipool_over_monotonic;
};

const bool held = has_every_property<over_monotonic_model>("multipool_over_monotonic") &&
                  has_every_property<over_os_pages_model>("multipool_over_monotonic_over_os_pages");

}  // namespace
}  // namespace mallard::model
