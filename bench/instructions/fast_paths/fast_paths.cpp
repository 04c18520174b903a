// The fast paths of typed heaps as functions of their own, to be read in the disassembly: docs/fast-paths.md
// shows each under its name, and disassembly.py makes that page from this file.

#include <cstddef>
#include <list>
#include <memory>

#include "mallard/allocator/allocator.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/heap/synchronized_multipool.hpp"
#include "mallard/heap/thread_multipool.hpp"

namespace {

struct item {
  void* words[6];
};

template <class Heap>
using items = mallard::allocator<item, Heap>;

using list = std::list<int, mallard::allocator<int, mallard::monotonic>>;

}  // namespace

extern "C" {

item* monotonic_allocate(mallard::monotonic& heap) { return items<mallard::monotonic>(heap).allocate(1); }

void* monotonic_allocate_aligned(mallard::monotonic& heap, std::size_t align) {
  return heap.allocate(sizeof(item), align).data;
}

void monotonic_deallocate(mallard::monotonic& heap, item* p) {
  items<mallard::monotonic>(heap).deallocate(p, 1);
}

void monotonic_list_end(list& ended) { std::destroy_at(&ended); }

item* multipool_allocate(mallard::multipool& heap) { return items<mallard::multipool>(heap).allocate(1); }

void multipool_deallocate(mallard::multipool& heap, item* p) {
  items<mallard::multipool>(heap).deallocate(p, 1);
}

void* multipool_allocate_sized(mallard::multipool& heap, std::size_t size, std::size_t align) {
  return heap.allocate(size, align).data;
}

void multipool_deallocate_sized(mallard::multipool& heap, void* p, std::size_t size, std::size_t align) {
  heap.deallocate(p, size, align);
}

item* pool_allocate(mallard::pool& heap) { return items<mallard::pool>(heap).allocate(1); }

void pool_deallocate(mallard::pool& heap, item* p) { items<mallard::pool>(heap).deallocate(p, 1); }

item* synchronized_multipool_allocate(mallard::synchronized_multipool& heap) {
  return items<mallard::synchronized_multipool>(heap).allocate(1);
}

void synchronized_multipool_deallocate(mallard::synchronized_multipool& heap, item* p) {
  items<mallard::synchronized_multipool>(heap).deallocate(p, 1);
}

item* thread_multipool_allocate(mallard::thread_multipool& heap) {
  return items<mallard::thread_multipool>(heap).allocate(1);
}

void thread_multipool_deallocate(mallard::thread_multipool& heap, item* p) {
  items<mallard::thread_multipool>(heap).deallocate(p, 1);
}

}  // extern "C"
