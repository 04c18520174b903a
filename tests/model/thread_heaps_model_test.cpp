// thread_heaps over reaps, which have headers: thread_multipool_model_test has it over pools.
#include "mallard/thread/thread_heaps.hpp"

#include "mallard/heap/reap.hpp"
#include "mallard/thread/owned_pages.hpp"
#include "model/every_property.hpp"

namespace mallard::model {
namespace {

// A heap with headers, whose blocks of one size need not be equally large. Those that wait keep what is
// around them from being joined, and their headers count as carved until they are back: how much memory
// returns, and when, and that a refused request changes no figure, is for heaps of size classes to answer.
struct thread_reaps_model : model {
  using heap = thread_heaps<basic_reap<thread_pages<source>>>;
};

const bool held = register_properties<
    thread_reaps_model, zero_bytes_are_a_block_of_their_own, blocks_have_the_alignment_asked_for,
    absurd_requests_are_null_and_change_nothing, a_burst_is_all_or_none, random_traces_over_an_exact_source,
    random_traces_over_a_source_of_pages, destruction_gives_every_chunk_back, an_exhausted_source_means_null,
    release_leaves_the_heap_as_new, clear_keeps_memory_for_the_same_work, trim_gives_back_what_no_block_needs,
    eight_threads_at_once, exhaustion_among_threads, threads_outlive_the_heap,
    thousands_of_heaps_live_at_once>("thread_reaps");

}  // namespace
}  // namespace mallard::model
