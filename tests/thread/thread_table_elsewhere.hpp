// What code in another shared object sees of what there is once in a process, and how it uses a heap.
#pragma once

#include <cstdint>

#include "mallard/heap/synchronized_multipool.hpp"
#include "mallard/thread/thread_table.hpp"

namespace mallard {

struct seen_elsewhere {
  const light_mutex* ends;
  const thread_table* table;  // of the calling thread
  std::uint64_t key;          // new
};

seen_elsewhere see_elsewhere();

// Allocates and frees blocks of some sizes, and looks whether the heap is sound.
violation use_elsewhere(synchronized_multipool& heap);

}  // namespace mallard
