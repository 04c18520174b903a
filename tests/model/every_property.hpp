// Every property of the suite. A new capability adds its properties here and holds for all heaps that
// have it; a new heap adds one line in its own translation unit (model.hpp). In a fuzz target, bytes act on
// the heap instead (written_trace.hpp).
#pragma once

#if defined(MALLARD_FUZZED)

#include "model/written_trace.hpp"

#else

#include "model/model.hpp"
#include "model/properties/bursts.hpp"
#include "model/properties/concurrent.hpp"
#include "model/properties/exhaustion.hpp"
#include "model/properties/misused_blocks.hpp"
#include "model/properties/nesting.hpp"
#include "model/properties/object_stacks.hpp"
#include "model/properties/requests.hpp"
#include "model/properties/resizing.hpp"
#include "model/properties/traces.hpp"
#include "model/properties/whole_heap.hpp"

namespace mallard::model {

template <class M>
bool has_every_property(const char* heap) {
  return register_properties<
      M, zero_bytes_are_a_block_of_their_own, blocks_have_the_alignment_asked_for,
      absurd_requests_are_null_and_change_nothing, a_block_may_end_on_another_thread,
      received_sizes_are_predicted, a_burst_is_all_or_none, a_new_burst_is_adjacent_as_wished,
      bursts_and_single_blocks_mix, a_burst_of_sizes_has_each_in_its_place, resize_keeps_to_the_request,
      an_absurd_wish_does_not_spoil_the_limit, one_block_grows_where_it_is,
      a_block_grows_both_ways_by_whole_objects, random_traces_over_an_exact_source,
      random_traces_over_a_source_of_pages, destruction_gives_every_chunk_back,
      exhaustion_at_every_request_of_the_source, an_exhausted_source_means_null,
      what_was_refused_is_refused_again, an_empty_heap_serves_what_a_new_one_does,
      the_same_work_needs_no_more_memory, an_ended_block_serves_the_next_request,
      release_leaves_the_heap_as_new, clear_keeps_memory_for_the_same_work,
      trim_gives_back_what_no_block_needs, rewind_ends_what_came_after_the_mark,
      every_block_has_the_block_size, what_does_not_fit_is_null, what_comes_back_wrongly_is_told,
      a_write_beside_a_block_is_told, what_freed_blocks_keep_is_bounded, a_write_after_free_is_told,
      eight_threads_at_once, exhaustion_among_threads, threads_outlive_the_heap,
      rewind_ends_what_all_threads_allocated_since, memory_freed_elsewhere_comes_back,
      a_threads_end_leaves_its_memory_to_others, flush_leaves_its_memory_to_others,
      thousands_of_heaps_live_at_once, families_live_and_end_in_any_order, a_child_needs_no_memory,
      free_from_ends_a_block_and_what_came_after, an_object_grows_among_blocks>(heap);
}

}  // namespace mallard::model

#endif
