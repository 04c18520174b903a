// region_kinds: the memory of a program, region, one kind a build; typed objects in it, and a tally of them.
//
//     region work(parent);                 a child of `parent`, which ends before it
//     void* p = work.allocate(24, 8);      never null: a program that gets no memory ends
//     work.free(p, 24, 8);                 one block ends, where the build frees blocks one by one
//     work.clear();                        all blocks end, the region goes on
//
//     region            mallard::region              sized_reap         no headers, whole regions end
//     region_emulator   over malloc                  sized_reap_frees   and single blocks
//     individual        malloc and free, no regions  reap, reap_frees   with headers: free by pointer alone
// recorded          region, counted and reported to the recorder
//     recorded_frees    likewise, and single blocks end
//
// The kind is chosen by MALLARD_KIND, a name of namespace `kinds`; the program itself is the same. Heaps that
// are not over malloc have chunks whose beginnings can be shifted.
// Seed 002, sections 4.2, 5.1 and 8.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "harness/shifted_pages.hpp"
#include "mallard/annotate.h"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/heap/reap.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/heap/region_emulator.hpp"
#include "mallard/heap/sized_reap.hpp"
#include "mallard/source/counting.hpp"

namespace mallard::programs {

// tally: how many blocks and bytes a program has allocated, and how many lived at once.
//
//     total objects    max objects in use    average size    total memory    max in use    total/max
//
// The figures of the seed's Table 3, counted by the program itself: requested bytes, no heap's rounding.
// One for a process. Seed 002, section 5 (Table 3).

struct amount {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;

  amount& operator+=(const amount& other) noexcept {
    objects += other.objects;
    bytes += other.bytes;
    return *this;
  }
  amount& operator-=(const amount& other) noexcept {
    objects -= other.objects;
    bytes -= other.bytes;
    return *this;
  }
};

class tally {
 public:
  static tally& of_process() noexcept {
    static tally all;
    return all;
  }

  void begin(const amount& a) noexcept {
    total_ += a;
    live_ += a;
    most_.objects = std::max(most_.objects, live_.objects);
    most_.bytes = std::max(most_.bytes, live_.bytes);
  }
  void end(const amount& a) noexcept { live_ -= a; }
  void count_region() noexcept { ++regions_; }

  // To standard error, one figure a line: standard output is the program's own.
  void print() const noexcept {
    const double objects = static_cast<double>(std::max<std::uint64_t>(total_.objects, 1));
    const double most = static_cast<double>(std::max<std::uint64_t>(most_.bytes, 1));
    const auto line = [](const char* name, std::uint64_t figure) {
      std::fprintf(stderr, "%-20s %14llu\n", name, static_cast<unsigned long long>(figure));
    };
    line("total objects", total_.objects);
    line("max objects in use", most_.objects);
    std::fprintf(stderr, "%-20s %14.1f\n", "average size", static_cast<double>(total_.bytes) / objects);
    line("total memory", total_.bytes);
    line("max in use", most_.bytes);
    std::fprintf(stderr, "%-20s %14.1f\n", "total/max", static_cast<double>(total_.bytes) / most);
    line("regions", regions_);
    line("left alive", live_.objects);
  }

 private:
  amount total_;
  amount live_;
  amount most_;
  std::uint64_t regions_ = 0;
};

[[noreturn]] inline void end_without_memory() noexcept {
  std::fputs("out of memory\n", stderr);
  std::exit(3);
}

// A region over any heap that nests. The programs free each block that they know to be dead in every build;
// `Frees` says whether anything comes of it. Where it is false the calls are empty, and blocks end with their
// region. Not synchronised. Cost: the heap's own. Seed 002, sections 4.2 and 7.
template <nestable Heap, bool Frees>
class heap_region {
 public:
  static constexpr bool frees = Frees;
  static constexpr bool is_over_malloc = std::same_as<Heap, mallard::region_emulator>;

  heap_region() = default;
  explicit heap_region(heap_region& parent) : heap_(parent.heap_, nesting::ends_with_parent) {}

  [[nodiscard]] void* allocate(std::size_t size, std::size_t align) noexcept {
    const block given = heap_.allocate(size, align);
    if (!given) [[unlikely]]
      end_without_memory();
    return given.data;
  }

  // `size` is what was asked for. A heap that can frees by the pointer alone, as free() does.
  void free([[maybe_unused]] void* p, [[maybe_unused]] std::size_t size,
            [[maybe_unused]] std::size_t align) noexcept {
    if constexpr (Frees && freeable<Heap>)
      heap_.deallocate(p);
    else if constexpr (Frees)
      heap_.deallocate(p, size, align);
  }

  void clear() noexcept { heap_.clear(); }

 private:
  Heap heap_;
};

// No region at all, but malloc and a free for each block: what a program would be had nobody thought of
// regions. The program's own walks over what it has built free every block at the end of a scope or of a
// pass; a block that no walk reaches is leaked, which AddressSanitizer tells in the tests. Cost: malloc's.
// Seed 002, section 6.2 (individual frees beside regions).
class individual_blocks {
 public:
  static constexpr bool frees = true;
  static constexpr bool is_over_malloc = true;

