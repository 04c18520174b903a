// basic_chunk_cache<Source, Least>: keeps freed chunks for the next heap that asks.
//
//     heap A --deallocate--> [ free chunks, by size and by age ] --allocate--> heap B
//                                 |                        ^
//                                 oldest first             none of this size
//                                 v                        |
//                                 Source ------------------+
//
// Without it, each short-lived heap pays the system calls for its chunks and a fault for each page it
// touches. With it the next heap gets the same chunks, pages included, with whatever their last owner left in
// them. Free chunks hold their links themselves, so the cache needs no other memory.
//
// Bound: cached plus in use never exceeds the most that was ever in use, or `Least` bytes if that was less,
// so the cache alone raises no peak worth mentioning; and cached never exceeds limit(). The surplus goes back
// to the source, oldest first. Pages of cached chunks stay resident: after a phase that needed much memory,
// up to limit() bytes remain until other sizes drive them out or trim() returns them. (Marking them MADV_FREE
// would cost a system call per chunk, and lower nothing until memory is short.)
//
// Requests aligned above a page, or larger than any chunk size, go straight to the source; they count.
// Any thread may call any member if the source is `concurrent`; the lock is never held while the source is
// called. Cost: about 60 instructions for a chunk that is found or kept, lock included, O(1); returning
// chunks is amortised, each goes once. A chunk may be freed to another instance over the same source than it
// came from: figures and bound of both are then off by it. Destruction returns nothing: trim(0) does.
// Seed 000, section 4: the cost of short-lived pools (AS7, AS9, AS11, AS13).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/light_mutex.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/source/free_chunks.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {

// Bytes that stay mapped in any case: 1 MiB, less than a C++ program has resident before main. Otherwise a
// short-lived heap that needs other sizes at its end than before would map and unmap pages in each of its
// lives, which at this size is most of what a life costs.
inline constexpr std::size_t default_least_chunks = std::size_t{1} << 20;

// `Source` serves whole pages, and exactly as many as requested.
template <predictable Source, std::size_t Least = default_least_chunks>
class basic_chunk_cache {
 public:
  using upstream_type = Source;

  static constexpr bool is_concurrent = concurrent<Source>;

  // 128 MiB. glibc keeps up to 64 MiB of freed memory once its thresholds have grown to their most; a heap
  // that doubles its chunks holds up to twice what it uses, and what it does not use is never resident.
  static constexpr std::size_t default_limit = std::size_t{128} << 20;

  constexpr basic_chunk_cache() = default;
  basic_chunk_cache(const basic_chunk_cache&) = delete;
  basic_chunk_cache& operator=(const basic_chunk_cache&) = delete;

  [[nodiscard]] upstream_type& upstream() noexcept { return source_; }

  // Bytes of a page; chunks are whole pages.
  [[nodiscard]] static std::size_t page_size() noexcept {
    if constexpr (requires { Source::page_size(); })
      return Source::page_size();
    else
      return 4096;
  }

