// basic_segments<Mutex, Range>: spans of 64 KiB segments for all heaps of a process, and what each address
// is.
//
//     entries, 64 bytes each   [0][1][2][3][4][5] ....           outside of the segments, dense
//                                  |  '--.--'   \                .
//     segments, 64 KiB each       [A][    B    ][ free, dirty ][ free, clean ][A] .... not mapped
//
// A heap takes spans of whole segments and gives them back, and shares with all others what is free. find()
// leads from an address to the entry of its segment by a subtraction and a shift: a block needs no header,
// and one heap among thousands is found as fast as one alone. Entries lie close together instead of at the
// begin of each segment, where all of them would fall into the same lines of a cache. What is given back is
// joined with its neighbours, and stays memory for a while: `dirty`. It serves the next request before
// untouched memory does. The last span to come back, if all of it is dirty, is joined only when another one
// comes back or anything but a span of its length is asked for: one that comes and goes alone costs no work
// on lists, and stays where it is. What is dirty goes back to the system, and becomes `clean`, oldest first:
// when nobody has asked for it in keep_time(), checked once for every sixteen spans that come back; or at
// once, where it would raise the most that was ever in use by more than an eighth. trim() gives back what
// there is. What is clean at the end of the range is unmapped. Slabs of heaps that stay small are parts, four
// to a segment. The entry of a segment that is split covers all four, and each part has one of its own,
// behind those of all segments. So find() costs the same, and a free looks a second time where the segment is
// split.
//
//     entries   [0][1][2][split][4] ....      [ .. parts of 2][p|p|p|p][parts of 4 .. ]
//                          '--------- find_part() ---------------^
//
// Invariant: of a span, only the first entry has a use, of a listed one also the last. Threads: any member at
// any time, under one lock; find() without. Cost: O(1), beside system calls: about 160 instructions to take
// the span that came back last and to give it back, 550 for another one; an entry of 64 bytes a segment. Seed
// 003, chapter 3 (spans of pages, and their table).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/light_mutex.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/source/address_range.hpp"
#include "mallard/source/chunk_cache.hpp"
#include "mallard/source/segment_spans.hpp"

namespace mallard {

// What the segments of a process amount to, in bytes.
struct segments_usage {
  std::size_t used = 0;    // in spans of heaps
  std::size_t dirty = 0;   // given back, and still memory
  std::size_t clean = 0;   // given back to the system, or not used yet
  std::size_t peak = 0;    // the most that was ever in use
  std::size_t purged = 0;  // given back to the system so far
};

template <class Mutex = light_mutex, class Range = address_range, class Clock = coarse_clock>
class basic_segments {
 public:
  using number = std::uint32_t;

  static constexpr std::size_t segment_bytes = 65536;
  static constexpr std::size_t parts = 4;  // of a segment that is split
  static constexpr std::size_t part_bytes = segment_bytes / parts;
  static constexpr std::uint32_t default_keep_time = 500;  // milliseconds

  constexpr basic_segments() = default;
  basic_segments(const basic_segments&) = delete;
  basic_segments& operator=(const basic_segments&) = delete;

  // The entry of the segment that `p` points into; null if that is none of these.
  [[nodiscard]] MALLARD_INLINE segment* find(const void* p) const noexcept {
    const std::uintptr_t at = (address_of(p) - first_) / segment_bytes;
    if (at >= count_.load(std::memory_order_relaxed)) [[unlikely]]
      return nullptr;
    segment* const found = table_ + at;
    MALLARD_ASSUME(found != nullptr);
    return found;
  }

  // The same, and of a segment that is split the entry of the part.
  [[nodiscard]] segment* find_part(const void* p) const noexcept {
    segment* const s = find(p);
    if (s == nullptr || s->use != segment_use::split) return s;
    return at(first_part_ + (address_of(p) - first_) / part_bytes);
  }

