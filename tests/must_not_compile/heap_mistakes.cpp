// Heaps, and the tables and layers that they are made of.
#include <utility>

#include "mallard/core/size_classes.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/reap.hpp"
#include "mallard/layer/locked.hpp"

// Blocks, facades and children hold a heap's address.
// error: /use of deleted|deleted constructor/
namespace copying_a_heap {
void use(mallard::multipool& heap) {
#if defined(MISTAKE_COPYING_A_HEAP)
  const mallard::multipool copy(heap);
#else
  const mallard::multipool& copy(heap);
#endif
  (void)copy.usage();
}
}  // namespace copying_a_heap

// A heap stays where it is: what it has handed out does not learn that it moved.
// error: /use of deleted|deleted constructor/
namespace moving_a_heap {
void use(mallard::monotonic& heap) {
#if defined(MISTAKE_MOVING_A_HEAP)
  const mallard::monotonic moved(std::move(heap));
#else
  const mallard::monotonic& moved(heap);
#endif
  (void)moved.usage();
}
}  // namespace moving_a_heap

// Its parent would change what they share without that lock.
// error: /no matching (function|constructor)/
namespace child_behind_a_lock {
void use(mallard::reap& parent) {
#if defined(MISTAKE_CHILD_BEHIND_A_LOCK)
  const mallard::locked<mallard::reap> child(parent, mallard::nesting::ends_with_parent);
#else
  const mallard::reap child(parent, mallard::nesting::ends_with_parent);
#endif
  (void)child.usage();
}
}  // namespace child_behind_a_lock

// The table of sizes has 32 bits for each.
// error: the table holds 32 bits a size
namespace size_classes_of_4_gib {
#if defined(MISTAKE_SIZE_CLASSES_OF_4_GIB)
using classes = mallard::size_classes<8, 64, 8, std::size_t{1} << 32>;
#else
using classes = mallard::size_classes<8, 64, 8, std::size_t{1} << 31>;
#endif
static_assert(classes::serves(classes::largest, 8));
}  // namespace size_classes_of_4_gib

// A least block of 24 bytes cannot be aligned to 16.
// error: so that every alignment up to it divides it
namespace size_classes_with_an_odd_least {
#if defined(MISTAKE_SIZE_CLASSES_WITH_AN_ODD_LEAST)
using classes = mallard::size_classes<8, 64, 8, 1024, 24>;
#else
using classes = mallard::size_classes<8, 64, 8, 1024, 32>;
#endif
static_assert(classes::serves(8, 16));
}  // namespace size_classes_with_an_odd_least
