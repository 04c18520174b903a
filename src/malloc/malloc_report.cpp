// What the malloc is told by the environment, and what it tells of itself.
//
//     MALLARD_MALLOC_DECAY_MS=N     milliseconds that freed memory stays with the process
//     MALLARD_MALLOC_HUGE_PAGES=1   asks the system for huge pages
//     MALLARD_MALLOC_STATS=1        mallard_malloc_stats() at exit
//
// Nothing here allocates. docs/malloc.md describes the figures.
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "malloc/heap_of_thread.hpp"

#define MALLARD_ENTRY extern "C" [[gnu::visibility("default")]]

namespace mallard::malloc_library {
namespace {

constinit bool tells_at_exit = false;

// A number in the environment; `otherwise` if there is none.
std::size_t option(const char* name, std::size_t otherwise) noexcept {
  const char* const text = ::getenv(name);
  if (text == nullptr || *text < '0' || *text > '9') return otherwise;
  return ::strtoul(text, nullptr, 10);
}

[[gnu::constructor(102)]] void read_options() noexcept {
  const std::size_t decay = option("MALLARD_MALLOC_DECAY_MS", shared_segments::default_keep_time);
  the_segments.set_keep_time(static_cast<std::uint32_t>(decay));
  the_segments.set_huge_pages(option("MALLARD_MALLOC_HUGE_PAGES", 0) != 0);
  tells_at_exit = option("MALLARD_MALLOC_STATS", 0) != 0;
}

struct sums {
  std::size_t heaps = 0;
  std::size_t slabs[heap::classes::count]{};
  std::size_t blocks[heap::classes::count]{};
};

// While other threads are at work the figures of their heaps are near what they were.
sums sum_of_heaps() noexcept {
  sums all;
  for_each_heap(
      [](const heap& h, void* with) {
        auto& total = *static_cast<sums*>(with);
        ++total.heaps;
        h.for_each_class([&total](std::size_t size, std::size_t slabs, std::size_t blocks) {
          const std::size_t index = heap::classes::index(size, 1);
          total.slabs[index] += slabs;
          total.blocks[index] += blocks;
        });
      },
      &all);
  return all;
}

template <class... Values>
void print(const char* format, Values... values) noexcept {
  char line[160];
  const int length = ::snprintf(line, sizeof line, format, values...);
  if (length > 0) (void)!::write(STDERR_FILENO, line, static_cast<std::size_t>(length));
}

}  // namespace
}  // namespace mallard::malloc_library

using namespace mallard::malloc_library;

MALLARD_ENTRY void mallard_malloc_stats() noexcept {
  const int saved_errno = errno;
  constexpr std::size_t kib = 1024;
  const mallard::segments_usage u = the_segments.usage();
  const sums all = sum_of_heaps();
  print(
      "mallard-malloc: %zu KiB in use of segments (most %zu), %zu KiB freed and kept, %zu KiB given back, "
      "%zu heaps\n",
      u.used / kib, u.peak / kib, u.dirty / kib, u.purged / kib, all.heaps);
  print("%10s %8s %12s %12s\n", "size", "slabs", "blocks", "KiB");
  for (std::size_t i = 0; i != heap::classes::count; ++i)
    if (all.slabs[i] != 0)
      print("%10zu %8zu %12zu %12zu\n", heap::classes::size(i), all.slabs[i], all.blocks[i],
            all.blocks[i] * heap::classes::size(i) / kib);
  errno = saved_errno;
}

MALLARD_ENTRY struct mallinfo2 mallinfo2() noexcept {
  const mallard::segments_usage u = the_segments.usage();
  const sums all = sum_of_heaps();
  std::size_t in_slabs = 0;
  std::size_t slabs = 0;
  for (std::size_t i = 0; i != heap::classes::count; ++i) {
    in_slabs += all.blocks[i] * heap::classes::size(i);
    slabs += all.slabs[i] * shared_segments::segment_bytes;
  }
  struct mallinfo2 result;
  memset(&result, 0, sizeof result);
  result.arena = u.used + u.dirty;
  result.uordblks = in_slabs + (u.used - slabs);
  result.fordblks = result.arena - result.uordblks;
  result.keepcost = u.dirty;
  return result;
}

namespace {

[[gnu::destructor(102)]] void tell_at_exit() noexcept {
  if (tells_at_exit) mallard_malloc_stats();
}

}  // namespace