  [[nodiscard]] number number_of(const segment* s) const noexcept { return static_cast<number>(s - table_); }
  [[nodiscard]] segment* at(std::size_t n) const noexcept { return table_ + n; }
  [[nodiscard]] std::byte* start_of(const segment* s) const noexcept {
    const std::size_t n = number_of(s);
    return reinterpret_cast<std::byte*>(first_) +
           (is_part(*s) ? (n - first_part_) * part_bytes : n * segment_bytes);
  }

  // A span of `length` segments, at a multiple of `align` bytes, for `use`; null when there is none. With
  // `list`, it is added there, and give_back() removes it. Where the system has no more, all that is free is
  // purged and joined, if it is `needed`.
  [[nodiscard]] MALLARD_NOINLINE segment* take(std::size_t length, segment_use use,
                                               std::size_t align = segment_bytes, number* list = nullptr,
                                               bool needed = true) noexcept {
    const std::lock_guard guard(mutex_);
    segment* s = align <= segment_bytes ? spans_.take_recent(length) : nullptr;
    if (s == nullptr) s = take_listed(length, align, needed);
    if (s == nullptr) return nullptr;
    used_ += length;
    peak_ = std::max(peak_, used_);
    s->use = use;
    s->state = 0;
    s->free = list;
    if (list != nullptr) link(s, *list);
    return s;
  }

  // A part of a segment, for a slab; null when there is none. It comes back by give_back() as a span does.
  [[nodiscard]] MALLARD_NOINLINE segment* take_part() noexcept {
    {
      const std::lock_guard guard(mutex_);
      if (first_split_ != 0) return part_of(*at(first_split_));
    }
    segment* const whole = take(1, segment_use::split);
    if (whole == nullptr) return nullptr;
    {
      const std::lock_guard guard(mutex_);
      const int saved_errno = errno;
      const bool has_entries = map_parts(number_of(whole) + std::size_t{1});
      errno = saved_errno;
      if (has_entries) {
        whole->carved = all_parts;
        whole->capacity = whole->is_zero ? all_parts : 0;
        link(whole, first_split_);
        return part_of(*whole);
      }
    }
    give_back(whole, 0);
    return nullptr;
  }

  // Moves the pages of the first `bytes` bytes, whole pages, from one large span to another, which costs less
  // than copying them, and holds nothing twice. The first one is zero then. False if the system cannot, or
  // has as many such mappings as are good for it.
  [[nodiscard]] bool move_pages(segment* from, segment* to, std::size_t bytes) noexcept {
    if (moved_.load(std::memory_order_relaxed) >= most_moved) return false;
    const int saved_errno = errno;
    const bool are_moved = Range::move_pages(start_of(from), start_of(to), bytes);
    if (are_moved) {
      to->state = moved;
      moved_.fetch_add(1, std::memory_order_relaxed);
      const std::size_t behind = from->length * segment_bytes - bytes;
      if (behind != 0) Range::purge(start_of(from) + bytes, behind);
      from->is_zero = true;
    }
    errno = saved_errno;
    return are_moved;
  }

  // Ends a span; its user has written to at most its first `touched` segments.
  MALLARD_NOINLINE void give_back(segment* s, std::size_t touched) noexcept {
    if (is_part(*s)) {
      s = join(*s, touched != 0);
      if (s == nullptr) return;
      touched = s->capacity == all_parts ? 0 : 1;
    }
    const std::lock_guard guard(mutex_);
    if (s->use == segment_use::large && s->free != nullptr) unlink(s, *static_cast<number*>(s->free));
    s->owner = nullptr;
    used_ -= s->length;
    spans_.list_recent();
    const bool is_due = until_time_ <= 1;  // a look at the time
    if (!is_due && is_all_dirty(*s, touched) && keep_time_ != 0) [[likely]] {
      --until_time_;
      return spans_.keep_recent(s, now_);
    }
    const int saved_errno = errno;
    give_part(number_of(s), s->length, dirtied(*s, 0, std::min<std::size_t>(touched, s->length)));
    errno = saved_errno;
  }

