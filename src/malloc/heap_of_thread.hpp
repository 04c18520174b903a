// heap_of_thread: the heap that each thread allocates from, and the segments that all of them share.
//
//     thread 1 --> heap --+
//     thread 2 --> heap --+--> the_segments          a free of another thread's block: its heap's receive()
//     (ended)      heap --+      idle, for the next thread
//
// A thread has no heap before its first allocation and after its last destructors. `mine` is no_heap then,
// which has no free block and owns none, so the inline paths need no test for it.
// There are as many heaps as threads have allocated at the same time; they are never unmapped.
#pragma once

#include <atomic>
#include <cstddef>

#include "mallard/core/attributes.hpp"
#include "mallard/core/light_mutex.hpp"
#include "mallard/heap/segment_heap.hpp"
#include "mallard/source/segments.hpp"

namespace mallard::malloc_library {

// A lock of one word that sleeps in the kernel: what light_mutex is, without the C++ runtime. A thread that
// forks holds all of them meanwhile, and may still allocate: handlers of fork() that were registered before
// this library's run between these.
class futex_mutex {
 public:
  constexpr futex_mutex() = default;
  futex_mutex(const futex_mutex&) = delete;
  futex_mutex& operator=(const futex_mutex&) = delete;

  // While there is one thread, only a fork can have taken it.
  void lock() noexcept {
    int expected = is_free;
    if (light_mutex::is_alone() && state_.load(std::memory_order_relaxed) == is_free) {
      state_.store(is_taken, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_acquire);
    } else if (!state_.compare_exchange_strong(expected, is_taken, std::memory_order_acquire)) {
      wait();
    }
  }
  // While there is one thread, no other can wait.
  void unlock() noexcept {
    if (is_forking()) return;
    if (light_mutex::is_alone())
      state_.store(is_free, std::memory_order_release);
    else if (state_.exchange(is_free, std::memory_order_release) == is_awaited)
      wake();
  }

 private:
  static constexpr int is_free = 0;
  static constexpr int is_taken = 1;
  static constexpr int is_awaited = 2;

  static bool is_forking() noexcept;  // the calling thread
  void wait() noexcept;
  void wake() noexcept;

  std::atomic<int> state_ = is_free;
};

// Registers what holds these locks while the process forks, once. Whoever registers earlier has a handler
// that runs while they are held.
void register_for_forks() noexcept;

// Has a lock held while the process forks, too: at most four, before any thread is started. A thread that
// holds one of them takes no heap's lock meanwhile.
void hold_over_forks(futex_mutex& mutex) noexcept;

using thread_listener = void() noexcept;

// Has `ended` called by each thread that gives up its heap, before another one may have it. Once, before any
// thread is started.
void hear_of_threads(thread_listener* ended) noexcept;

using shared_segments = basic_segments<futex_mutex>;
using heap = lasting_segment_heap<shared_segments>;

// Of the process. A hidden symbol is found without a table.
[[gnu::visibility("hidden")]] extern shared_segments the_segments;
[[gnu::visibility("hidden")]] extern heap no_heap;
[[gnu::visibility("hidden")]] extern __thread heap* mine __attribute__((tls_model("initial-exec")));
// The calling thread's heap where `mine` is no_heap though it has one: so that each of its frees is seen.
[[gnu::visibility("hidden")]] extern __thread heap* set_aside __attribute__((tls_model("initial-exec")));

// The calling thread's heap for one operation. A thread that runs its last destructors borrows one.
class borrowed_heap {
 public:
  borrowed_heap() noexcept : heap_(mine) {
    if (heap_ == &no_heap) [[unlikely]]
      acquire();
  }
  ~borrowed_heap() {
    if (is_borrowed_) [[unlikely]]
      give_back();
  }
  borrowed_heap(const borrowed_heap&) = delete;
  borrowed_heap& operator=(const borrowed_heap&) = delete;

  // False when there is no memory for a heap.
  [[nodiscard]] explicit operator bool() const noexcept { return heap_ != nullptr; }
  heap* operator->() const noexcept { return heap_; }

 private:
  void acquire() noexcept;
  void give_back() noexcept;

  heap* heap_;
  bool is_borrowed_ = false;
};

// The slab of a pool that a block was taken from last. Code that chooses from many pools finds it beside
// those of the others; the pool itself has two lines for it that are in no cache.
struct remembered_slab {
  segment* slab = nullptr;
  std::uint32_t first = 0;  // of the steps of sizes that it serves
  std::uint32_t steps = 0;

  [[nodiscard]] MALLARD_INLINE bool serves(std::size_t size) const noexcept {
    return (size + (heap::classes::step - 1)) / heap::classes::step - first < steps;
  }
};

// Slabs beside a heap's own, which it owns as well.
struct pool final : heap::slabs {
  pool(const heap* of, std::uint32_t n, remembered_slab* r, extent of_slab) noexcept
      : heap::slabs(the_segments, of, false, of_slab), number(n), remembered(r) {}

  // The slab that blocks of `size` bytes, at most `small`, are taken from now.
  void remember(std::size_t size) noexcept {
    segment& s = slab_at_hand(size);
    const std::size_t end = heap::classes::size(s.index) / heap::classes::step + 1;
    const std::size_t first = s.index == 0 ? 0 : heap::classes::size(s.index - 1u) / heap::classes::step + 1;
    *remembered = {&s, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first)};
  }
  void notice(segment& s) noexcept override {
    if (remembered->slab == &s) *remembered = {};
    heap::slabs::notice(s);
  }
  std::size_t trim(std::size_t keep) noexcept {
    *remembered = {};
    return heap::slabs::trim(keep);
  }

  std::uint32_t number;
  remembered_slab* remembered;
  pool* older = nullptr;
};

// What a plan gives a heap beside its own slabs; null before the first routed call (routes.hpp).
struct pools_of_heap {
  segment_keeper** by_number = nullptr;
  remembered_slab* remembered = nullptr;  // likewise
  std::atomic<pool*> newest = nullptr;    // the list only grows
};
pools_of_heap& pools_of(heap* h) noexcept;

// Memory that lasts as long as the process, zero; null when there is none.
void* lasting_memory(std::size_t bytes) noexcept;

// Gives back what a heap of the calling thread and its pools hold and nobody uses; returns the bytes.
std::size_t trim_with_pools(heap* h) noexcept;

// Gives back the pages between blocks of a heap of the calling thread and its pools: of those that no longer
// grow, too. O(their slabs).
void give_sparse_pages(heap* h) noexcept;

// Gives back what heaps without a thread hold and nobody uses; returns the bytes. O(their slabs).
std::size_t trim_idle_heaps() noexcept;

// Calls f(heap) for each heap, idle ones included. Their figures are approximate. It takes no lock: a handler
// of a signal may call it, whatever it has interrupted.
void for_each_heap(void (*f)(const heap&, void*), void* with) noexcept;

}  // namespace mallard::malloc_library