  [[nodiscard]] MALLARD_INLINE std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    return keeps(size, align) ? size_of(index_of(size)) : source_.received_size(size, align);
  }

  [[nodiscard]] MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    MALLARD_CHECK(is_valid_align(align));
    if (!keeps(size, align)) return obtain(size, align);
    const std::size_t index = index_of(size);
    if (void* const found = take(index, size_of(index)); found != nullptr) return {found, size_of(index)};
    return obtain(size_of(index), page_size());
  }

  MALLARD_INLINE void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    if (keeps(size, align)) {
      const std::size_t index = index_of(size);
      keep(p, index, size_of(index));
    } else {
      pass_back(p, size, align);
    }
  }

  // As deallocate, but the chunk is not cached.
  void return_to_system(void* p, std::size_t size, std::size_t align) noexcept {
    pass_back(p, keeps(size, align) ? size_of(index_of(size)) : size, align);
  }

  // At most this many bytes are cached. 0 switches the cache off: nothing is kept. What is cached above
  // the new limit goes back at once.
  void set_limit(std::size_t bytes) noexcept {
    std::unique_lock locked(mutex_);
    limit_ = bytes;
    surplus* const older = evict(limit_);
    locked.unlock();
    give_back(older);
  }
  [[nodiscard]] std::size_t limit() const noexcept { return read(limit_); }

  // Returns the oldest chunks to the source until at most `keep` bytes are cached; returns the bytes freed.
  std::size_t trim(std::size_t keep) noexcept {
    std::unique_lock locked(mutex_);
    const std::size_t before = cached_;
    surplus* const older = evict(keep);
    const std::size_t after = cached_;
    locked.unlock();
    give_back(older);
    return before - after;
  }

  // Bytes cached now; bytes obtained from the source, cached or in use; and the maximum of those.
  [[nodiscard]] std::size_t cached() const noexcept { return read(cached_); }
  [[nodiscard]] std::size_t mapped() const noexcept {
    const std::lock_guard locked(mutex_);
    return in_use_ + cached_;
  }
  [[nodiscard]] std::size_t max_mapped() const noexcept { return read(max_mapped_); }

  // Restarts the maximum, and with it the bound, from what is mapped now.
  void reset_max_mapped() noexcept {
    const std::lock_guard locked(mutex_);
    max_mapped_ = in_use_ + cached_;
  }

  // To be called around a fork, so that the child finds the cache whole and unlocked.
  void before_fork() noexcept { mutex_.lock(); }
  void after_fork() noexcept { mutex_.unlock(); }

  [[nodiscard]] heap_usage usage() const noexcept {
    const std::lock_guard locked(mutex_);
    return {in_use_ + cached_, in_use_, in_use_};
  }

  // O(chunks cached).
  [[nodiscard]] violation validate() const noexcept {
    const std::lock_guard locked(mutex_);
    if (cached_ > limit_) return {"chunk_cache: more is cached than the limit"};
    if (in_use_ > max_mapped_ || cached_ > max_mapped_ - in_use_)
      return {"chunk_cache: more is mapped than ever was"};
    if (violation v = free_.validate()) return v;
    if (free_.bytes(size_of) != cached_) return {"chunk_cache: the chunks do not add up to what is cached"};
    return {};
  }

 private:
  // A chunk on its way back to the source, outside the lock.
  struct surplus {
    surplus* next;
    std::size_t size;
  };

  static bool keeps(std::size_t size, std::size_t align) noexcept {
    return size <= size_of(chunk_sizes::count - 1) && align <= page_size();
  }
  static std::size_t index_of(std::size_t size) noexcept {
    return chunk_sizes::index(((size - static_cast<std::size_t>(size != 0)) >> page_shift()) + 1);
  }
  static std::size_t size_of(std::size_t index) noexcept { return chunk_sizes::pages(index) << page_shift(); }
  static int page_shift() noexcept { return std::countr_zero(page_size()); }

  // Removes a cached chunk for use; null if there is none of the size.
  MALLARD_NOINLINE void* take(std::size_t index, std::size_t size) noexcept {
    const std::lock_guard locked(mutex_);
    void* const found = free_.take(index);
    if (found == nullptr) return nullptr;
    cached_ -= size;
    in_use_ += size;
    return found;
  }

  // Caches the chunk at `p`, in use until now.
  MALLARD_NOINLINE void keep(void* p, std::size_t index, std::size_t size) noexcept {
    mutex_.lock();
    if (size > in_use_ || cached_ + size > limit_) [[unlikely]]
      return keep_at_the_limit(p, index, size);
    in_use_ -= size;
    cached_ += size;
    free_.put(p, index);
    mutex_.unlock();
  }

  // The same with the lock held, when older chunks must make room. A chunk larger than the limit goes back
  // itself, and so does one that came from another copy of the cache.
  MALLARD_NOINLINE void keep_at_the_limit(void* p, std::size_t index, std::size_t size) noexcept {
    std::unique_lock locked(mutex_, std::adopt_lock);
    const bool is_foreign = size > in_use_;
    if (!is_foreign) in_use_ -= size;
    if (is_foreign || size > limit_) {
      locked.unlock();
      return source_.deallocate(p, size, page_size());
    }
    surplus* const older = evict(limit_ - size);
    cached_ += size;
    free_.put(p, index);
    locked.unlock();
    give_back(older);
  }

  MALLARD_NOINLINE void pass_back(void* p, std::size_t size, std::size_t align) noexcept {
    const std::size_t received = source_.received_size(size, align);
    {
      const std::lock_guard locked(mutex_);
      in_use_ -= std::min(in_use_, received);
    }
    source_.deallocate(p, size, align);
  }

  // Allocates from the source, after cached chunks have made room within the bound.
  MALLARD_NOINLINE block obtain(std::size_t size, std::size_t align) noexcept {
    make_room(source_.received_size(size, align));
    block fresh = source_.allocate(size, align);
    if (!fresh && trim(0) != 0) fresh = source_.allocate(size, align);
    if (!fresh) return {};
    std::unique_lock locked(mutex_);
    in_use_ += fresh.size;
    max_mapped_ = std::max(max_mapped_, in_use_);
    surplus* const older = evict(bound() - in_use_);  // what other threads have cached meanwhile
    max_mapped_ = std::max(max_mapped_, in_use_ + cached_);
    locked.unlock();
    give_back(older);
    return fresh;
  }

  void make_room(std::size_t size) noexcept {
    std::unique_lock locked(mutex_);
    const std::size_t below = bound() - in_use_;
    surplus* const older = evict(below - std::min(below, size));
    locked.unlock();
    give_back(older);
  }

  // The most that may be cached and in use together.
  [[nodiscard]] std::size_t bound() const noexcept { return std::max(max_mapped_, Least); }

  // Removes the oldest chunks until at most `most` bytes are cached.
  surplus* evict(std::size_t most) noexcept {
    surplus* evicted = nullptr;
    while (cached_ > most) {
      std::size_t index = 0;
      void* const oldest = free_.take_oldest(index);
      cached_ -= size_of(index);
      evicted = ::new (oldest) surplus{evicted, size_of(index)};
    }
    return evicted;
  }

  void give_back(surplus* evicted) noexcept {
    while (evicted != nullptr) {
      surplus* const c = std::exchange(evicted, evicted->next);
      source_.deallocate(c, c->size, page_size());
    }
  }

  [[nodiscard]] std::size_t read(const std::size_t& figure) const noexcept {
    const std::lock_guard locked(mutex_);
    return figure;
  }

  mutable light_mutex mutex_;
  std::size_t limit_ = default_limit;
  std::size_t in_use_ = 0;
  std::size_t cached_ = 0;
  std::size_t max_mapped_ = 0;
  free_chunks free_;
  [[no_unique_address]] Source source_;
};

using chunk_cache = basic_chunk_cache<os_pages>;

}  // namespace mallard