  // Makes a span `length` segments long, where what follows it is free. False, with nothing changed, if not.
  [[nodiscard]] bool grow(segment* s, std::size_t length) noexcept {
    const std::lock_guard guard(mutex_);
    const int saved_errno = errno;
    spans_.list_recent();
    const number end = number_of(s) + s->length;
    const std::size_t more = length - s->length;
    const bool has_room = end != count() && segment_spans::is_free(at(end)->use);
    const std::size_t room = has_room ? at(end)->length : 0;
    if (room < more) {
      if (more > max_segments || end + room != count()) return false;
      const bool is_extended = extend(more - room);
      errno = saved_errno;
      if (!is_extended || end + room != count()) return false;  // or it went on elsewhere
    }
    if (has_room) {
      const segment follows = *at(end);
      spans_.remove(at(end));
      if (room > more)
        spans_.insert(static_cast<number>(end + more), static_cast<number>(room - more), follows.use,
                      follows.stamp);
    }
    if (room < more) set_count(count() + (more - room));
    s->length = static_cast<number>(length);
    used_ += more;
    peak_ = std::max(peak_, used_);
    make_room(0);
    errno = saved_errno;
    return true;
  }

  // Gives back what lies behind the first `length` segments of a span; of that, `touched` were written to.
  void shrink(segment* s, std::size_t length, std::size_t touched) noexcept {
    const std::lock_guard guard(mutex_);
    const int saved_errno = errno;
    spans_.list_recent();
    const std::size_t less = s->length - length;
    touched = dirtied(*s, length, std::min(touched, less));
    s->length = static_cast<number>(length);
    used_ -= less;
    give_part(static_cast<number>(number_of(s) + length), less, touched);
    errno = saved_errno;
  }

  // Gives pages of a span back to the system, which are zero when they are used again.
  static void purge_pages(std::byte* from, std::size_t bytes) noexcept {
    const int saved_errno = errno;
    Range::purge(from, bytes);
    errno = saved_errno;
  }

  // Gives free memory back to the system until at most `keep` bytes of it are dirty; returns the bytes.
  std::size_t trim(std::size_t keep) noexcept {
    const std::lock_guard guard(mutex_);
    const int saved_errno = errno;
    spans_.list_recent();
    const std::size_t before = spans_.dirty();
    while (spans_.dirty() > keep / segment_bytes) purge_oldest(spans_.dirty() - keep / segment_bytes);
    errno = saved_errno;
    return (before - spans_.dirty()) * segment_bytes;
  }

  // Milliseconds that free memory stays memory; 0 keeps none from now on.
  void set_keep_time(std::uint32_t milliseconds) noexcept {
    const std::lock_guard guard(mutex_);
    keep_time_ = milliseconds;
  }

  // Whether memory from now on is to be of huge pages, where the system leaves that to each program.
  void set_huge_pages(bool wanted) noexcept {
    const std::lock_guard guard(mutex_);
    wants_huge_pages_ = wanted;
  }

  [[nodiscard]] segments_usage usage() const noexcept {
    const std::lock_guard guard(mutex_);
    std::size_t clean = 0;
    for (number i = 1; i < count(); i += at(i)->length)
      if (at(i)->use == segment_use::clean) clean += at(i)->length;
    return {used_ * segment_bytes, (spans_.dirty() + spans_.recent()) * segment_bytes, clean * segment_bytes,
            peak_ * segment_bytes, purged_ * segment_bytes};
  }

  // The same without the lock and without `clean`, approximately: for a signal handler, which may have
  // interrupted the thread that has the lock.
  [[nodiscard]] segments_usage glance() const noexcept {
    return {used_ * segment_bytes, (spans_.dirty() + spans_.recent()) * segment_bytes, 0,
            peak_ * segment_bytes, purged_ * segment_bytes};
  }

  // Around a fork, so that the child finds everything whole and unlocked.
  void before_fork() noexcept { mutex_.lock(); }
  void after_fork() noexcept { mutex_.unlock(); }

