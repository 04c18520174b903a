// segment_spans: the free spans of a range of segments, joined with their neighbours, by length and by age.
//
//     entries   [used][dirty ..... dirty][clean . clean][used ......][dirty]
//                       |  \                |
//     lists by length   4   by age, oldest first   2
//
// Each segment has an entry, in a table outside of the memory that it describes. The first and the last
// entry of a free span tell its length, so that what is given back finds its neighbours in constant time.
// Dirty spans hold what somebody has left in them; clean ones are zero and hold no pages. The two are never
// joined: a request is served from what is dirty first, and what is clean need not be cleared. The age of a
// span is the mean of its segments', so one that stays free grows old, whatever is joined to it. The span
// that came back last may wait outside of the lists, as `recent`, for a request of its length. Invariant: of
// a span, only the first entry has a use, of a listed one also the last; no two listed neighbours are of one
// kind. Plain state: the caller guards it, and says where the table lies and how long it is. Cost: O(1),
// 64 bytes a segment. Seed 004, chapter 3 (segregated fits, coalescing by boundary tags).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/usage.hpp"

namespace mallard {

// What an entry describes: nothing, or the first segment of a span; of a listed span also the last one. A
// foreign span is somebody else's mapping. A segment that is split is slabs of a quarter of it each. From
// `slab` on it is in use.
enum class segment_use : std::uint8_t { none, clean, dirty, recent, slab, large, foreign, split };

struct segment;

// Is notified of a slab of which no block is in use, or that has to be looked at for another reason. A heap
// may have many keepers: the thread that frees a block reads `owner`, which is the heap, and only now and
// then the keeper.
class segment_keeper {
 public:
  virtual void notice(segment& s) noexcept = 0;  // `left` has reached 0

 protected:
  ~segment_keeper() = default;
};

// The entry of a segment. Numbers of segments link entries, as they are half as large as pointers; 0: none.
struct alignas(cache_line) segment {
  void* free = nullptr;         // a slab's free blocks
  std::uint32_t left = 0;       // frees until its heap looks at it
  std::uint16_t carved = 0;     // blocks that were handed out once
  std::uint16_t capacity = 0;   // blocks
  const void* owner = nullptr;  // the heap whose slab it is, null for everything else
  std::uint32_t size = 0;       // bytes of a block
  std::uint8_t index = 0;       // of its class
  std::uint8_t state = 0;       // as its heap likes
  segment_use use = segment_use::none;
  bool is_zero = false;    // the span is as the system has provided it
  std::uint32_t next = 0;  // free: in the list of its length; slab: in a list of its class
  std::uint32_t previous = 0;
  std::uint32_t newer = 0;  // free: in the order of ages; otherwise: in the list of what a heap has
  std::uint32_t older = 0;
  std::uint32_t length = 0;  // segments of the span
  std::uint32_t stamp = 0;   // dirty: milliseconds, when it was given back; slab: as its heap likes
  union {
    std::size_t bytes = 0;   // large: bytes of the block
    segment_keeper* keeper;  // slab: the slabs that it is of
  };
};
static_assert(sizeof(segment) == cache_line);

class segment_spans {
 public:
  using number = std::uint32_t;

  constexpr segment_spans() = default;
  segment_spans(const segment_spans&) = delete;
  segment_spans& operator=(const segment_spans&) = delete;

  // The entry of segment `n`, and the other way round. Entry 0 describes no segment.
  [[nodiscard]] segment* at(std::size_t n) const noexcept { return table_ + n; }
  [[nodiscard]] number number_of(const segment* s) const noexcept { return static_cast<number>(s - table_); }

  // Entries in spans, number 0 included; those behind are not looked at.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  void set_count(std::size_t count) noexcept { count_ = count; }
  void set_table(segment* table) noexcept { table_ = table; }

  // Segments of the recent span, 0 without one.
  [[nodiscard]] std::size_t recent() const noexcept { return recent_ == 0 ? 0 : at(recent_)->length; }

  // Segments of dirty spans, and the first entry of the one that has been free longest; 0: none.
  [[nodiscard]] std::size_t dirty() const noexcept { return dirty_; }
  [[nodiscard]] number oldest() const noexcept { return oldest_; }

