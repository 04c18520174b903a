// thread_multipool: a multipool for each thread, and together one heap for all threads.
//
//     thread 1 --> magazines <--> multipool 1 --+
//     thread 2 --> magazines <--> multipool 2 --+--> chunks, under a lock --> Upstream
//     (ended)                     multipool 3 --+    for the next thread
//
// Any thread may free what another has allocated: a block returns to the multipool that it came from, in
// batches and without a lock (thread_heaps.hpp). The multipools are used without their own magazines; what a
// thread keeps in those in front of them is at most two batches a class, of 32 blocks or 4 KiB each.
// A thread takes 8 KiB, and then what a multipool holds for its blocks. What one thread has freed serves
// itself; when it has ended, or flushed, the next thread. Freed memory is kept as in multipool; 8 bytes are
// served as 16. It holds nothing until first used.
// Threads, forks and shared objects: as synchronized_multipool; but a thread that frees all it has allocated
// makes room for others only by ending or by flush(). Cost of a pair on one thread: 21 instructions for a
// block of known size, 31 otherwise. Seed 003, section 8.2 (thread-local pools).
#pragma once

#include <string_view>

#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/light_mutex.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/thread/owned_pages.hpp"
#include "mallard/thread/thread_heaps.hpp"

namespace mallard {

template <heap Upstream = default_source, class Classes = thread_heap_classes,
          growth_policy Growth = multipool_growth, growth_policy RunGrowth = multipool_run_growth,
          class Mutex = light_mutex>
using basic_thread_multipool =
    thread_heaps<basic_multipool<thread_pages<Upstream, Mutex>, Classes, Growth, RunGrowth>>;

using thread_multipool = basic_thread_multipool<>;

template <>
inline constexpr std::string_view heap_name<thread_multipool> = "threads/multipool";

}  // namespace mallard