  // Unmaps all segments, and ends with that whatever lies in them. Nothing can be taken afterwards.
  // Precondition: nobody uses them any more.
  void close() noexcept {
    spans_.list_recent();
    const std::size_t end = count();
    for (std::size_t i = 1; i < end; i += at(i)->length)
      if (at(i)->use != segment_use::foreign) range_.retract(start_of(at(i)), at(i)->length * segment_bytes);
    if (end < mapped_) range_.retract(start_of(at(end)), (mapped_ - end) * segment_bytes);
    set_count(0);
    if (table_bytes_ != 0) range_.retract(range_.begin(), table_bytes_);
    if (parts_bytes_ != 0) range_.retract(range_.begin() + first_part_ * sizeof(segment), parts_bytes_);
    range_.close();
  }

  // Guards lists of large spans against take() and give_back() of other threads.
  [[nodiscard]] std::lock_guard<Mutex> lock() const noexcept { return std::lock_guard(mutex_); }

  // Lists of a heap's spans: by its own entries, under what guards the heap.
  void link(segment* s, number& list) noexcept {
    s->newer = 0;
    s->older = list;
    if (list != 0) at(list)->newer = number_of(s);
    list = number_of(s);
  }
  void unlink(segment* s, number& list) noexcept {
    (s->newer == 0 ? list : at(s->newer)->older) = s->older;
    if (s->older != 0) at(s->older)->newer = s->newer;
  }

  // O(segments).
  [[nodiscard]] violation validate() const noexcept {
    const std::lock_guard guard(mutex_);
    if (used_ > peak_ || count_.load(std::memory_order_relaxed) != spans_.count() || spans_.count() > mapped_)
      return {"segments: the counts contradict each other"};
    for (number n = first_split_; n != 0; n = at(n)->older)
      if (at(n)->use != segment_use::split || at(n)->carved == 0 || at(n)->carved >= all_parts)
        return {"segments: one without parts to give is listed"};
    return spans_.validate(used_);
  }

 private:
  // Addresses that are asked for: of segments, and in front of them 1/1024 for their entries and 1/256 for
  // those of parts. Entry 0 describes no segment, so that a link can say so.
  static constexpr std::size_t most_bytes = std::size_t{1} << 38;
  static constexpr std::size_t least_bytes = std::size_t{1} << 24;
  static constexpr std::size_t max_segments = most_bytes / segment_bytes;
  // Segments that become memory at once, 2 MiB: half a percent of what the pages of that cost.
  static constexpr std::size_t step = 32;
  // Segments that may be dirty in any case.
  static constexpr std::size_t least_dirty = 16;

  [[nodiscard]] std::size_t count() const noexcept { return spans_.count(); }
  void set_count(std::size_t count) noexcept {
    spans_.set_count(count);
    count_.store(count, std::memory_order_relaxed);
  }

  // A span out of the lists, or a new one.
  MALLARD_NOINLINE segment* take_listed(std::size_t length, std::size_t align, bool needed) noexcept {
    if (length == 0 || length > max_segments || align > max_request / 2) return nullptr;
    const std::size_t spare = std::max(align / segment_bytes, std::size_t{1}) - 1;
    if (spare > max_segments) return nullptr;
    const int saved_errno = errno;
    spans_.list_recent();
    segment* s = spans_.take(length + spare, segment_use::dirty);
    if (s == nullptr) {
      make_room(length);
      s = spans_.take(length + spare, segment_use::clean);
    }
    if (s == nullptr) s = take_new(length + spare);
    if (s == nullptr && needed) s = take_last(length + spare);
    errno = saved_errno;
    return s == nullptr || spare == 0 ? s : cut_aligned(s, length, align);
  }

  // A span behind all others; null when there is none.
  segment* take_new(std::size_t length) noexcept {
    if (table_ == nullptr && !open()) return nullptr;
    if (!extend(length)) return nullptr;
    segment* const s = at(count());
    s->is_zero = true;
    s->length = static_cast<number>(length);
    set_count(count() + length);
    return s;
  }

