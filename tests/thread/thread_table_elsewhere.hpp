// What code in another shared object sees of what there is once in a process.
#pragma once

#include <cstdint>

#include "mallard/thread/thread_table.hpp"

namespace mallard {

struct seen_elsewhere {
  const light_mutex* ends;
  const thread_table* table;  // of the calling thread
  std::uint64_t key;          // new
};

seen_elsewhere see_elsewhere();

}  // namespace mallard
