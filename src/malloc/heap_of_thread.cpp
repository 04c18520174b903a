#include "malloc/heap_of_thread.hpp"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <new>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard::malloc_library {

constinit shared_segments the_segments;
constinit heap no_heap{the_segments};
__thread heap* mine = &no_heap;
__thread heap* set_aside = nullptr;

namespace {

// A heap in the list of all, and of those without a thread.
struct listed_heap {
  heap of_thread{the_segments};
  listed_heap* older = nullptr;
  listed_heap* idle = nullptr;
  pools_of_heap pools;
};

constinit futex_mutex heaps_mutex;
alignas(listed_heap) constinit std::byte first_heap[sizeof(listed_heap)]{};  // of the main thread
constinit std::atomic<listed_heap*> newest = nullptr;                        // the list only grows
constinit listed_heap* first_idle = nullptr;
constinit std::byte* unused = nullptr;  // memory for heaps and pools
constinit std::size_t unused_bytes = 0;
constinit bool has_key = false;
constinit pthread_key_t key = 0;

// Other locks of this library.
constinit futex_mutex* others[4]{};
constinit std::size_t other_count = 0;

constinit thread_listener* at_end = nullptr;  // of a thread

__thread bool has_ended = false;
constinit std::atomic<const void*> forking = nullptr;  // the thread that is, by the address of its `mine`

// Of a heap that is the first member of its entry.
listed_heap* entry_of(heap* h) noexcept { return reinterpret_cast<listed_heap*>(h); }

void make_idle(heap* h) noexcept {
  h->send_batch();
  h->collect();
  for (pool* p = entry_of(h)->pools.newest; p != nullptr; p = p->older) (void)p->trim(0);
  const std::lock_guard guard(heaps_mutex);
  entry_of(h)->idle = std::exchange(first_idle, entry_of(h));
}

// Called with the heap of a thread that ends. What later destructors allocate comes from a borrowed one.
void end_of_thread(void* h) noexcept {
  mine = &no_heap;
  set_aside = nullptr;
  if (at_end != nullptr) at_end();
  has_ended = true;
  make_idle(static_cast<heap*>(h));
}

// Under the lock. Null when there is no memory.
void* take_unused(std::size_t bytes) noexcept {
  bytes = align_up(bytes, alignof(listed_heap));
  if (unused_bytes < bytes) {
    const block pages = os_pages().allocate(16 * bytes, os_pages::page_size());
    if (!pages) return nullptr;
    unused = static_cast<std::byte*>(pages.data);
    unused_bytes = pages.size;
  }
  unused_bytes -= bytes;
  return std::exchange(unused, unused + bytes);
}
listed_heap* make_heap() noexcept {
  if (newest == nullptr) {
    newest.store(::new (first_heap) listed_heap, std::memory_order_release);
    return newest;
  }
  void* const place = take_unused(sizeof(listed_heap));
  if (place == nullptr) return nullptr;
  auto* const made = ::new (place) listed_heap;
  made->older = newest;
  newest.store(made, std::memory_order_release);
  return made;
}

// The locks are held while a process forks, so that the child finds what they guard whole. Heaps of threads
// that the child does not have may be in the middle of an operation: nobody uses them there, and what is
// freed to them stays with them.
void before_fork() noexcept {
  heaps_mutex.lock();
  the_segments.before_fork();
  for (std::size_t i = 0; i != other_count; ++i) others[i]->lock();
  forking.store(static_cast<const void*>(&mine), std::memory_order_relaxed);
}
void after_fork() noexcept {
  forking.store(nullptr, std::memory_order_relaxed);
  for (std::size_t i = other_count; i-- != 0;) others[i]->unlock();
  the_segments.after_fork();
  heaps_mutex.unlock();
}

constinit std::atomic<bool> are_registered = false;

}  // namespace

[[gnu::constructor(101)]] void register_for_forks() noexcept {
  if (!are_registered.exchange(true)) (void)::pthread_atfork(before_fork, after_fork, after_fork);
}

void borrowed_heap::acquire() noexcept {
  if ((heap_ = set_aside) != nullptr) return;
  const int saved_errno = errno;
  {
    const std::lock_guard guard(heaps_mutex);
    if (!has_key) has_key = ::pthread_key_create(&key, end_of_thread) == 0;
    listed_heap* const found =
        first_idle != nullptr ? std::exchange(first_idle, first_idle->idle) : make_heap();
    if (found != nullptr) heap_ = &found->of_thread;
  }
  if (heap_ == nullptr) {
    errno = saved_errno;
    return;
  }
  is_borrowed_ = has_ended;
  if (!is_borrowed_) {
    mine = heap_;  // before the next call, which may allocate
    if (has_key) (void)::pthread_setspecific(key, heap_);
    register_for_forks();  // of the first thread, mostly: long before all constructors have run
  }
  errno = saved_errno;
}

pools_of_heap& pools_of(heap* h) noexcept { return entry_of(h)->pools; }

void* lasting_memory(std::size_t bytes) noexcept {
  const int saved_errno = errno;
  const std::lock_guard guard(heaps_mutex);
  void* const place = take_unused(bytes);
  errno = saved_errno;
  return place;
}

void borrowed_heap::give_back() noexcept { make_idle(heap_); }

std::size_t trim_with_pools(heap* h) noexcept {
  std::size_t given = h->trim(0);
  for (pool* p = pools_of(h).newest; p != nullptr; p = p->older) given += p->trim(0);
  return given;
}

void give_sparse_pages(heap* h) noexcept {
  h->own_slabs().give_pages();
  for (pool* p = pools_of(h).newest; p != nullptr; p = p->older) p->give_pages();
}

std::size_t trim_idle_heaps() noexcept {
  const std::lock_guard guard(heaps_mutex);
  std::size_t given = 0;
  for (listed_heap* h = first_idle; h != nullptr; h = h->idle) given += trim_with_pools(&h->of_thread);
  return given;
}

void for_each_heap(void (*f)(const heap&, void*), void* with) noexcept {
  for (const listed_heap* h = newest.load(std::memory_order_acquire); h != nullptr; h = h->older)
    f(h->of_thread, with);
}

void hold_over_forks(futex_mutex& mutex) noexcept { others[other_count++] = &mutex; }

void hear_of_threads(thread_listener* ended) noexcept { at_end = ended; }

bool futex_mutex::is_forking() noexcept {
  return forking.load(std::memory_order_relaxed) == static_cast<const void*>(&mine);
}

void futex_mutex::wait() noexcept {
  if (is_forking()) return;
  const int saved_errno = errno;
  for (int i = 0; i != 16; ++i) {
    ::sched_yield();
    int expected = is_free;
    if (state_.compare_exchange_strong(expected, is_taken, std::memory_order_acquire)) return;
  }
  while (state_.exchange(is_awaited, std::memory_order_acquire) != is_free)
    ::syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, is_awaited, nullptr);
  errno = saved_errno;
}

void futex_mutex::wake() noexcept {
  const int saved_errno = errno;
  ::syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1);
  errno = saved_errno;
}

}  // namespace mallard::malloc_library
