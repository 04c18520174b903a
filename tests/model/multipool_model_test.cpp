// multipool: as it is shipped, with one list a class in either order of reuse, and with few classes, small
// chunks and small slabs, where every path is short and taken often; over monotonic, a heap that ends its
// upstream along with itself.
#include "mallard/heap/multipool.hpp"

#include "model/every_property.hpp"

namespace mallard::model {
namespace {

struct multipool_model : model {
  static constexpr bool bursts_are_adjacent = true;
  static constexpr bool serves_as_new_when_cleared = true;
  using heap = basic_multipool<source>;
};

struct few_classes_model : model {
  static constexpr bool bursts_are_adjacent = true;
  static constexpr bool serves_as_new_when_cleared = true;
  using heap = basic_multipool<source, size_classes<16, 64, 1, 256>, doubling<256, 1024>, doubling<64, 128>>;
};

// Slabs of few blocks: each is emptied and passed on often.
struct small_slabs_model : model {
  static constexpr bool bursts_are_adjacent = true;
  static constexpr bool serves_as_new_when_cleared = true;
  using heap = basic_multipool<source, size_classes<8, 64, 8, 256>, doubling<256, 1024>, doubling<64, 128>,
                               intrusive_stack, 1024>;
};

struct lifo_model : model {
  static constexpr bool bursts_are_adjacent = true;
  static constexpr bool serves_as_new_when_cleared = true;
  using heap =
      basic_multipool<source, multipool_classes, multipool_growth, multipool_run_growth, intrusive_stack, 0>;
};

struct fifo_model : model {
  static constexpr bool bursts_are_adjacent = true;
  static constexpr bool serves_as_new_when_cleared = true;
  using heap = basic_multipool<source, size_classes<16, 64, 1, 256>, doubling<256, 1024>, doubling<64, 128>,
                               intrusive_queue>;
};

struct over_os_pages_model : model {
  static constexpr bool bursts_are_adjacent = true;
  using heap = multipool;
};

// Blocks above the largest class, and chunks, are never reused by the monotonic upstream.
struct over_monotonic_model : model {
  static constexpr bool bursts_are_adjacent = true;
  using heap = basic_multipool<basic_monotonic<source>>;
  static constexpr std::size_t largest_reused_size = heap::classes::largest;
  static constexpr std::size_t largest_reused_align = heap::classes::max_align;
};

// As it is shipped, over pages of the system.
struct over_monotonic_over_os_pages_model : over_monotonic_model {
  using heap = multipool_over_monotonic;
};

const bool held =
    has_every_property<multipool_model>("multipool") &&
    has_every_property<few_classes_model>("multipool_of_few_classes") &&
    has_every_property<small_slabs_model>("multipool_of_small_slabs") &&
    has_every_property<lifo_model>("lifo_multipool") && has_every_property<fifo_model>("fifo_multipool") &&
    has_every_property<over_os_pages_model>("multipool_over_os_pages") &&
    has_every_property<over_monotonic_model>("multipool_over_monotonic") &&
    has_every_property<over_monotonic_over_os_pages_model>("multipool_over_monotonic_over_os_pages");

}  // namespace
}  // namespace mallard::model