  [[nodiscard]] static constexpr bool is_free(segment_use use) noexcept {
    return use == segment_use::clean || use == segment_use::dirty;
  }

  // Keeps a dirty span out of the lists; `stamp`: now. Precondition: there is no other.
  void keep_recent(segment* s, std::uint32_t stamp) noexcept {
    s->use = segment_use::recent;
    s->stamp = stamp;
    recent_ = number_of(s);
  }
  // That span, if it is as long as that; null if not.
  [[nodiscard]] segment* take_recent(std::size_t length) noexcept {
    if (recent_ == 0 || at(recent_)->length != length) return nullptr;
    segment* const s = at(std::exchange(recent_, 0));
    s->is_zero = false;
    return s;
  }
  // Lists it as dirty.
  void list_recent() noexcept {
    if (recent_ == 0) return;
    const number first = std::exchange(recent_, 0);
    insert(first, at(first)->length, segment_use::dirty, at(first)->stamp);
  }

  // A free span of at least `length`, cut to that length and out of all lists; null if there is none, or none
  // among the first `looks` of those whose list has shorter ones, too.
  [[nodiscard]] segment* take(std::size_t length, segment_use kind, std::size_t looks = 8) noexcept {
    lists& all = lists_of(kind);
    std::size_t list = list_of(length);
    number found = 0;
    if (length > 32) {
      for (number i = all.first[list]; i != 0 && looks-- != 0; i = at(i)->next)
        if (at(i)->length >= length && (found == 0 || at(i)->length < at(found)->length)) found = i;
      ++list;
    }
    if (found == 0) {
      const std::uint64_t longer = list == list_count ? 0 : all.present >> list << list;
      if (longer == 0) return nullptr;
      found = all.first[static_cast<std::size_t>(std::countr_zero(longer))];
    }
    segment* const s = at(found);
    const std::size_t rest = s->length - length;
    remove(s);
    if (rest != 0) insert(static_cast<number>(found + length), static_cast<number>(rest), kind, s->stamp);
    s->is_zero = kind == segment_use::clean;
    s->length = static_cast<number>(length);
    return s;
  }

  // Lists a free span, joined with free neighbours of its kind; `stamp`: when it became dirty.
  void insert(number first, number length, segment_use kind, std::uint32_t stamp) noexcept {
    if (const segment* const last = at(first - 1); last->use == kind) {
      const number before = last->length;
      at(first)->use = segment_use::none;
      first -= before;
      stamp = mean(stamp, length, at(first)->stamp, before);
      remove(at(first));
      length += before;
    }
    if (first + length != count_ && at(first + length)->use == kind) {
      const number behind = at(first + length)->length;
      stamp = mean(stamp, length, at(first + length)->stamp, behind);
      remove(at(first + length));
      length += behind;
    }
    segment* const s = at(first);
    segment* const last = at(first + length - 1);
    s->use = last->use = kind;
    s->length = last->length = length;
    s->stamp = stamp;
    s->owner = nullptr;
    last->owner = nullptr;
    lists& all = lists_of(kind);
    const std::size_t list = list_of(length);
    s->previous = 0;
    s->next = all.first[list];
    if (s->next != 0) at(s->next)->previous = first;
    all.first[list] = first;
    all.present |= std::uint64_t{1} << list;
    if (kind != segment_use::dirty) return;
    dirty_ += length;
    s->newer = 0;
    s->older = newest_;
    (newest_ == 0 ? oldest_ : at(newest_)->newer) = first;
    newest_ = first;
    if (later(at(oldest_)->stamp, stamp) > 0) make_oldest(s);
  }

  // The opposite; its entry keeps what it says.
  void remove(segment* s) noexcept {
    lists& all = lists_of(s->use);
    const std::size_t list = list_of(s->length);
    (s->previous == 0 ? all.first[list] : at(s->previous)->next) = s->next;
    if (s->next != 0) at(s->next)->previous = s->previous;
    if (all.first[list] == 0) all.present &= ~(std::uint64_t{1} << list);
    if (s->use == segment_use::dirty) {
      dirty_ -= s->length;
      unlink_age(s);
    }
    s->use = segment_use::none;
    at(number_of(s) + s->length - 1)->use = segment_use::none;
  }

