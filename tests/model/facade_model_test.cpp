// The facades, held to the properties of heaps: what resource and allocator add must lose nothing of
// what the heap below guarantees.
#include <algorithm>
#include <new>

#include "mallard/allocator/allocator.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/resource/resource.hpp"
#include "model/every_property.hpp"

namespace mallard::model {
namespace {

// A heap whose every block goes through resource<Heap>. The facade tells no received sizes.
template <class Heap>
class through_resource {
 public:
  using upstream_type = Heap;
  Heap& upstream() noexcept { return facade_.heap(); }

  block allocate(std::size_t size, std::size_t align) noexcept {
    try {
      return {facade_.allocate(size, align), std::max<std::size_t>(size, 1)};
    } catch (const std::bad_alloc&) {
      return {};
    }
  }
  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    facade_.deallocate(p, size, align);
  }

 private:
  resource<Heap> facade_;
};

// A heap whose every block goes through allocator<std::byte, Heap>.
template <class Heap>
class through_allocator {
 public:
  using upstream_type = Heap;
  Heap& upstream() noexcept { return heap_; }

  block allocate(std::size_t size, std::size_t) noexcept {
    try {
      const auto received = allocator<std::byte, Heap>(heap_).allocate_at_least(size);
      return {received.ptr, received.count};
    } catch (const std::bad_alloc&) {
      return {};
    }
  }
  void deallocate(void* p, std::size_t size, std::size_t) noexcept {
    allocator<std::byte, Heap>(heap_).deallocate(static_cast<std::byte*>(p), size);
  }

 private:
  Heap heap_;
};

struct resource_model : model {
  using heap = through_resource<basic_multipool<source>>;
};

struct monotonic_resource_model : model {
  using heap = through_resource<basic_monotonic<source>>;
  static constexpr bool reuses = false;
};

struct allocator_model : model {
  using heap = through_allocator<basic_multipool<source>>;
  static constexpr std::size_t largest_align = alignof(std::byte);
};

const bool held = has_every_property<resource_model>("resource_of_multipool") &&
                  has_every_property<monotonic_resource_model>("resource_of_monotonic") &&
                  has_every_property<allocator_model>("allocator_of_multipool");

}  // namespace
}  // namespace mallard::model
