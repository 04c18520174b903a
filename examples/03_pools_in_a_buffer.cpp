// Heaps are stacked by templates: pools over an arena over one buffer of the caller's. Nothing else is
// ever used, so an exhausted buffer is an exception at once and the program's memory is known beforehand.
#include <array>
#include <cstddef>
#include <cstdio>
#include <list>
#include <new>

#include "mallard/allocator/allocator.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace {

using arena = mallard::basic_monotonic<mallard::fixed_buffer>;
using pools = mallard::basic_multipool<arena>;

// Appends until the buffer is full; how many elements fitted.
std::size_t fill(std::list<long, mallard::allocator<long, pools>>& list) {
  try {
    for (;;) list.push_back(1);
  } catch (const std::bad_alloc&) {
    return list.size();
  }
}

}  // namespace

int main() {
  alignas(std::max_align_t) std::array<std::byte, 65536> buffer;
  pools heap(buffer.data(), buffer.size());
  std::list<long, mallard::allocator<long, pools>> list(heap);

  const std::size_t first = fill(list);
  std::printf("more than 1000 nodes fit into 64 KiB: %s\n", first > 1000 ? "yes" : "no");
  list.clear();
  std::printf("as many again after the list was cleared: %s\n", fill(list) == first ? "yes" : "no");
}

// It prints:
//     more than 1000 nodes fit into 64 KiB: yes
//     as many again after the list was cleared: yes
