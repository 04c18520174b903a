// own_heaps: the library's heaps, a line each: what replays, tables and counts of instructions offer by name.
//
//     own_heaps.hpp --for_each_own_heap--> replay: those that serve any size, typed and through std::pmr
//                                      --> ./dev instructions: all
//
// The name is the heap's own (heap_name); the order is that of the tables. CONTRIBUTING.md, "A
// heap", has what else a new one needs.
#pragma once

#include <string_view>

#include "mallard/core/concepts.hpp"
#include "mallard/heap/adaptive_multipool.hpp"
#include "mallard/heap/adaptive_pool.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/per_class.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/heap/reap.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/heap/segment_heap.hpp"
#include "mallard/heap/sized_reap.hpp"
#include "mallard/heap/stack_arena.hpp"
#include "mallard/heap/stack_pattern.hpp"
#include "mallard/heap/synchronized_adaptive_pool.hpp"
#include "mallard/heap/synchronized_best_fit.hpp"
#include "mallard/heap/synchronized_multipool.hpp"
#include "mallard/heap/synchronized_pool.hpp"
#include "mallard/heap/thread_multipool.hpp"
#include "mallard/layer/locked.hpp"

namespace mallard::harness {

// Whether a program's blocks can be replayed against a heap, and what ends a pass: nothing where freed memory
// is reused, clear() where it is not.
enum class in_replay { no, freed, cleared };

// Heaps whose instructions are counted in one translation unit, as how much of a heap the compiler inlines
// depends on what else there is. A new heap is counted alone.
enum class counted_with {
  one_thread,
  regions,
  reaps,
  adaptive_pools,
  many_threads,
  general_many_threads,
  adaptive_pools_many_threads,
  alone
};

template <named Heap, in_replay Replay, counted_with Group>
struct own_heap {
  using type = Heap;
  static constexpr std::string_view name = heap_name<Heap>;
  static constexpr in_replay replay = Replay;
  static constexpr counted_with group = Group;

  const char* summary = "";  // of a strategy
};

// Calls `f` with the own_heap of each.
template <class F>
constexpr void for_each_own_heap(F f) {
  using enum in_replay;
  using with = counted_with;
  f(own_heap<monotonic, cleared, with::one_thread>{"memory that only grows, cleared after each pass"});
  f(own_heap<stack_arena<4096>, no, with::one_thread>{});
  f(own_heap<multipool, freed, with::one_thread>{"a pool a size class, larger blocks passed through"});
  f(own_heap<pool, no, with::one_thread>{});
  f(own_heap<lifo_multipool, freed, with::alone>{"multipool with one free list a class"});
  f(own_heap<fifo_multipool, freed, with::alone>{"multipool that reuses first what was freed first"});
  f(own_heap<multipool_over_monotonic, cleared, with::one_thread>{
      "pools over one monotonic, cleared after each pass"});
  f(own_heap<best_fit, freed, with::one_thread>{
      "the best fitting free block, joined with its neighbours when freed"});
  f(own_heap<region, no, with::regions>{});
  f(own_heap<stack_pattern, no, with::regions>{});
  f(own_heap<per_class, no, with::regions>{});
  f(own_heap<reap, freed, with::reaps>{"a region that frees single blocks, too: bumps, or best_fit"});
  f(own_heap<sized_reap, freed, with::reaps>{"the same without headers, by the sizes that come back"});
  f(own_heap<segment_heap, no, with::alone>{});  // replayed as the malloc that is made of it
  f(own_heap<synchronized_multipool, freed, with::many_threads>{
      "multipool for many threads, each with a cache"});
  f(own_heap<thread_multipool, freed, with::alone>{"a multipool for each thread; frees return to it"});
  f(own_heap<locked<multipool>, freed, with::many_threads>{"multipool for many threads, under one lock"});
  f(own_heap<synchronized_pool, no, with::many_threads>{});
  f(own_heap<synchronized_best_fit, no, with::general_many_threads>{
      "best_fit for many threads, each with a cache of small blocks"});
  f(own_heap<locked<best_fit>, no, with::general_many_threads>{"best_fit for many threads, under one lock"});
  f(own_heap<adaptive_pool, no, with::adaptive_pools>{});
  f(own_heap<adaptive_multipool, no, with::adaptive_pools>{});
  f(own_heap<synchronized_adaptive_pool, no, with::adaptive_pools_many_threads>{});
  f(own_heap<shared_adaptive_pool, no, with::adaptive_pools_many_threads>{});
}

}  // namespace mallard::harness
