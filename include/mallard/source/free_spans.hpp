// free_spans<Joins>: free spans of pages, found by size, by age and by their neighbours' addresses.
//
//     sizes      [0] [1] [2] ... [span_sizes::count - 1]     a list each, a bit for each large one
//     age        newest <-> ... <-> oldest
//     boundaries first page -> span, last page -> span       of spans of 33 pages and more
//
// A small span serves only requests of its own size, so that the next short-lived heap finds what the last
// one left. If `Joins`, a larger one is joined with its free neighbours when it comes and cut when it goes:
// blocks that grow step by step leave spans of many sizes, none of which would be asked for again.
//
// A span holds its links in its first bytes; the rest of it is not touched. The table of boundaries has pages
// of its own; while there are none for it, spans are not joined. Not synchronised.
// Invariant: each span is once in the list of its size and once in the list of ages; a joined one is twice in
// the table. Cost: O(1) on average, except pages() and validate(). Initialised at compile time; the table
// stays until the process ends.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {

// The sizes that requests are rounded to, counted in pages.
//
//     1 2 3 ... 8 | 10 12 ... 128 | 132 136 ... 256 | ... | 2^18
//     every page  | even          | 32 sizes a doubling
//
// A small span serves only requests of its own size, so fewer sizes fit sooner, and rounding up holds memory
// for nothing. This loses nothing up to 8 pages, where most chunks are, at most a page up to 64, and less
// than 1/32 of the request above. Even sizes let spans of an even number of pages be aligned to two without
// holes between them. The largest is what monotonic_growth asks for at most: 1 GiB in pages of 4 KiB.
// Invariant: rounded(n) >= n is the same for every size in between. Cost: a few shifts.
class span_sizes {
  static constexpr std::size_t per_doubling = 32;
  static constexpr std::size_t exact = 2 * per_doubling;  // pages: up to here there is a list for each number

 public:
  static constexpr std::size_t largest = std::size_t{1} << 18;  // pages
  static constexpr std::size_t largest_odd = 8;                 // pages: from here on sizes are even
  static constexpr std::size_t largest_small = 32;              // pages: larger spans are joined and cut
  static constexpr std::size_t count =
      exact + per_doubling * static_cast<std::size_t>(std::countr_zero(largest / exact));

  // The size that a request for `pages` pages receives; precondition: 0 < pages <= largest.
  [[nodiscard]] static constexpr std::size_t rounded(std::size_t pages) noexcept {
    if (pages <= largest_odd) [[likely]]
      return pages;
    const std::size_t found = pages_of(list_of(pages));
    return found + found % 2;
  }

  // The list of the spans that serve requests for rounded(pages): those in it and in all above are large
  // enough.
  [[nodiscard]] static constexpr std::size_t list_of(std::size_t pages) noexcept {
    const std::size_t last = pages - 1;
    if (last < exact) [[likely]]
      return last;
    const auto dropped = static_cast<std::size_t>(std::bit_width(last / exact));  // bits of `last`
    return dropped * per_doubling + (last >> dropped);
  }

  // The list that a span of `pages` pages is in: that of the largest size that it can serve.
  [[nodiscard]] static constexpr std::size_t list_for(std::size_t pages) noexcept {
    if (pages >= largest) return count - 1;
    const std::size_t list = list_of(pages);
    return list - static_cast<std::size_t>(pages_of(list) > pages);
  }

 private:
  // The fewest pages of a span in a list.
  static constexpr std::size_t pages_of(std::size_t list) noexcept {
    if (list < exact) [[likely]]
      return list + 1;
    const std::size_t dropped = list / per_doubling - 1;
    return (list - dropped * per_doubling + 1) << dropped;
  }
};

template <bool Joins>
class free_spans {
 public:
  free_spans() = default;
  free_spans(const free_spans&) = delete;
  free_spans& operator=(const free_spans&) = delete;

