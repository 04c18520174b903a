// thread_multipool: as shipped, with few classes, over a heap that is cleared, and beside others.
#include "mallard/heap/thread_multipool.hpp"

#include "model/every_property.hpp"
#include "watched_mutex.hpp"

namespace mallard::model {
namespace {

struct thread_multipool_model : model {
  using heap = basic_thread_multipool<source>;
};

struct few_classes_model : model {
  using heap =
      basic_thread_multipool<source, size_classes<16, 64, 1, 256>, doubling<256, 1024>, doubling<64, 128>>;
};

struct over_monotonic_model : model {
  using heap = basic_thread_multipool<basic_monotonic<source, doubling<4096, 65536>>>;
  static constexpr std::size_t largest_reused_size = heap::classes::largest;
  static constexpr std::size_t largest_reused_align = heap::classes::max_align;
};

// Requests for pages, for what a thread has, and for magazines ask for the lock.
struct watched_model : model {
  using heap = basic_thread_multipool<attended_requests<source>, size_classes<16, 64, 1, 256>,
                                      doubling<256, 1024>, doubling<64, 128>, watched_mutex>;
};

// Over pages, beside another one in use, which the thread has used last.
struct crowded_model : model {
  using heap = thread_multipool;

  struct neighbour {
    neighbour() { other.deallocate(other.allocate(48, 8).data, 48, 8); }
    thread_multipool other;
  };
  struct rig {
    neighbour beside;
    thread_multipool heap;
  };
};

const bool held = has_every_property<thread_multipool_model>("thread_multipool") &&
                  has_every_property<few_classes_model>("thread_multipool_of_few_classes") &&
                  has_every_property<watched_model>("thread_multipool_whose_lock_is_watched") &&
                  has_every_property<over_monotonic_model>("thread_multipool_over_monotonic") &&
                  has_every_property<crowded_model>("thread_multipool_in_a_crowded_table");

}  // namespace
}  // namespace mallard::model