  individual_blocks() = default;
  explicit individual_blocks(individual_blocks&) noexcept {}
  individual_blocks(const individual_blocks&) = delete;
  individual_blocks& operator=(const individual_blocks&) = delete;

  // `align` is at most malloc's own, which suits every type of the programs.
  [[nodiscard]] void* allocate(std::size_t size, std::size_t) noexcept {
    void* const p = std::malloc(size);
    if (p == nullptr) [[unlikely]]
      end_without_memory();
    return p;
  }

  void free(void* p, std::size_t, std::size_t) noexcept { std::free(p); }
  void clear() noexcept {}
};

// A region that tells the recorder what happens to it, and counts.
//
//     the program --> recorded_region --> Region
//                          |  create, allocate, free, clear, destroy   (mallard/annotate.h)
//                          +--> tally: objects and bytes, live and in all
//
// Is below a program when mallard-record runs it, whose journal then holds the region events, or
// with --count. Children end before their parents, so that each region counts its own blocks only.
// Cost: some additions an event without the recorder, with it an event of the journal. Seed 002, section 5.
template <class Region>
class recorded_region {
 public:
  static constexpr bool frees = Region::frees;
  static constexpr bool is_over_malloc = Region::is_over_malloc;
  static constexpr bool is_counting = true;

  recorded_region() { begin(nullptr); }
  explicit recorded_region(recorded_region& parent) : beneath_(parent.beneath_) { begin(&parent); }
  recorded_region(const recorded_region&) = delete;
  recorded_region& operator=(const recorded_region&) = delete;
  ~recorded_region() {
    mallard_region_destroy(this);
    tally::of_process().end(own_);
  }

  [[nodiscard]] void* allocate(std::size_t size, std::size_t align) noexcept {
    void* const p = beneath_.allocate(size, align);
    mallard_region_allocate(this, p, size);
    own_ += {1, size};
    tally::of_process().begin({1, size});
    return p;
  }

  void free(void* p, std::size_t size, std::size_t align) noexcept {
    if constexpr (!frees) return;
    mallard_region_free(this, p);
    own_ -= {1, size};
    tally::of_process().end({1, size});
    beneath_.free(p, size, align);
  }

  void clear() noexcept {
    mallard_region_clear(this);
    tally::of_process().end(own_);
    own_ = {};
    beneath_.clear();
  }

 private:
  void begin(const recorded_region* parent) noexcept {
    mallard_region_create(this, parent);
    tally::of_process().count_region();
  }

  Region beneath_;
  amount own_;
};

// A kind of region that counts for the process's tally.
template <class Region>
concept counting = requires { requires static_cast<bool>(Region::is_counting); };

namespace kinds {
using shifted = mallard::counting<harness::shifted_pages>;
using region = heap_region<basic_region<shifted>, false>;
using region_emulator = heap_region<mallard::region_emulator, false>;
using sized_reap = heap_region<basic_sized_reap<shifted>, false>;
using sized_reap_frees = heap_region<basic_sized_reap<shifted>, true>;
using reap = heap_region<basic_reap<shifted>, false>;
using reap_frees = heap_region<basic_reap<shifted>, true>;
using individual = individual_blocks;
using recorded = recorded_region<region>;
using recorded_frees = recorded_region<sized_reap_frees>;
}  // namespace kinds

using region = kinds::MALLARD_KIND;

// make, make_array, drop: typed objects in a region.
//
//     node* n = make<node>(r);               drop(r, n);
//     value* v = make_array<value>(r, 12);   drop_array(r, v, 12);
//     text* t = make_tailed<text>(r, 5);     drop_tailed(r, t, 5);      an object and five bytes behind it
//
// No destructor runs, so the types have none to run. Arrays of nothing are null and take no block.

template <class T, class... Args>
[[nodiscard]] T* make(region& r, Args&&... args) {
  static_assert(std::is_trivially_destructible_v<T>);
  return ::new (r.allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
}

template <class T>
void drop(region& r, T* object) noexcept {
  r.free(object, sizeof(T), alignof(T));
}

template <class T>
[[nodiscard]] T* make_array(region& r, std::size_t count) {
  static_assert(std::is_trivially_destructible_v<T>);
  if (count == 0) return nullptr;
  T* const first = static_cast<T*>(r.allocate(count * sizeof(T), alignof(T)));
  std::uninitialized_value_construct_n(first, count);
  return first;
}

template <class T>
void drop_array(region& r, T* first, std::size_t count) noexcept {
  if (count != 0) r.free(first, count * sizeof(T), alignof(T));
}

template <class T>
[[nodiscard]] T* make_tailed(region& r, std::size_t tail) {
  static_assert(std::is_trivially_destructible_v<T>);
  return ::new (r.allocate(sizeof(T) + tail, alignof(T))) T{};
}

template <class T>
void drop_tailed(region& r, T* object, std::size_t tail) noexcept {
  r.free(object, sizeof(T) + tail, alignof(T));
}

}  // namespace mallard::programs