  // Adds the span of `pages` pages at `p`, free since `since`, as the newest. Where it is joined with a
  // larger neighbour, both are as old as that.
  MALLARD_INLINE void put(void* p, std::size_t pages, std::uint64_t since, int page_shift) noexcept {
    if (pages <= span_sizes::largest_small) [[likely]] {
      auto* const s = ::new (p) span{{}, {nullptr, newest_}, pages, since, false};
      (newest_ == nullptr ? oldest_ : newest_->of_age.newer) = s;
      newest_ = s;
      return push(s, pages - 1);
    }
    put_large(p, pages, since, page_shift);
  }

  // `pages` pages, a rounded size; null if there is no span for them. Of a small size the newest, otherwise
  // the end of one that fits well.
  [[nodiscard]] void* take(std::size_t pages, int page_shift) noexcept {
    if (pages <= span_sizes::largest_small) [[likely]] {
      span*& newest_of_size = by_size_[pages - 1];
      span* const s = newest_of_size;
      if (s == nullptr) return nullptr;
      newest_of_size = s->of_size.older;
      if (newest_of_size != nullptr) newest_of_size->of_size.newer = nullptr;
      unlink_age(s);
      return s;
    }
    return take_large(pages, page_shift);
  }

  // Whether there is none.
  [[nodiscard]] bool empty() const noexcept { return oldest_ == nullptr; }

  // Since when the oldest one is free. Precondition: there is one.
  [[nodiscard]] std::uint64_t oldest_since() const noexcept { return oldest_->since; }

  // Removes the oldest span, or the begin of a joined one that has more than `most` pages, as requests take
  // the end; sets `pages` to what that has. Precondition: there is one.
  [[nodiscard]] void* take_oldest(std::size_t most, std::size_t& pages, int page_shift) noexcept {
    span* const s = oldest_;
    pages = is_joined(s->pages) ? std::min(most, s->pages) : s->pages;
    if (pages == s->pages) return cut(s, pages, page_shift);
    forget(s, page_shift);
    span* const rest = ::new (reinterpret_cast<std::byte*>(s) + (pages << page_shift)) span(*s);
    rest->pages -= pages;
    (rest->of_age.newer == nullptr ? newest_ : rest->of_age.newer->of_age.older) = rest;
    oldest_ = rest;
    remember(rest, page_shift);
    return s;
  }

  // Pages of all spans.
  [[nodiscard]] std::size_t pages() const noexcept {
    std::size_t sum = 0;
    for (const span* s = newest_; s != nullptr; s = s->of_age.older) sum += s->pages;
    return sum;
  }

  [[nodiscard]] violation validate(int page_shift) const noexcept {
    std::size_t spans = 0;
    std::size_t known = 0;
    const span* newer = nullptr;
    for (const span* s = newest_; s != nullptr; newer = std::exchange(s, s->of_age.older), ++spans) {
      if (s->of_age.newer != newer || s->pages == 0) return {"free_spans: a span was overwritten"};
      if (newer != nullptr && newer->since < s->since) return {"free_spans: a newer span is older"};
      if (!s->is_known) continue;
      known += 2;
      if (boundaries_.find(first_page(s, page_shift)) != s || boundaries_.find(last_page(s, page_shift)) != s)
        return {"free_spans: a span cannot be found by its neighbours"};
    }
    if (oldest_ != newer) return {"free_spans: the oldest span is another"};
    if (known != boundaries_.size()) return {"free_spans: a span is known that is none"};
    for (std::size_t list = 0; list < span_sizes::count; ++list) {
      if (is_joined(list + 1) && (by_size_[list] != nullptr) != has(list))
        return {"free_spans: a list is not marked as it is"};
      newer = nullptr;
      for (const span* s = by_size_[list]; s != nullptr; newer = std::exchange(s, s->of_size.older)) {
        if (s->of_size.newer != newer) return {"free_spans: a span of the same size was overwritten"};
        if (span_sizes::list_for(s->pages) != list || spans-- == 0)
          return {"free_spans: a span is among others of its size"};
      }
    }
    if (spans != 0) return {"free_spans: a span cannot be found by its size"};
    return {};
  }