  // A span where the system gives no more: dirty and clean spans, which lie side by side, become one, and
  // all of them are looked at.
  MALLARD_NOINLINE segment* take_last(std::size_t length) noexcept {
    if (spans_.oldest() == 0 && length <= 32) return nullptr;
    while (spans_.oldest() != 0) purge_oldest(max_segments);
    segment* const s = spans_.take(length, segment_use::clean, max_segments);
    return s != nullptr ? s : take_new(length);
  }

  // Cuts `length` segments at a multiple of `align` out of a span, and gives back the rest.
  segment* cut_aligned(segment* s, std::size_t length, std::size_t align) noexcept {
    const segment_use kind = s->is_zero ? segment_use::clean : segment_use::dirty;
    const std::size_t before = padding_for(start_of(s), align) / segment_bytes;
    const std::size_t behind = s->length - before - length;
    const auto first = static_cast<number>(number_of(s) + before);
    if (behind != 0)
      spans_.insert(static_cast<number>(first + length), static_cast<number>(behind), kind, now_);
    if (before != 0) spans_.insert(number_of(s), static_cast<number>(before), kind, now_);
    at(first)->is_zero = kind == segment_use::clean;
    at(first)->length = static_cast<number>(length);
    return at(first);
  }

  // Of a segment that is split, `carved` has a bit for each part that nobody has, and `capacity` one for each
  // that nobody has written to. Those with parts to give are a list by `newer` and `older`.
  static constexpr std::uint16_t all_parts = (1U << parts) - 1;

  [[nodiscard]] bool is_part(const segment& s) const noexcept { return number_of(&s) >= first_part_; }

  // A part that nobody has, of which there is one.
  segment* part_of(segment& whole) noexcept {
    const auto n = static_cast<std::size_t>(std::countr_zero(whole.carved));
    whole.carved = static_cast<std::uint16_t>(whole.carved & (whole.carved - 1U));
    if (whole.carved == 0) unlink(&whole, first_split_);
    segment* const s = at(first_part_ + number_of(&whole) * parts + n);
    s->use = segment_use::slab;
    s->state = 0;
    s->is_zero = (whole.capacity >> n & 1U) != 0;
    return s;
  }

  // Ends a part; returns its segment if nobody has any other of it.
  segment* join(segment& part, bool is_touched) noexcept {
    const std::lock_guard guard(mutex_);
    const std::size_t n = number_of(&part) - first_part_;
    segment& whole = *at(n / parts);
    const auto bit = static_cast<std::uint16_t>(1U << n % parts);
    part.use = segment_use::none;
    part.owner = nullptr;
    if (whole.carved == 0) link(&whole, first_split_);
    whole.carved = static_cast<std::uint16_t>(whole.carved | bit);
    if (is_touched) whole.capacity = static_cast<std::uint16_t>(whole.capacity & ~bit);
    if (whole.carved != all_parts) return nullptr;
    unlink(&whole, first_split_);
    return &whole;
  }

  // How many of a span's segments from number `from` on are dirty, where its heap has touched as many: all of
  // a span that was dirty before, and none where pages were moved to.
  static constexpr std::uint8_t moved = 1;  // the state of such a large span, otherwise 0
  // Each is a mapping of its own and parts its neighbours; the system allows a process 65,530.
  static constexpr std::uint32_t most_moved = 8192;
  static bool is_all_dirty(const segment& s, std::size_t touched) noexcept {
    if (s.use == segment_use::large && s.state == moved) return false;
    return !s.is_zero || touched >= s.length;
  }
  std::size_t dirtied(const segment& s, std::size_t from, std::size_t touched) noexcept {
    if (s.use != segment_use::large || s.state != moved) return s.is_zero ? touched : s.length - from;
    if (from == 0) moved_.fetch_sub(1, std::memory_order_relaxed);
    std::byte* const begin = start_of(&s) + from * segment_bytes;
    const std::size_t bytes = (s.length - from) * segment_bytes;
    Range::renew(begin, bytes);
    if (wants_huge_pages_) Range::ask_for_huge_pages(begin, bytes);
    return 0;
  }

