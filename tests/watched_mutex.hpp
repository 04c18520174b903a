// watched_mutex and attended: whether a lock is held where it must be, on every run, by no chance.
//
//     locked<attended<Heap>, watched_mutex>       each member of the heap asks: does my caller hold the lock?
//     a heap with a watched_mutex over attended_requests<Source>       the source asks, at each request
//     a heap with a watched_mutex over attended_blocks<Heap>           the heap asks, at each block
//
// A data race shows only when two threads meet; that a member was entered without the lock shows always.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <span>

#include "mallard/core/concepts.hpp"
#include "mallard/core/magazine.hpp"
#include "mallard/thread/thread_caches.hpp"

namespace mallard {

// A mutex that counts, for the calling thread: how many of its kind it holds, and how often it took one. A
// thread that holds one and asks again, which would wait for itself, ends the program.
class watched_mutex {
 public:
  void lock() {
    if (held_ != 0) {
      ADD_FAILURE() << "a thread asks for the lock that it has";
      std::abort();
    }
    mutex_.lock();
    ++held_;
    ++taken_;
  }

  bool try_lock() {
    if (held_ != 0 || !mutex_.try_lock()) return false;
    ++held_;
    ++taken_;
    return true;
  }

  void unlock() {
    --held_;
    mutex_.unlock();
  }

  [[nodiscard]] static std::size_t held() { return held_; }
  [[nodiscard]] static std::size_t taken() { return taken_; }

 private:
  static inline thread_local std::size_t held_ = 0;
  static inline thread_local std::size_t taken_ = 0;

  std::mutex mutex_;
};

// A source that complains of a request whose caller holds no watched_mutex. What comes back at quiet times,
// when a heap is released or ends, needs none.
template <heap Source>
class attended_requests : public Source {
 public:
  using Source::Source;

  block allocate(std::size_t size, std::size_t align) noexcept {
    EXPECT_EQ(watched_mutex::held(), 1u) << "a request without the lock";
    return Source::allocate(size, align);
  }
};

// A heap that complains, as a failure of the test, when blocks are taken or given back and the caller holds
// no watched_mutex: one that caches stand on, which is asked for all else at quiet times.
template <heap Heap>
class attended_blocks : public Heap {
 public:
  using Heap::Heap;

  block allocate(std::size_t size, std::size_t align) noexcept {
    enter("allocate");
    return Heap::allocate(size, align);
  }
  block allocate(std::size_t size, std::size_t align, bool& is_fresh) noexcept
    requires tells_fresh<Heap>
  {
    enter("allocate");
    return Heap::allocate(size, align, is_fresh);
  }
  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    enter("deallocate");
    Heap::deallocate(p, size, align);
  }
  void deallocate(void* p) noexcept
    requires freeable<Heap>
  {
    enter("deallocate by pointer");
    Heap::deallocate(p);
  }

  bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                      std::size_t contiguous) noexcept
    requires burst<Heap>
  {
    enter("allocate_burst");
    return Heap::allocate_burst(out, count, size, align, contiguous);
  }
  void deallocate_burst(chain& blocks, std::size_t size, std::size_t align) noexcept
    requires burst<Heap>
  {
    enter("deallocate_burst");
    Heap::deallocate_burst(blocks, size, align);
  }
  bool allocate_burst(chain& out, const std::size_t* lengths, std::size_t count, std::size_t unit,
                      std::size_t align, std::size_t contiguous) noexcept
    requires burst_of_sizes<Heap>
  {
    enter("allocate_burst of sizes");
    return Heap::allocate_burst(out, lengths, count, unit, align, contiguous);
  }
  void deallocate_burst(chain& blocks) noexcept
    requires burst_of_sizes<Heap>
  {
    enter("deallocate_burst of sizes");
    Heap::deallocate_burst(blocks);
  }
  std::size_t allocate_batch(std::size_t list, magazine::slot* end, std::size_t most) noexcept
    requires keeps_batches<Heap>
  {
    enter("allocate_batch");
    return Heap::allocate_batch(list, end, most);
  }
  void deallocate_batch(std::size_t list, std::span<const magazine::slot> blocks) noexcept
    requires keeps_batches<Heap>
  {
    enter("deallocate_batch");
    Heap::deallocate_batch(list, blocks);
  }

 protected:
  static void enter(const char* member) {
    if (watched_mutex::held() != 1)
      ADD_FAILURE() << member << " was entered with " << watched_mutex::held() << " locks held";
  }
};

// The same of all its members.
template <heap Heap>
class attended : public attended_blocks<Heap> {
 public:
  using attended_blocks<Heap>::attended_blocks;

  void release() noexcept
    requires releasable<Heap>
  {
    enter("release");
    Heap::release();
  }
  void clear() noexcept
    requires clearable<Heap>
  {
    enter("clear");
    Heap::clear();
  }
  std::size_t trim(std::size_t keep) noexcept
    requires trimmable<Heap>
  {
    enter("trim");
    return Heap::trim(keep);
  }
  void return_to_system(void* p, std::size_t size, std::size_t align) noexcept
    requires caching<Heap>
  {
    enter("return_to_system");
    Heap::return_to_system(p, size, align);
  }
  auto mark() const noexcept
    requires rewindable<Heap>
  {
    enter("mark");
    return Heap::mark();
  }
  void rewind(const auto& to) noexcept
    requires rewindable<Heap>
  {
    enter("rewind");
    Heap::rewind(to);
  }

  resize_result resize(const resize_request& request) noexcept
    requires resizable<Heap>
  {
    enter("resize");
    return Heap::resize(request);
  }
  std::size_t usable_size(const void* p) const noexcept
    requires measurable<Heap>
  {
    enter("usable_size");
    return Heap::usable_size(p);
  }
  std::size_t received_size(std::size_t size, std::size_t align) const noexcept
    requires predictable<Heap>
  {
    enter("received_size");
    return Heap::received_size(size, align);
  }
  bool owns(const void* p) const noexcept
    requires owning<Heap>
  {
    enter("owns");
    return Heap::owns(p);
  }
  std::size_t block_size() const noexcept
    requires fixed_size<Heap>
  {
    enter("block_size");
    return Heap::block_size();
  }
  std::size_t block_align() const noexcept
    requires fixed_size<Heap>
  {
    enter("block_align");
    return Heap::block_align();
  }

  heap_usage usage() const noexcept
    requires inspectable<Heap>
  {
    enter("usage");
    return Heap::usage();
  }
  violation validate() const noexcept
    requires inspectable<Heap>
  {
    enter("validate");
    return Heap::validate();
  }
  std::size_t held() const noexcept
    requires counted<Heap>
  {
    enter("held");
    return Heap::held();
  }
  std::size_t max_held() const noexcept
    requires counted<Heap>
  {
    enter("max_held");
    return Heap::max_held();
  }

 private:
  using attended_blocks<Heap>::enter;
};

}  // namespace mallard