  // A dirty span counts as the oldest from now on.
  void make_oldest(segment* s) noexcept {
    unlink_age(s);
    s->older = 0;
    s->newer = oldest_;
    (oldest_ == 0 ? newest_ : at(oldest_)->older) = number_of(s);
    oldest_ = number_of(s);
  }

  // O(segments). The segments of spans in use are `used`.
  [[nodiscard]] violation validate(std::size_t used) const noexcept {
    std::size_t in_use = 0;
    std::size_t dirty = 0;
    std::size_t free_spans = 0;
    segment_use before = segment_use::none;
    for (std::size_t i = 1; i < count_; i += at(i)->length) {
      const segment* const s = at(i);
      if (s->use == segment_use::none || s->length == 0 || s->length > count_ - i)
        return {"segment_spans: a span has no use or no length"};
      if (is_free(s->use)) {
        const segment* const last = at(i + s->length - 1);
        if (s->use == before) return {"segment_spans: two free spans were not joined"};
        if (last->use != s->use || last->length != s->length || s->owner != nullptr)
          return {"segment_spans: the ends of a free span differ"};
        ++free_spans;
      }
      const std::size_t inner = s->length - static_cast<std::size_t>(is_free(s->use));
      for (std::size_t n = 1; n < inner; ++n)
        if (at(i + n)->use != segment_use::none)
          return {"segment_spans: a segment inside of a span has a use"};
      if (s->use == segment_use::recent && i != recent_) return {"segment_spans: a recent span is lost"};
      if (s->use == segment_use::dirty) dirty += s->length;
      if (!is_free(s->use)) in_use += s->length;
      before = s->use;
    }
    if (in_use != used + recent() || dirty != dirty_)
      return {"segment_spans: spans do not add up to what is counted"};
    for (const lists* all : {&dirty_lists_, &clean_lists_})
      for (std::size_t list = 0; list != list_count; ++list) {
        number previous = 0;
        for (number i = all->first[list]; i != 0; previous = std::exchange(i, at(i)->next)) {
          if (i >= count_ || list_of(at(i)->length) != list || at(i)->previous != previous)
            return {"segment_spans: a free span is in a wrong list"};
          if (free_spans-- == 0) return {"segment_spans: more spans are listed than there are: a circle"};
        }
        if ((all->present >> list & 1) != static_cast<std::uint64_t>(all->first[list] != 0))
          return {"segment_spans: a list is empty, or not, against its bit"};
      }
    if (free_spans != 0) return {"segment_spans: a free span is in no list"};
    return {};
  }

 private:
  // One for each length up to 32 segments, then two for each doubling.
  static constexpr std::size_t list_count = 64;
  static constexpr std::size_t list_of(std::size_t length) noexcept {
    if (length <= 32) return length - 1;
    const auto doubling = static_cast<std::size_t>(std::bit_width(length - 1)) - 1;  // 2^doubling < length
    return std::min<std::size_t>(32 + 2 * (doubling - 5) + ((length - 1) >> (doubling - 1) & 1), 63);
  }

  // Milliseconds from one moment to another, which may have been before it.
  static constexpr std::int64_t later(std::uint32_t moment, std::uint32_t than) noexcept {
    return static_cast<std::int32_t>(moment - than);
  }
  static constexpr std::uint32_t mean(std::uint32_t a, number length_a, std::uint32_t b,
                                      number length_b) noexcept {
    return a + static_cast<std::uint32_t>(later(b, a) * length_b / (std::int64_t{length_a} + length_b));
  }

  struct lists {
    std::array<number, list_count> first{};
    std::uint64_t present = 0;
  };

  lists& lists_of(segment_use kind) noexcept {
    return kind == segment_use::dirty ? dirty_lists_ : clean_lists_;
  }
  void unlink_age(segment* s) noexcept {
    (s->newer == 0 ? newest_ : at(s->newer)->older) = s->older;
    (s->older == 0 ? oldest_ : at(s->older)->newer) = s->newer;
  }

  segment* table_ = nullptr;
  std::size_t count_ = 0;
  std::size_t dirty_ = 0;
  number recent_ = 0;  // 0: none
  number newest_ = 0;  // of dirty spans
  number oldest_ = 0;
  lists dirty_lists_;
  lists clean_lists_;
};

}  // namespace mallard
