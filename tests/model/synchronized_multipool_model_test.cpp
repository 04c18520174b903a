// synchronized_multipool: as it is shipped, with few classes, over a heap that is cleared, and beside others.
#include "mallard/heap/synchronized_multipool.hpp"

#include "model/every_property.hpp"
#include "watched_mutex.hpp"

namespace mallard::model {
namespace {

struct synchronized_multipool_model : model {
  using heap = basic_synchronized_multipool<source>;
};

struct few_classes_model : model {
  using heap = basic_synchronized_multipool<source, size_classes<16, 64, 1, 256>, doubling<256, 1024>,
                                            doubling<64, 128>>;
};

struct over_monotonic_model : model {
  using heap = basic_synchronized_multipool<basic_monotonic<source>>;
  static constexpr std::size_t largest_reused_size = heap::classes::largest;
  static constexpr std::size_t largest_reused_align = heap::classes::max_align;
};

// Chunks so small that requests for blocks and for caches often reach the source, which asks for the lock.
struct watched_model : model {
  using heap = basic_synchronized_multipool<attended_requests<source>, size_classes<16, 64, 1, 256>,
                                            doubling<256, 1024>, doubling<64, 128>, watched_mutex>;
};

// Over pages, beside another one in use whose key belongs into the same slot of a thread's first table.
struct crowded_model : model {
  using heap = synchronized_multipool;

  struct neighbour {
    neighbour() {
      other.deallocate(other.allocate(48, 8).data, 48, 8);
      for (int taken = 1; taken < 8; ++taken) (void)thread_table::new_key();
    }
    synchronized_multipool other;
  };
  struct rig {
    neighbour beside;
    synchronized_multipool heap;
  };
};

const bool held = has_every_property<synchronized_multipool_model>("synchronized_multipool") &&
                  has_every_property<few_classes_model>("synchronized_multipool_of_few_classes") &&
                  has_every_property<watched_model>("synchronized_multipool_whose_lock_is_watched") &&
                  has_every_property<over_monotonic_model>("synchronized_multipool_over_monotonic") &&
                  has_every_property<crowded_model>("synchronized_multipool_in_a_crowded_table");

}  // namespace
}  // namespace mallard::model
