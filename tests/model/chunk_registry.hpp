// chunk_registry and probe: the source under a heap in the model suite, and its independent records.
//
//     heap under test --chunks--> probe --entries--> chunk_registry   (of the running test)
//
// A probe gives what was asked for and no more, so that a sanitizer sees a step beyond it; it is full of
// garbage, so that no heap may count on zeros; and it has the alignment asked for, but never twice that, at
// the same place of 64 KiB always, more than any slab is aligned to, so that what a heap loses by padding,
// and how often it asks, is the same in each run. The chunk_registry writes down each chunk and complains, as
// a failure of the test, when one is given back twice, with a size or alignment that was never agreed, or not
// at all.
//
// A heap is default-constructed with its source inside, so a probe takes the chunk_registry that was opened
// last. Registries nest; all members but the constructor and the destructor may be called by any thread.
// A probe is not concurrent, as most sources: it complains about a thread that comes in while another one
// is inside, and lets the others run in between, so that they do come, as long as there is a crowd. Without
// one it does not: each time might cost a share of the processor, where other programs wait for it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <thread>

#include "mallard/core/align.hpp"
#include "mallard/core/concepts.hpp"
#include "model/chunk_memory.hpp"

namespace mallard::model {

// How many bytes a request for n receives: n, or as many as fill whole pages.
enum class sizing { exact, paged };

class chunk_registry {
 public:
  explicit chunk_registry(sizing s = sizing::exact) : sizing_(s), previous_(innermost) { innermost = this; }
  chunk_registry(const chunk_registry&) = delete;
  chunk_registry& operator=(const chunk_registry&) = delete;

  ~chunk_registry() {
    innermost = previous_;
    EXPECT_EQ(chunks_.size(), 0u) << "chunks never given back, " << held_ << " bytes";
    for (const auto& [start, chunk] : chunks_) release(start, chunk);
  }

  [[nodiscard]] static chunk_registry* current() { return innermost; }

  // From now on at most this many bytes are out at a time.
  void bound(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    bound_ = bytes;
  }

  [[nodiscard]] block hand_out(std::size_t size, std::size_t align) {
    const std::lock_guard lock(mutex_);
    if (!is_valid_align(align)) {
      ADD_FAILURE() << "a chunk was asked for with alignment " << align;
      return {};
    }
    const std::size_t received = received_size(size, align);
    if (received == 0 || received > bound_ || held_ > bound_ - received) return {};
    std::byte* const data = chunk_memory::instance().take(received, align);
    if (data == nullptr) return {};
    std::memset(data, garbage, received);
    chunks_[address_of(data)] = {size, received, align, true};
    held_ += received;
    max_held_ = std::max(max_held_, held_);
    return {data, received};
  }

  void take_back(void* p, std::size_t size, std::size_t align) {
    const std::lock_guard lock(mutex_);
    const auto found = chunks_.find(address_of(p));
    if (found == chunks_.end()) {
      ADD_FAILURE() << "a chunk was given back that is not held";
      return;
    }
    const entry chunk = found->second;
    EXPECT_GE(size, chunk.requested) << "a chunk was given back with less than was requested";
    EXPECT_LE(size, chunk.received) << "a chunk was given back with more than was received";
    EXPECT_EQ(align, chunk.align) << "a chunk was given back with another alignment";
    held_ -= chunk.received;
    chunks_.erase(found);
    release(address_of(p), chunk);
  }

  // Memory of somebody else's that a heap may use from now on, until it is taken back.
  void add(std::byte* data, std::size_t size) {
    const std::lock_guard lock(mutex_);
    chunks_[address_of(data)] = {size, size, 1, false};
    held_ += size;
    max_held_ = std::max(max_held_, held_);
  }

  // Bytes that a request receives; 0 when it cannot be served.
  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const {
    if (size > limit || align > limit) return 0;
    const std::size_t least = size == 0 ? 1 : size;
    return sizing_ == sizing::exact ? least : align_up(least, page);
  }

  // Whether [p, p + size) lies inside one chunk that is held.
  [[nodiscard]] bool covers(const void* p, std::size_t size) const {
    const std::lock_guard lock(mutex_);
    auto above = chunks_.upper_bound(address_of(p));
    if (above == chunks_.begin()) return false;
    const auto& [start, chunk] = *--above;
    const std::size_t offset = address_of(p) - start;
    return offset <= chunk.received && size <= chunk.received - offset;
  }

