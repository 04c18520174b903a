// basic_chunk_cache<Source, Least, Clock>: keeps freed chunks for the next heap that asks.
//
//     heap A --deallocate--> [ free spans, by size and by age ] --allocate--> heap B
//                                 |                        ^
//                                 oldest first             none is large enough
//                                 v                        |
//                                 Source ------------------+
//
// Without it, each short-lived heap pays the system calls for its chunks and a fault for each page it
// touches. With it the next heap gets the same chunks, pages included, with whatever their last owner left in
// them. Free chunks hold their links themselves; chunks of 33 pages and more are joined with free neighbours
// and cut (free_spans.hpp).
//
// What was in use lately stays mapped: keep_time(), half a second by default. A chunk that nobody has asked
// for in that time goes back to the source, oldest first, whenever 64 KiB of chunks have been freed or one
// has to be mapped: in steps of 32 MiB or an eighth of what is cached, larger ones where these moments are
// rare, so that all of it has gone back four fifths of that time later. A process that does nothing gives
// nothing back by itself: trim(0) does, at once, and set_keep_time(0) keeps nothing from then on. (Marking
// chunks MADV_FREE would cost a system call per chunk, and lower nothing until memory is short.)
//
// Bound: cached plus in use never exceeds the most that was ever in use by more than an eighth, or `Least`
// bytes if that was less, so the cache alone raises no peak by more; and cached never exceeds limit().
//
// Chunks of an even number of pages are aligned to two pages, as slabs want them. Requests with a larger
// alignment, or larger than any chunk size, go straight to the source; they count.
// Any thread may call any member if the source is `concurrent`; the lock is never held while the source is
// called, but while the table of free spans grows. Cost: about 90 instructions for a chunk of up to 32 pages
// that is found or kept, lock and clock included, O(1); returning chunks is amortised. A chunk may be freed
// to another instance over the same source than it came from: figures and bound of both are then off by it.
// Destruction returns nothing: trim(0) does. Seed 000, section 4: the cost of short-lived pools (AS7, AS9,
// AS11, AS13).
#pragma once

#include <sys/auxv.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
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
#include "mallard/source/free_spans.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {

// Bytes that stay mapped in any case: 1 MiB, less than a C++ program has resident before main. Otherwise a
// short-lived heap that needs other sizes at its end than before would map and unmap pages in each of its
// lives, which at this size is most of what a life costs.
inline constexpr std::size_t default_least_chunks = std::size_t{1} << 20;

// Milliseconds since any time, as the kernel counts ticks: no system call, no more than 10 ms late.
struct coarse_clock {
  static std::uint64_t now() noexcept {
    ::timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1000 + static_cast<std::uint64_t>(t.tv_nsec) / 1000000;
  }

  // Bytes of freed chunks that are worth a look: a few chunks, or many where the kernel offers no vDSO, as to
  // a program under valgrind, and it is a system call.
  static std::size_t bytes_between() noexcept {
    return std::size_t{1} << (::getauxval(AT_SYSINFO_EHDR) != 0 ? 16 : 26);
  }
};

// Whether a source takes back a part of a block, and adjacent blocks at once, as the system does with pages.
template <class Source>
concept divisible = requires { requires static_cast<bool>(Source::is_divisible); };

// `Source` serves whole pages, and exactly as many as requested. Chunks are joined and cut if it is
// divisible.
template <predictable Source, std::size_t Least = default_least_chunks, class Clock = coarse_clock>
class basic_chunk_cache {
 public:
  using upstream_type = Source;

  static constexpr bool is_concurrent = concurrent<Source>;

  // No limit: time is one.
  static constexpr std::size_t default_limit = ~std::size_t{0};