  void give_part(number first, std::size_t length, std::size_t touched) noexcept {
    if (touched != length)
      spans_.insert(static_cast<number>(first + touched), static_cast<number>(length - touched),
                    segment_use::clean, 0);
    if (touched == 0) return;
    if (keep_time_ == 0) {
      purge(first, touched);
      spans_.insert(first, static_cast<number>(touched), segment_use::clean, 0);
      return;
    }
    if (--until_time_ == 0) look_at_time();
    spans_.insert(first, static_cast<number>(touched), segment_use::dirty, now_);
    make_room(0);
  }

  // Purges what would raise the peak with `length` more segments in use. Precondition: no span is recent.
  void make_room(std::size_t length) noexcept {
    const std::size_t peak = std::max(peak_, used_ + length);
    const std::size_t allowed = std::max(peak + peak / 8, peak + least_dirty);
    while (spans_.dirty() != 0 && used_ + length + spans_.dirty() > allowed)
      purge_oldest(used_ + length + spans_.dirty() - allowed);
  }

  MALLARD_NOINLINE void look_at_time() noexcept {
    until_time_ = spans_between();
    now_ = static_cast<std::uint32_t>(Clock::now());
    while (spans_.oldest() != 0 && now_ - at(spans_.oldest())->stamp > keep_time_) purge_oldest(max_segments);
  }

  // Purges the oldest dirty span, or as much from its end as is `wanted`, at least 1 MiB.
  void purge_oldest(std::size_t wanted) noexcept {
    segment* const s = at(spans_.oldest());
    const std::size_t part = std::min<std::size_t>(s->length, std::max<std::size_t>(wanted, 16));
    const number first = spans_.oldest();
    const auto rest = static_cast<number>(s->length - part);
    spans_.remove(s);
    if (rest != 0) {
      spans_.insert(first, rest, segment_use::dirty, s->stamp);
      spans_.make_oldest(at(first));
    }
    purge(first + rest, part);
    spans_.insert(first + rest, static_cast<number>(part), segment_use::clean, 0);
    retract();
  }

  void purge(number first, std::size_t length) noexcept {
    Range::purge(start_of(at(first)), length * segment_bytes);
    purged_ += length;
  }

  // Unmaps what is clean at the end, but for a step.
  void retract() noexcept {
    const segment* const last = at(count() - 1);
    if (last->use != segment_use::clean || last->length <= 2 * step) return;
    const std::size_t kept = count() - last->length;
    spans_.remove(at(kept));
    set_count(kept);
    const std::size_t end = kept + step;
    range_.retract(start_of(at(end)), (mapped_ - end) * segment_bytes);
    mapped_ = end;
  }

  MALLARD_NOINLINE bool open() noexcept {
    if (!range_.open(most_bytes, least_bytes, segment_bytes)) return false;
    const std::size_t table_bytes = range_.size() / segment_bytes * sizeof(segment);
    const std::size_t before_parts = align_up(table_bytes, segment_bytes);
    first_part_ = before_parts / sizeof(segment);
    first_ = address_of(range_.begin()) + before_parts + align_up(parts * table_bytes, segment_bytes);
    if (!map_table(step)) return false;
    look_at_time();
    set_count(1);
    mapped_ = 1;
    return true;
  }

  // Makes the entries of all segments below `end` memory.
  bool map_table(std::size_t end) noexcept {
    const std::size_t bytes = align_up(end * sizeof(segment), segment_bytes);
    const std::size_t present = table_bytes_;
    if (bytes <= present) return true;
    if (!range_.extend(range_.begin() + present, bytes - present)) return false;
    table_bytes_ = bytes;
    if (table_ != nullptr) return true;  // find() reads it
    table_ = reinterpret_cast<segment*>(range_.begin());
    spans_.set_table(table_);
    return true;
  }

