// heap_of<Heap, Home>: a heap of the library behind a handle of mallard.h, in memory of its own.
//
//     Home  [ heap_of: vtable, bytes, Heap ......  | not used ]   --->  chunks, from Heap's source
//
// What Heap cannot do is answered as mallard.h says: a region frees nothing, and knows no block's size.
// `bytes` is what the object's place takes of the system or of a buffer; it counts as held. Cost: that place.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "capi/mallard_heap.hpp"
#include "mallard/core/burst.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/reallocate.hpp"
#include "mallard/source/default_source.hpp"

namespace mallard::capi {

// In pages of the system, or of the process's chunk cache.
struct own_pages {
  // An Object made of the size of its place and `args`; null if there is no memory for it.
  template <class Object, class... Args>
  [[nodiscard]] static Object* make(Args&&... args) noexcept {
    const block place = cached_pages().allocate(sizeof(Object), alignof(Object));
    return place ? ::new (place.data) Object(place.size, std::forward<Args>(args)...) : nullptr;
  }
  static void give_back(void* place, std::size_t bytes, std::size_t align) noexcept {
    cached_pages().deallocate(place, bytes, align);
  }
};

// At the start of the caller's buffer.
struct callers_buffer {
  static void give_back(void*, std::size_t, std::size_t) noexcept {}
};

template <class H>
concept behind_handle = clearable<H> && inspectable<H>;

template <behind_handle Heap, class Home>
class heap_of final : public mallard_heap {
 public:
  // The heap is made of `args`; `bytes` is the size of this object's place.
  template <class... Args>
  explicit heap_of(std::size_t bytes, Args&&... args) : bytes_(bytes), heap_(std::forward<Args>(args)...) {}

  [[nodiscard]] void* allocate(std::size_t size, std::size_t align) noexcept override {
    return heap_.allocate(size, align).data;
  }
  void deallocate([[maybe_unused]] void* p) noexcept override {
    if constexpr (freeable<Heap>) heap_.deallocate(p);
  }
  [[nodiscard]] void* reallocate(void* p, std::size_t size) noexcept override {
    if constexpr (freeable<Heap> && measurable<Heap>)
      return mallard::reallocate(heap_, p, size, MALLARD_ALIGNMENT);
    else
      return p == nullptr ? allocate(size, MALLARD_ALIGNMENT) : nullptr;
  }
  [[nodiscard]] std::size_t usable_size([[maybe_unused]] const void* p) const noexcept override {
    if constexpr (measurable<Heap>)
      return heap_.usable_size(p);
    else
      return 0;
  }
  [[nodiscard]] resize_result resize(allocation_type command, std::size_t limit, std::size_t preferred,
                                     void* reuse, const object_layout& objects) noexcept override {
    return resize_objects(heap_, command, limit, preferred, reuse, objects);
  }

  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    [[maybe_unused]] std::size_t contiguous) noexcept override {
    if constexpr (burst<Heap>)
      return heap_.allocate_burst(out, count, size, align, contiguous);
    else
      return all_or_none([&] { return allocate_each(heap_, out, count, size, align); });
  }
  [[nodiscard]] bool allocate_burst(chain& out, const std::size_t* lengths, std::size_t count,
                                    std::size_t unit, std::size_t align,
                                    [[maybe_unused]] std::size_t contiguous) noexcept override {
    if constexpr (burst_of_sizes<Heap>)
      return heap_.allocate_burst(out, lengths, count, unit, align, contiguous);
    else
      return all_or_none([&] { return allocate_each(heap_, out, lengths, count, unit, align); });
  }
  void deallocate_burst(chain& blocks) noexcept override {
    if constexpr (freeable<Heap>)
      deallocate_burst_any(heap_, blocks, MALLARD_ALIGNMENT);
    else
      blocks = chain{};
  }

  void adopt() noexcept override {
    if constexpr (requires { heap_.adopt(); }) heap_.adopt();
  }

  void clear() noexcept override { heap_.clear(); }
  std::size_t trim([[maybe_unused]] std::size_t keep) noexcept override {
    if constexpr (trimmable<Heap>)
      return heap_.trim(keep);
    else
      return 0;
  }
  // A child has chunks of its parent's upstream, and lies in pages of its own, which may outlive that.
  [[nodiscard]] mallard_status make_child([[maybe_unused]] mallard_heap*& made,
                                          [[maybe_unused]] nesting how) noexcept override {
    if constexpr (nestable<Heap> && std::same_as<Home, own_pages>) {
      made = Home::template make<heap_of>(heap_, how);
      return made != nullptr ? MALLARD_OK : MALLARD_OUT_OF_MEMORY;
    } else {
      return MALLARD_INVALID_ARGUMENT;
    }
  }
  [[nodiscard]] heap_usage usage() const noexcept override {
    heap_usage found = heap_.usage();
    found.held += bytes_;
    found.carved += bytes_;
    return found;
  }
  [[nodiscard]] violation validate() const noexcept override { return heap_.validate(); }

  void destroy() noexcept override {
    const std::size_t bytes = bytes_;
    std::destroy_at(this);
    Home::give_back(this, bytes, alignof(heap_of));
  }

 private:
  // Whether all blocks were allocated; on failure those already allocated are freed, if the heap can free
  // them.
  template <class Allocate>
  bool all_or_none(Allocate allocate) noexcept {
    if constexpr (rewindable<Heap> && !concurrent<Heap>) {
      const auto before = heap_.mark();
      const bool is_whole = allocate();
      if (!is_whole) heap_.rewind(before);
      return is_whole;
    } else {
      return allocate();
    }
  }

  std::size_t bytes_;
  Heap heap_;
};

}  // namespace mallard::capi