  [[nodiscard]] std::size_t held() const { return read(held_); }
  [[nodiscard]] std::size_t max_held() const { return read(max_held_); }

 private:
  struct entry {
    std::size_t requested, received, align;  // bytes
    bool is_handed_out;                      // or else added
  };

  static void release(std::uintptr_t start, const entry& chunk) {
    if (!chunk.is_handed_out) return;
    chunk_memory::instance().give_back(reinterpret_cast<std::byte*>(start), chunk.received, chunk.align);
  }

  static constexpr std::size_t page = 4096;
  static constexpr std::size_t limit = std::size_t{1} << 30;  // what a machine is sure not to run out of
  static constexpr int garbage = 0xa5;

  [[nodiscard]] std::size_t read(const std::size_t& figure) const {
    const std::lock_guard lock(mutex_);
    return figure;
  }

  static inline chunk_registry* innermost = nullptr;

  const sizing sizing_;
  chunk_registry* const previous_;
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, entry> chunks_;
  std::size_t held_ = 0;
  std::size_t max_held_ = 0;
  std::size_t bound_ = SIZE_MAX;
};

// While one lives, several threads are at work.
class crowd {
 public:
  crowd() { ++crowds; }
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;
  ~crowd() { --crowds; }

  [[nodiscard]] static bool exists() { return crowds.load(std::memory_order_relaxed) != 0; }

 private:
  static inline std::atomic<int> crowds = 0;
};

// The source itself: a heap, and the simplest one that the suite holds to its properties.
class probe {
 public:
  probe() noexcept : registry_(*chunk_registry::current()) {}
  probe(const probe&) = delete;
  probe& operator=(const probe&) = delete;

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    const visit alone(visitors_);
    return registry_.hand_out(size, align);
  }
  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    const visit alone(visitors_);
    registry_.take_back(p, size, align);
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    return registry_.received_size(size, align);
  }

  [[nodiscard]] std::size_t held() const noexcept { return registry_.held(); }
  [[nodiscard]] std::size_t max_held() const noexcept { return registry_.max_held(); }

  [[nodiscard]] heap_usage usage() const noexcept { return {held(), held(), held()}; }
  [[nodiscard]] static violation validate() noexcept { return {}; }

 private:
  // Relaxed: it must see what happens, and not put the threads in an order that hides races from a sanitizer.
  class visit {
   public:
    explicit visit(std::atomic<int>& visitors) : visitors_(visitors) {
      EXPECT_EQ(visitors_.fetch_add(1, std::memory_order_relaxed), 0)
          << "two threads at once are in a source that is not concurrent";
      if (crowd::exists()) std::this_thread::yield();
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit() { visitors_.fetch_sub(1, std::memory_order_relaxed); }

   private:
    std::atomic<int>& visitors_;
  };

  chunk_registry& registry_;
  std::atomic<int> visitors_ = 0;
};

static_assert(predictable<probe> && counted<probe> && inspectable<probe> && !concurrent<probe>);

// A buffer for a heap to begin in: a chunk of the chunk_registry's, which starts at an odd address.
class lent_buffer {
 public:
  explicit lent_buffer(std::size_t size) : memory_(registry_.hand_out(size, 1)) {}
  lent_buffer(const lent_buffer&) = delete;
  lent_buffer& operator=(const lent_buffer&) = delete;
  ~lent_buffer() { registry_.take_back(memory_.data, memory_.size, 1); }

  [[nodiscard]] std::span<std::byte> bytes() const {
    return {static_cast<std::byte*>(memory_.data), memory_.size};
  }

 private:
  chunk_registry& registry_ = *chunk_registry::current();
  const block memory_;
};

// A buffer that stands elsewhere, inside a heap for one, and that the chunk_registry knows of as long as this
// lives.
class registered_buffer {
 public:
  registered_buffer(std::byte* data, std::size_t size) : memory_{data, size} { registry_.add(data, size); }
  registered_buffer(const registered_buffer&) = delete;
  registered_buffer& operator=(const registered_buffer&) = delete;
  ~registered_buffer() { registry_.take_back(memory_.data, memory_.size, 1); }

 private:
  chunk_registry& registry_ = *chunk_registry::current();
  const block memory_;
};

}  // namespace mallard::model