  // The same for the entries of their parts.
  bool map_parts(std::size_t end) noexcept {
    const std::size_t bytes = align_up(end * parts * sizeof(segment), segment_bytes);
    if (bytes <= parts_bytes_) return true;
    std::byte* const from = range_.begin() + first_part_ * sizeof(segment) + parts_bytes_;
    if (!range_.extend(from, bytes - parts_bytes_)) return false;
    parts_bytes_ = bytes;
    return true;
  }

  // Makes `length` segments behind all others memory. Where somebody has taken the addresses, it goes on
  // behind them. The system gives a huge page only where all of it is memory before any of it is touched.
  bool extend(std::size_t length) noexcept {
    for (std::size_t skip = step; skip != 0; skip *= 2) {
      if (count() + length <= mapped_) return true;
      const std::size_t more = std::max(count() + length, mapped_ + step);
      for (const std::size_t wanted : {wants_huge_pages_ ? end_of_huge_page(more) : more, count() + length}) {
        if (wanted > last_number() || !map_table(wanted)) continue;
        std::byte* const from = reinterpret_cast<std::byte*>(first_) + mapped_ * segment_bytes;
        if (!range_.extend(from, (wanted - mapped_) * segment_bytes)) continue;
        if (wants_huge_pages_) Range::ask_for_huge_pages(from, (wanted - mapped_) * segment_bytes);
        mapped_ = wanted;
        return true;
      }
      if (!range_.is_taken() || !skip_addresses(skip)) return false;
    }
    return false;
  }

  // The first number from `n` on where a huge page ends.
  [[nodiscard]] std::size_t end_of_huge_page(std::size_t n) const noexcept {
    constexpr std::size_t huge_page = std::size_t{2} << 20;
    const std::uintptr_t end = first_ + n * segment_bytes;
    return n + (align_up(end, huge_page) - end) / segment_bytes;
  }

  [[nodiscard]] std::size_t last_number() const noexcept {
    const std::uintptr_t end = address_of(range_.begin()) + range_.size();
    return (end - first_) / segment_bytes;
  }

  // What is mapped becomes free, and a span that nobody uses covers what is not ours.
  bool skip_addresses(std::size_t length) noexcept {
    const std::size_t end = mapped_ + length;
    if (end >= last_number() || !map_table(end)) return false;
    const auto rest = static_cast<number>(mapped_ - count());
    const auto from = static_cast<number>(count());
    segment* const taken = at(mapped_);
    taken->use = segment_use::foreign;
    taken->length = static_cast<number>(length);
    used_ += length;
    peak_ = std::max(peak_, used_);
    set_count(end);
    if (rest != 0) spans_.insert(from, rest, segment_use::clean, 0);
    mapped_ = end;
    return true;
  }

  // Spans that come back between two looks at the time: 16, more where a look is a system call.
  static std::uint32_t spans_between() noexcept {
    return static_cast<std::uint32_t>(Clock::bytes_between() / (segment_bytes / 16));
  }

  std::uintptr_t first_ = 0;            // address of segment 0
  std::atomic<std::size_t> count_ = 0;  // segments in spans or free, with number 0
  segment* table_ = nullptr;
  mutable Mutex mutex_;
  Range range_;
  std::size_t table_bytes_ = 0;               // of entries that are memory
  std::size_t parts_bytes_ = 0;               // likewise of parts
  std::size_t first_part_ = ~std::size_t{0};  // number of the entry of the first part of segment 0
  number first_split_ = 0;                    // segments with parts that nobody has
  std::size_t mapped_ = 0;                    // segments that are memory, with number 0
  std::size_t used_ = 0;                      // segments in spans of heaps
  std::size_t peak_ = 0;
  std::size_t purged_ = 0;
  std::atomic<std::uint32_t> moved_ = 0;  // spans that pages were moved to
  std::uint32_t keep_time_ = default_keep_time;
  std::uint32_t now_ = 0;
  std::uint32_t until_time_ = 0;  // dirty spans that come back until then
  bool wants_huge_pages_ = false;
  segment_spans spans_;
};

using segments = basic_segments<>;

}  // namespace mallard
