// basic_chunk_cache<Source>: chunks that were given back, kept for the next heap that asks.
//
//     sizes   [1 page] [2 pages] [3 pages] ... [2^18 pages]
//                |                   |
//              chunk <-> chunk     chunk              newest first: its pages are the likeliest in caches
//     age     newest <-> ... <-> ... <-> oldest       the first to go back to the source
//
// A heap that lives shortly costs the system's calls, and a fault for each page it touches, only the
// first time: the next one gets the same chunks, pages and all. A free chunk carries its links itself, so
// the cache needs no other memory. Contents of a chunk are what its last owner left in it.
//
// Bound: cached + in use never exceeds the most that was ever in use (max_mapped()), so that the cache
// alone never raises what a process holds at its peak; and cached never exceeds limit(). What is too
// much goes back, oldest first. Pages of cached chunks stay resident: after a phase that needed much, up
// to limit() bytes remain so until other sizes drive them out, or trim() gives them back.
//
// Requests aligned above a page, or larger than any chunk size, go to the source both ways; they count.
// Any thread may call any member, if the source is `concurrent`; the lock is never held while the source
// is asked. Cost: about 45 instructions for a chunk that is there or is kept, the lock's included, O(1);
// giving back is amortised, each chunk goes once. An instance's end gives nothing back: trim(0) does.
// Seed 000, section 4: the cost of short-lived pools (AS7, AS9, AS11, AS13).
#pragma once

#include <algorithm>
#include <array>
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
#include "mallard/source/chunk_sizes.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {

// Of a source that gives whole pages, and exactly as many as it is asked for.
template <predictable Source>
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

  // Bytes of a page: chunks are whole pages.
  [[nodiscard]] static std::size_t page_size() noexcept {
    if constexpr (requires { Source::page_size(); })
      return Source::page_size();
    else
      return 4096;
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    return keeps(size, align) ? size_of(index_of(size)) : source_.received_size(size, align);
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    MALLARD_CHECK(is_valid_align(align));
    if (!keeps(size, align)) return obtain(size, align);
    const std::size_t index = index_of(size);
    if (chunk* const found = take(index); found != nullptr) return {found, size_of(index)};
    return obtain(size_of(index), page_size());
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    if (keeps(size, align)) {
      const std::size_t index = index_of(size);
      if (!keep(p, index)) source_.deallocate(p, size_of(index), page_size());
    } else {
      const std::size_t received = source_.received_size(size, align);
      {
        const std::lock_guard locked(mutex_);
        in_use_ -= received;
      }
      source_.deallocate(p, size, align);
    }
  }

  // At most this many bytes are cached. 0 switches the cache off: nothing is kept. What is cached above
  // the new limit goes back at once.
  void set_limit(std::size_t bytes) noexcept {
    std::unique_lock locked(mutex_);
    limit_ = bytes;
    chunk* const surplus = evict(limit_);
    locked.unlock();
    give_back(surplus);
  }
  [[nodiscard]] std::size_t limit() const noexcept { return read(limit_); }

  // Gives the oldest chunks back until at most `keep` bytes are cached; returns the bytes given back.
  std::size_t trim(std::size_t keep) noexcept {
    std::unique_lock locked(mutex_);
    const std::size_t before = cached_;
    chunk* const surplus = evict(keep);
    const std::size_t after = cached_;
    locked.unlock();
    give_back(surplus);
    return before - after;
  }

  // Bytes cached now; bytes that the source has given, cached or in use; and the most of those so far.
  [[nodiscard]] std::size_t cached() const noexcept { return read(cached_); }
  [[nodiscard]] std::size_t mapped() const noexcept {
    const std::lock_guard locked(mutex_);
    return in_use_ + cached_;
  }
  [[nodiscard]] std::size_t max_mapped() const noexcept { return read(max_mapped_); }

  // Lets the highest mark, and the bound with it, start again from what is mapped now.
  void reset_max_mapped() noexcept {
    const std::lock_guard locked(mutex_);
    max_mapped_ = in_use_ + cached_;
  }

  // Around a fork, so that the child finds the cache whole and unlocked.
  void before_fork() noexcept { mutex_.lock(); }
  void after_fork() noexcept { mutex_.unlock(); }

  [[nodiscard]] heap_usage usage() const noexcept {
    const std::lock_guard locked(mutex_);
    return {in_use_ + cached_, in_use_, in_use_};
  }

  // O(chunks cached).
  [[nodiscard]] fault validate() const noexcept {
    const std::lock_guard locked(mutex_);
    if (cached_ > limit_) return {"chunk_cache: more is cached than the limit"};
    if (in_use_ > max_mapped_ || cached_ > max_mapped_ - in_use_)
      return {"chunk_cache: more is mapped than was ever in use"};
    std::size_t chunks = 0;
    std::size_t left = cached_;
    const chunk* newer = nullptr;
    for (const chunk* c = newest_; c != nullptr; newer = std::exchange(c, c->by_age.older), ++chunks) {
      if (c->by_age.newer != newer) return {"chunk_cache: a chunk's neighbour does not point back at it"};
      if (c->size > left) return {"chunk_cache: the chunks are more than what is cached, or a circle"};
      left -= c->size;
    }
    if (left != 0 || oldest_ != newer) return {"chunk_cache: a chunk is missing"};
    for (std::size_t i = 0; i < chunk_sizes::count; ++i)
      for (const chunk* c = by_size_[i]; c != nullptr; c = c->by_size.older, --chunks)
        if (chunks == 0 || c->size != size_of(i)) return {"chunk_cache: a chunk is among others of its size"};
    if (chunks != 0) return {"chunk_cache: a chunk cannot be found by its size"};
    return {};
  }

 private:
  struct chunk;
  struct links {
    chunk* newer;
    chunk* older;
  };
  struct chunk {
    links by_size;
    links by_age;
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

  // The newest chunk of a size, in use from now on; null when there is none.
  chunk* take(std::size_t index) noexcept {
    const std::lock_guard locked(mutex_);
    chunk* const found = by_size_[index];
    if (found == nullptr) return nullptr;
    unlink(found, index);
    in_use_ += found->size;
    return found;
  }

  // Whether the chunk at `p`, in use until now, is cached: not if it is larger than the limit.
  bool keep(void* p, std::size_t index) noexcept {
    const std::size_t size = size_of(index);
    std::unique_lock locked(mutex_);
    MALLARD_CHECK(size <= in_use_);
    in_use_ -= size;
    if (size > limit_) return false;
    chunk* const surplus = evict(limit_ - size);
    link(::new (p) chunk{{}, {}, size}, index);
    locked.unlock();
    give_back(surplus);
    return true;
  }

  // From the source, after what is cached has made room under the highest mark.
  MALLARD_NOINLINE block obtain(std::size_t size, std::size_t align) noexcept {
    make_room(source_.received_size(size, align));
    block fresh = source_.allocate(size, align);
    if (!fresh && trim(0) != 0) fresh = source_.allocate(size, align);
    if (!fresh) return {};
    std::unique_lock locked(mutex_);
    in_use_ += fresh.size;
    max_mapped_ = std::max(max_mapped_, in_use_);
    chunk* const surplus = evict(max_mapped_ - in_use_);  // of what others have cached meanwhile
    locked.unlock();
    give_back(surplus);
    return fresh;
  }

  void make_room(std::size_t size) noexcept {
    std::unique_lock locked(mutex_);
    const std::size_t below = max_mapped_ - in_use_;
    chunk* const surplus = evict(below - std::min(below, size));
    locked.unlock();
    give_back(surplus);
  }

  // Takes the oldest chunks out until at most `most` bytes are cached; returns them, linked by `older`.
  chunk* evict(std::size_t most) noexcept {
    chunk* evicted = nullptr;
    while (cached_ > most) {
      chunk* const c = oldest_;
      unlink(c, index_of(c->size));
      c->by_age.older = std::exchange(evicted, c);
    }
    return evicted;
  }

  void give_back(chunk* evicted) noexcept {
    while (evicted != nullptr) {
      chunk* const c = std::exchange(evicted, evicted->by_age.older);
      source_.deallocate(c, c->size, page_size());
    }
  }

  void link(chunk* c, std::size_t index) noexcept {
    c->by_size.older = by_size_[index];
    if (c->by_size.older != nullptr) c->by_size.older->by_size.newer = c;
    by_size_[index] = c;
    c->by_age.older = newest_;
    (newest_ == nullptr ? oldest_ : newest_->by_age.newer) = c;
    newest_ = c;
    cached_ += c->size;
  }

  void unlink(chunk* c, std::size_t index) noexcept {
    const auto [newer_of_size, older_of_size] = c->by_size;
    (newer_of_size == nullptr ? by_size_[index] : newer_of_size->by_size.older) = older_of_size;
    if (older_of_size != nullptr) older_of_size->by_size.newer = newer_of_size;
    const auto [newer, older] = c->by_age;
    (newer == nullptr ? newest_ : newer->by_age.older) = older;
    (older == nullptr ? oldest_ : older->by_age.newer) = newer;
    cached_ -= c->size;
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
  chunk* newest_ = nullptr;
  chunk* oldest_ = nullptr;
  std::array<chunk*, chunk_sizes::count> by_size_{};
  [[no_unique_address]] Source source_;
};

using chunk_cache = basic_chunk_cache<os_pages>;

}  // namespace mallard
