// locked, over each kind of heap: with a mutex that tells whether it is held whenever the heap is entered,
// and as it is shipped.
#include "mallard/layer/locked.hpp"

#include <memory>

#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/layer/live_list.hpp"
#include "mallard/source/counting.hpp"
#include "mallard/source/fixed_buffer.hpp"
#include "model/every_property.hpp"
#include "watched_mutex.hpp"

// ThreadSanitizer does not learn that a std::mutex ends: of heaps that follow each other in one place, outer
// and inner lock change theirs, and it takes that for an inversion. Races are found as ever.
extern "C" const char* __tsan_default_options() { return "detect_deadlocks=0"; }

namespace mallard::model {
namespace {

template <class Heap>
using watched = locked<attended<Heap>, watched_mutex>;

struct multipool_model : model {
  using heap = watched<basic_multipool<source>>;
};

struct monotonic_model : model {
  using heap = watched<basic_monotonic<source>>;
  static constexpr bool reuses = false;
};

struct pool_model : model {
  using heap = watched<basic_pool<source>>;
  static constexpr std::size_t largest_size = 48;
  static constexpr std::size_t largest_align = 16;
  struct rig {
    watched<basic_pool<source>> heap{largest_size, largest_align};
  };
};

struct live_list_model : model {
  using heap = watched<live_list<source>>;
};

struct counting_model : model {
  using heap = watched<counting<source>>;
  static constexpr bool ends_its_blocks = false;
};

struct fixed_buffer_model : model {
  using heap = locked<fixed_buffer>;
  static constexpr bool ends_its_blocks = false;
  struct rig {
    static constexpr std::size_t bytes = std::size_t{1} << 25;
    std::unique_ptr<std::byte[]> buffer = std::make_unique_for_overwrite<std::byte[]>(bytes);
    locked<fixed_buffer> heap{buffer.get(), bytes};
  };
};

struct over_os_pages_model : model {
  using heap = locked<multipool>;
};

const bool held = has_every_property<multipool_model>("locked_multipool") &&
                  has_every_property<monotonic_model>("locked_monotonic") &&
                  has_every_property<pool_model>("locked_pool") &&
                  has_every_property<live_list_model>("locked_live_list") &&
                  has_every_property<counting_model>("locked_counting") &&
                  has_every_property<fixed_buffer_model>("locked_fixed_buffer") &&
                  has_every_property<over_os_pages_model>("locked_multipool_over_os_pages");

}  // namespace
}  // namespace mallard::model
