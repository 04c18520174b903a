// thread_multipool, and thread_heaps of other heaps: as shipped, with few classes, over a heap that is
// cleared, and beside others.
#include "mallard/heap/thread_multipool.hpp"

#include "mallard/heap/reap.hpp"
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

// A heap with headers, whose blocks of one size need not be equally large. Those that wait keep what is
// around them from being joined, and their headers count as carved until they are back: how much memory
// returns, and when, and that a refused request changes no figure, is for heaps of size classes to answer.
struct thread_reaps_model : model {
  using heap = thread_heaps<basic_reap<thread_pages<source>>>;
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

const bool held =
    has_every_property<thread_multipool_model>("thread_multipool") &&
    has_every_property<few_classes_model>("thread_multipool_of_few_classes") &&
    has_every_property<watched_model>("thread_multipool_whose_lock_is_watched") &&
    has_every_property<over_monotonic_model>("thread_multipool_over_monotonic") &&
    register_properties<
        thread_reaps_model, zero_bytes_are_a_block_of_their_own, blocks_have_the_alignment_asked_for,
        absurd_requests_are_null_and_change_nothing, a_burst_is_all_or_none,
        random_traces_over_an_exact_source, random_traces_over_a_source_of_pages,
        destruction_gives_every_chunk_back, an_exhausted_source_means_null, release_leaves_the_heap_as_new,
        clear_keeps_memory_for_the_same_work, trim_gives_back_what_no_block_needs, eight_threads_at_once,
        exhaustion_among_threads, threads_outlive_the_heap, thousands_of_heaps_live_at_once>(
        "thread_reaps") &&
    has_every_property<crowded_model>("thread_multipool_in_a_crowded_table");

}  // namespace
}  // namespace mallard::model
