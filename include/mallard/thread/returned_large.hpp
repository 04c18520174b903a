// returned_large: freed blocks of any size that any thread may add and one takes all of, without a lock.
//
//     top --> [below|size|align] --> [below|size|align] --> null        in the blocks themselves
//
// Large blocks come one by one, and each needs its size and alignment to be freed. All are taken at once, by
// an exchange, so no block can leave and come back while somebody looks at it (no ABA problem). What a thread
// has written before the push is visible to the thread that takes.
// Blocks have at least `least_block` bytes, at a multiple of a word. Cost: O(1), one contended word.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>

namespace mallard {

class returned_large {
 public:
  struct returned {
    returned* below;
    std::size_t size;  // in bytes, as it was freed with
    std::size_t align;
  };

  static constexpr std::size_t least_block = sizeof(returned);

  returned_large() = default;
  returned_large(const returned_large&) = delete;
  returned_large& operator=(const returned_large&) = delete;

  // Whether there was none a moment ago. Any thread.
  [[nodiscard]] bool empty() const noexcept { return top_.load(std::memory_order_relaxed) == nullptr; }

  // Any thread.
  void push(void* p, std::size_t size, std::size_t align) noexcept {
    auto* const added = ::new (p) returned{top_.load(std::memory_order_relaxed), size, align};
    while (!top_.compare_exchange_weak(added->below, added, std::memory_order_release,
                                       std::memory_order_relaxed)) {
    }
  }

  // Removes all and calls `free(p, size, align)` for each, the newest first. Any thread.
  template <class F>
  void take_all(F free) noexcept {
    returned* next = top_.exchange(nullptr, std::memory_order_acquire);
    while (next != nullptr) {
      const returned taken = *next;
      free(static_cast<void*>(next), taken.size, taken.align);
      next = taken.below;
    }
  }

  // Calls `f(returned)` with each. Precondition: no thread takes.
  template <class F>
  void for_each(F f) const noexcept {
    for (const returned* r = top_.load(std::memory_order_acquire); r != nullptr; r = r->below) f(*r);
  }

  // Forgets all. Precondition: no thread pushes.
  void clear() noexcept { top_.store(nullptr, std::memory_order_relaxed); }

 private:
  std::atomic<returned*> top_ = nullptr;
};

}  // namespace mallard