 private:
  struct span;
  struct links {
    span* newer;
    span* older;
  };
  struct span {
    links of_size;
    links of_age;
    std::size_t pages;
    std::uint64_t since;
    bool is_known;  // in the table of boundaries
  };

  // Which span has this page as its first or its last: a hash table with linear probing, in pages of its own.
  class boundary_table {
   public:
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    [[nodiscard]] span* find(std::uintptr_t page) const noexcept {
      if (size_ == 0) return nullptr;
      for (std::size_t i = home(page); entries_[i].of != nullptr; i = (i + 1) & mask_)
        if (entries_[i].page == page) return entries_[i].of;
      return nullptr;
    }

    // Whether there is room for two more.
    [[nodiscard]] bool reserve_two() noexcept {
      return 2 * (size_ + 2) <= capacity() || grow() || 8 * (size_ + 2) <= 7 * capacity();
    }

    // Precondition: there is room.
    void insert(std::uintptr_t page, span* of) noexcept {
      std::size_t i = home(page);
      while (entries_[i].of != nullptr) i = (i + 1) & mask_;
      entries_[i] = {page, of};
      ++size_;
    }

    // Precondition: it is in.
    void erase(std::uintptr_t page) noexcept {
      std::size_t hole = home(page);
      while (entries_[hole].page != page || entries_[hole].of == nullptr) hole = (hole + 1) & mask_;
      for (std::size_t i = (hole + 1) & mask_; entries_[i].of != nullptr; i = (i + 1) & mask_) {
        if (((i - home(entries_[i].page)) & mask_) < ((i - hole) & mask_)) continue;  // it would not be found
        entries_[hole] = entries_[i];
        hole = i;
      }
      entries_[hole] = {};
      --size_;
    }

   private:
    struct entry {
      std::uintptr_t page;
      span* of;
    };

    [[nodiscard]] std::size_t capacity() const noexcept { return entries_ == nullptr ? 0 : mask_ + 1; }
    [[nodiscard]] std::size_t home(std::uintptr_t page) const noexcept {
      return static_cast<std::size_t>((page * 0x9e3779b97f4a7c15) >> 32) & mask_;
    }

    bool grow() noexcept {
      const std::size_t before = capacity();
      const std::size_t wanted = before == 0 ? 4096 : 2 * before * sizeof(entry);
      const block memory = os_pages().allocate(wanted, alignof(entry));
      if (!memory) return false;
      entry* const old = std::exchange(entries_, static_cast<entry*>(memory.data));
      mask_ = std::bit_floor(memory.size / sizeof(entry)) - 1;
      size_ = 0;
      for (std::size_t i = 0; i < before; ++i)
        if (old[i].of != nullptr) insert(old[i].page, old[i].of);
      if (old != nullptr) os_pages().deallocate(old, before * sizeof(entry), alignof(entry));
      return true;
    }

    entry* entries_ = nullptr;
    std::size_t mask_ = 0;
    std::size_t size_ = 0;
  };

  static constexpr bool is_joined(std::size_t pages) noexcept {
    return Joins && pages > span_sizes::largest_small;
  }

  static std::uintptr_t first_page(const span* s, int page_shift) noexcept {
    return address_of(s) >> page_shift;
  }
  static std::uintptr_t last_page(const span* s, int page_shift) noexcept {
    return first_page(s, page_shift) + s->pages - 1;
  }

  [[nodiscard]] bool has(std::size_t list) const noexcept {
    return (present_[list / 64] >> (list % 64) & 1) != 0;
  }

  // The first list from `list` on that has a span; count if none has.
  [[nodiscard]] std::size_t first_list(std::size_t list) const noexcept {
    std::uint64_t bits = present_[list / 64] & (~std::uint64_t{0} << (list % 64));
    for (std::size_t word = list / 64;;) {
      if (bits != 0) return word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
      if (++word == present_.size()) return span_sizes::count;
      bits = present_[word];
    }
  }