  // Milliseconds: mostly longer than one round of repeated work takes, and shorter than a program waits for
  // its user.
  static constexpr std::uint64_t default_keep_time = 500;

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
    return keeps(size, align) ? rounded(size) : source_.received_size(size, align);
  }

  [[nodiscard]] MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    bool is_fresh;
    return cached_or_new(size, align, is_fresh);
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align, bool& is_fresh) noexcept
    requires tells_fresh<Source>
  {
    return cached_or_new(size, align, is_fresh);
  }

  MALLARD_INLINE void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    if (keeps(size, align))
      keep(p, rounded(size));
    else
      pass_back(p, size, align);
  }

  // As deallocate, but the chunk is not cached.
  void return_to_system(void* p, std::size_t size, std::size_t align) noexcept {
    if (keeps(size, align)) {
      size = rounded(size);
      align = align_of(size);
    }
    pass_back(p, size, align);
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

  // Milliseconds for which a chunk that nobody asks for stays mapped. What is older goes back when the next
  // 64 KiB of chunks are freed or one is mapped; 0 keeps nothing and gives everything back at once.
  void set_keep_time(std::uint64_t milliseconds) noexcept {
    std::unique_lock locked(mutex_);
    keep_time_ = milliseconds;
    until_time_ = 0;
    surplus* const older = milliseconds == 0 ? evict(0) : nullptr;
    locked.unlock();
    give_back(older);
  }
  [[nodiscard]] std::uint64_t keep_time() const noexcept {
    const std::lock_guard locked(mutex_);
    return keep_time_;
  }

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
    max_in_use_ = in_use_;
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
    if (violation v = free_.validate(page_shift())) return v;
    if (free_.pages() << page_shift() != cached_)
      return {"chunk_cache: the chunks do not add up to what is cached"};
    return {};
  }

 private:
  MALLARD_INLINE block cached_or_new(std::size_t size, std::size_t align, bool& is_fresh) noexcept {
    MALLARD_CHECK(is_valid_align(align));
    is_fresh = false;
    if (!keeps(size, align)) return obtain(size, align, is_fresh);
    size = rounded(size);
    if (void* const found = take(size); found != nullptr) return {found, size};
    return obtain(size, align_of(size), is_fresh);
  }

  // A chunk on its way back to the source, outside the lock.
  struct surplus {
    surplus* next;
    std::size_t size;
  };

  static bool keeps(std::size_t size, std::size_t align) noexcept {
    return size <= span_sizes::largest << page_shift() &&
           (align <= page_size() || align <= align_of(rounded(size)));
  }
  // The alignment of a cached chunk of `size` bytes, a rounded size.
  static std::size_t align_of(std::size_t size) noexcept {
    return size % (2 * page_size()) == 0 ? 2 * page_size() : page_size();
  }
  MALLARD_INLINE static std::size_t rounded(std::size_t size) noexcept {
    const std::size_t pages = ((size - static_cast<std::size_t>(size != 0)) >> page_shift()) + 1;
    return span_sizes::rounded(pages) << page_shift();
  }
  static int page_shift() noexcept { return std::countr_zero(page_size()); }

  // Removes a cached chunk of `size` bytes for use; null if there is none.
  MALLARD_NOINLINE void* take(std::size_t size) noexcept {
    const inline_guard locked(mutex_);
    void* const found = free_.take(size >> page_shift(), page_shift());
    if (found == nullptr) return nullptr;
    cached_ -= size;
    in_use_ += size;
    max_in_use_ = std::max(max_in_use_, in_use_);
    return found;
  }

  // Caches the chunk at `p`, in use until now.
  MALLARD_NOINLINE void keep(void* p, std::size_t size) noexcept {
    mutex_.lock();
    if (size > in_use_ || size >= until_time_ || cached_ + size > limit_) [[unlikely]]
      return keep_slow(p, size);
    until_time_ -= size;
    in_use_ -= size;
    cached_ += size;
    free_.put(p, size >> page_shift(), now_, page_shift());
    mutex_.unlock();
  }

  // The same with the lock held, when others must make room, or to see which are old. One
  // that is larger than the limit goes back itself, and so does one that came from another copy of the cache.
  MALLARD_NOINLINE void keep_slow(void* p, std::size_t size) noexcept {
    std::unique_lock locked(mutex_, std::adopt_lock);
    until_time_ = keep_time_ == 0 ? 0 : Clock::bytes_between();
    const bool is_foreign = size > in_use_;
    if (!is_foreign) in_use_ -= size;
    if (is_foreign || size > limit_ || keep_time_ == 0) {
      locked.unlock();
      return source_.deallocate(p, size, align_of(size));
    }
    surplus* const older = evict(limit_ - size);
    look_at_clock();
    cached_ += size;
    free_.put(p, size >> page_shift(), now_, page_shift());
    surplus* const all = evict_unused(older);
    locked.unlock();
    give_back(all);
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
  MALLARD_NOINLINE block obtain(std::size_t size, std::size_t align, bool& is_fresh) noexcept {
    make_room(source_.received_size(size, align));
    block fresh = from_source(size, align, is_fresh);
    if (!fresh && trim(0) != 0) fresh = from_source(size, align, is_fresh);
    if (!fresh) return {};
    std::unique_lock locked(mutex_);
    in_use_ += fresh.size;
    max_in_use_ = std::max(max_in_use_, in_use_);
    max_mapped_ = std::max(max_mapped_, in_use_);
    surplus* const older = evict(bound() - in_use_);  // what other threads have cached meanwhile
    max_mapped_ = std::max(max_mapped_, in_use_ + cached_);
    locked.unlock();
    give_back(older);
    return fresh;
  }

  block from_source(std::size_t size, std::size_t align, bool& is_fresh) noexcept {
    if constexpr (tells_fresh<Source>)
      return source_.allocate(size, align, is_fresh);
    else
      return source_.allocate(size, align);
  }

  void make_room(std::size_t size) noexcept {
    std::unique_lock locked(mutex_);
    const std::size_t below = bound() - in_use_;
    look_at_clock();
    surplus* const older = evict_unused(evict(below - std::min(below, size)));
    locked.unlock();
    give_back(older);
  }

  // The most that may be cached and in use together.
  [[nodiscard]] std::size_t bound() const noexcept {
    return std::max(max_in_use_ + max_in_use_ / 8, std::max(Least, in_use_));
  }

  // Removes the oldest chunks until at most `most` bytes are cached.
  surplus* evict(std::size_t most) noexcept {
    surplus* evicted = nullptr;
    while (cached_ > most) evicted = evict_oldest(cached_ - most, evicted);
    return evicted;
  }

  void look_at_clock() noexcept {
    last_ = now_;
    now_ = Clock::now();
  }

  // Removes chunks that were not in use lately: a step. A large one goes in several.
  MALLARD_NOINLINE surplus* evict_unused(surplus* evicted) noexcept {
    if (free_.empty() || now_ - free_.oldest_since() < keep_time_) return evicted;
    std::size_t step = step_now(now_ - free_.oldest_since() - keep_time_);
    while (step != 0 && !free_.empty() && now_ - free_.oldest_since() >= keep_time_) {
      evicted = evict_oldest(step, evicted);
      step -= std::min(step, evicted->size);
    }
    return evicted;
  }

  // Bytes that go back now, when the oldest chunk has been unused for `due` milliseconds longer than it is
  // kept. They are at least that part of what is cached which the time since the last look is of the time
  // that was left then for all of it to go.
  [[nodiscard]] std::size_t step_now(std::uint64_t due) const noexcept {
    const std::uint64_t all = keep_time_ / 5 * 4;
    if (due >= all) return cached_;
    const std::uint64_t passed = std::min(due, now_ - last_);
    const std::size_t part = cached_ / static_cast<std::size_t>(all - due + passed);
    return std::max({least_step, cached_ / 8, part * static_cast<std::size_t>(passed)});
  }

  // Removes the oldest chunk, or at least `most` bytes of it.
  surplus* evict_oldest(std::size_t most, surplus* others) noexcept {
    const std::size_t page = page_size();
    std::size_t pages = 0;
    void* const oldest = free_.take_oldest((most + 2 * page - 1) / (2 * page) * 2, pages, page_shift());
    cached_ -= pages << page_shift();
    return ::new (oldest) surplus{others, pages << page_shift()};
  }

  void give_back(surplus* evicted) noexcept {
    while (evicted != nullptr) {
      surplus* const c = std::exchange(evicted, evicted->next);
      source_.deallocate(c, c->size, align_of(c->size));
    }
  }

  [[nodiscard]] std::size_t read(const std::size_t& figure) const noexcept {
    const std::lock_guard locked(mutex_);
    return figure;
  }

  // Bytes that go back at a time, at least: a system call of some milliseconds.
  static constexpr std::size_t least_step = std::size_t{32} << 20;

  mutable light_mutex mutex_;
  std::size_t limit_ = default_limit;
  std::uint64_t keep_time_ = default_keep_time;
  std::uint64_t now_ = 0;  // when the time was read last, and the time before
  std::uint64_t last_ = 0;
  std::size_t until_time_ = 0;  // bytes to be kept before it is read again
  std::size_t in_use_ = 0;
  std::size_t cached_ = 0;
  std::size_t max_in_use_ = 0;
  std::size_t max_mapped_ = 0;
  free_spans<divisible<Source>> free_;
  [[no_unique_address]] Source source_;
};

using chunk_cache = basic_chunk_cache<os_pages>;

}  // namespace mallard
