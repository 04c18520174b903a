// Allocators and memory resources, and the containers that they are given to.
#include <cstddef>
#include <memory_resource>
#include <vector>

#include "mallard/allocator/allocator.hpp"
#include "mallard/allocator/v2_allocator.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/resource/resource.hpp"

// A class that allocates, but not as heaps do: it would throw where a heap returns null.
// error: /does not satisfy 'heap'|template constraint failure for .*allocator/
namespace allocator_of_no_heap {
#if defined(MISTAKE_ALLOCATOR_OF_NO_HEAP)
struct throwing {
  mallard::block allocate(std::size_t size, std::size_t align);
  void deallocate(void* p, std::size_t size, std::size_t align);
};
using heap = throwing;
#else
using heap = mallard::monotonic;
#endif

std::vector<int, mallard::allocator<int, heap>> empty(heap& h) {
  return std::vector<int, mallard::allocator<int, heap>>(h);
}
}  // namespace allocator_of_no_heap

// There is no heap by default: a container is given one.
// error: no heap: pass one to the container's constructor
namespace allocator_without_a_heap {
std::size_t size([[maybe_unused]] mallard::monotonic& heap) {
#if defined(MISTAKE_ALLOCATOR_WITHOUT_A_HEAP)
  const std::vector<int, mallard::allocator<int, mallard::monotonic>> numbers;
#else
  const std::vector<int, mallard::allocator<int, mallard::monotonic>> numbers(heap);
#endif
  return numbers.size();
}
}  // namespace allocator_without_a_heap

// A container takes a heap of the type that its own type names, and of no other.
// error: another heap: the allocator's second template argument must be its type
namespace container_of_another_heap {
#if defined(MISTAKE_CONTAINER_OF_ANOTHER_HEAP)
using heap = mallard::multipool;
#else
using heap = mallard::monotonic;
#endif

std::size_t size(heap& memory) {
  return std::vector<int, mallard::allocator<int, mallard::monotonic>>(memory).size();
}
}  // namespace container_of_another_heap

// The heap is part of the type: containers of different heaps are different, and so are their allocators.
// error: /no match for .operator=|no viable overloaded '='/
namespace containers_of_two_heaps {
#if defined(MISTAKE_CONTAINERS_OF_TWO_HEAPS)
using heap = mallard::multipool;
#else
using heap = mallard::monotonic;
#endif

void assign(std::vector<int, mallard::allocator<int, heap>>& to,
            const std::vector<int, mallard::allocator<int, mallard::monotonic>>& from) {
  to = from;
}
}  // namespace containers_of_two_heaps

// Every way to get memory is disabled.
// error: with every way to grow disabled nothing can be allocated
namespace v2_allocator_that_cannot_allocate {
using namespace mallard::commands;

#if defined(MISTAKE_V2_ALLOCATOR_THAT_CANNOT_ALLOCATE)
constexpr mallard::allocation_type disabled = allocate_new | expand_fwd | expand_bwd;
#else
constexpr mallard::allocation_type disabled = expand_fwd | expand_bwd;
#endif

using ints = mallard::v2_allocator<int, mallard::multipool, disabled>;
static_assert(sizeof(ints) == sizeof(void*));
}  // namespace v2_allocator_that_cannot_allocate

// A memory_resource is not a heap, and needs no facade.
// error: /does not satisfy 'heap'|template constraint failure for .*resource/
namespace resource_of_no_heap {
#if defined(MISTAKE_RESOURCE_OF_NO_HEAP)
mallard::resource<std::pmr::monotonic_buffer_resource> memory;
#else
mallard::resource<mallard::monotonic> memory;
#endif
}  // namespace resource_of_no_heap

// A resource owns its heap, so it is no more copied than the heap is.
// error: /use of deleted|selected deleted operator/
namespace assigning_a_resource {
void use(mallard::resource<mallard::monotonic>& to, mallard::resource<mallard::monotonic>& from) {
#if defined(MISTAKE_ASSIGNING_A_RESOURCE)
  to = from;
#else
  to.heap().release();
  from.heap().release();
#endif
}
}  // namespace assigning_a_resource