  // take() of a span that may be cut. Not inline, or the small ones would save registers for it.
  MALLARD_NOINLINE void* take_large(std::size_t pages, int page_shift) noexcept {
    std::size_t list = span_sizes::list_of(pages);
    if constexpr (Joins) list = first_list(list);
    span* const s = list == span_sizes::count ? nullptr : by_size_[list];
    return s == nullptr ? nullptr : cut(s, pages, page_shift);
  }

  // put() of a span that may be joined.
  MALLARD_NOINLINE void put_large(void* p, std::size_t pages, std::uint64_t since, int page_shift) noexcept {
    auto* begin = static_cast<std::byte*>(p);
    const std::uintptr_t first = address_of(p) >> page_shift;
    span* const left = boundaries_.find(first - 1);
    span* const right = boundaries_.find(first + pages);
    span* aged = nullptr;
    for (std::size_t most = pages; span* const neighbour : {left, right}) {
      if (neighbour == nullptr) continue;
      pages += neighbour->pages;
      if (std::exchange(most, std::max(most, neighbour->pages)) < neighbour->pages) aged = neighbour;
    }
    if (left != nullptr) begin = reinterpret_cast<std::byte*>(left);
    for (span* const neighbour : {left, right}) {
      if (neighbour == nullptr) continue;
      forget(neighbour, page_shift);
      if (neighbour != aged) unlink_age(neighbour);
    }
    const links age = aged == nullptr ? links{nullptr, newest_} : aged->of_age;
    if (aged != nullptr) since = aged->since;
    auto* const s = ::new (begin) span{{}, age, pages, since, false};
    (age.newer == nullptr ? newest_ : age.newer->of_age.older) = s;
    (age.older == nullptr ? oldest_ : age.older->of_age.newer) = s;
    remember(s, page_shift);
  }

  // The last `pages` pages of a span; it keeps its age with the rest.
  void* cut(span* s, std::size_t pages, int page_shift) noexcept {
    forget(s, page_shift);
    s->pages -= pages;
    if (s->pages == 0)
      unlink_age(s);
    else
      remember(s, page_shift);
    return reinterpret_cast<std::byte*>(s) + (s->pages << page_shift);
  }

  void push(span* s, std::size_t list) noexcept {
    s->of_size = {nullptr, by_size_[list]};
    if (s->of_size.older != nullptr) s->of_size.older->of_size.newer = s;
    by_size_[list] = s;
  }

  // Makes a span with its place in the order of ages one that can be found by size and by its neighbours.
  void remember(span* s, int page_shift) noexcept {
    const std::size_t list = span_sizes::list_for(s->pages);
    push(s, list);
    if (!is_joined(s->pages)) return;
    present_[list / 64] |= std::uint64_t{1} << (list % 64);
    s->is_known = boundaries_.reserve_two();
    if (!s->is_known) return;
    boundaries_.insert(first_page(s, page_shift), s);
    boundaries_.insert(last_page(s, page_shift), s);
  }

  // The opposite.
  void forget(span* s, int page_shift) noexcept {
    const std::size_t list = span_sizes::list_for(s->pages);
    const auto [newer, older] = s->of_size;
    (newer == nullptr ? by_size_[list] : newer->of_size.older) = older;
    if (older != nullptr) older->of_size.newer = newer;
    if (!is_joined(s->pages)) return;
    if (by_size_[list] == nullptr) present_[list / 64] &= ~(std::uint64_t{1} << (list % 64));
    if (!std::exchange(s->is_known, false)) return;
    boundaries_.erase(first_page(s, page_shift));
    boundaries_.erase(last_page(s, page_shift));
  }

  void unlink_age(span* s) noexcept {
    const auto [newer, older] = s->of_age;
    (newer == nullptr ? newest_ : newer->of_age.older) = older;
    (older == nullptr ? oldest_ : older->of_age.newer) = newer;
  }

  span* newest_ = nullptr;
  span* oldest_ = nullptr;
  boundary_table boundaries_;
  std::array<std::uint64_t, (span_sizes::count + 63) / 64> present_{};
  std::array<span*, span_sizes::count> by_size_{};
};

}  // namespace mallard
