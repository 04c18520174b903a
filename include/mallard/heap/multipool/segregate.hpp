// segregate<Upstream, Classes, Growth, RunGrowth, FreeList>: one free list per size class, over shared
// chunks.
//
//     size, align --Classes--> [0: 8] [1: 16] [2: 24] ... [n: largest]    free lists
//                                 \      |       |          /
//                        runs of small blocks, and large ones singly
//                                 \                         /
//                                  shared_chunks: chunks, cut up
//
// It serves the sizes that have a class (Classes::serves) and returns null for others. Blocks have no
// headers: deallocate finds the class again from size and alignment. Memory of one class is not used for
// another before clear() or release(). FreeList decides which freed block is reused first: intrusive_stack
// the newest, intrusive_queue the oldest. Cost of a pair up to Classes::small bytes: 7 instructions if size
// and alignment are constants, 17 if one is known only at run time, 23 if both are (./dev instructions). It
// holds nothing until first used.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/intrusive_stack.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/multipool/lazy_array.hpp"
#include "mallard/heap/multipool/runs.hpp"
#include "mallard/heap/multipool/singles.hpp"
#include "mallard/layer/address_ranges.hpp"
#include "mallard/layer/shared_chunks.hpp"

namespace mallard {

template <heap Upstream, class Classes, growth_policy Growth, growth_policy RunGrowth,
          class FreeList = intrusive_stack>
class segregate {
 public:
  using classes = Classes;

  template <class... Args>
    requires std::constructible_from<Upstream, Args...>
  explicit segregate(Args&&... args) : shared_(std::forward<Args>(args)...) {}
  segregate(const segregate&) = delete;
  segregate& operator=(const segregate&) = delete;

  // The inline part of allocate: a freed block of a small class, or null.
  [[nodiscard]] MALLARD_INLINE block allocate_fast(std::size_t size, std::size_t align) noexcept {
    if (!Classes::is_small(size, align)) [[unlikely]]
      return {};
    const std::size_t index = Classes::small_index(size, align);
    return {freed_[index].pop(), Classes::size(index)};
  }

  // After allocate_fast has found none: a new block of class `index`. Inline as far as most large ones go,
  // which then need no stack frame.
  [[nodiscard]] MALLARD_INLINE block carve(std::size_t index) noexcept {
    if (index >= first_single) [[likely]] {
      const std::size_t size = Classes::size(index);
      void* const p = singles_.use(index - first_single).carve(shared_, size, Classes::natural_align(size));
      if (p != nullptr) [[likely]]
        return {p, size};
    }
    return carve_slow(index);
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    if (!Classes::serves(size, align)) return {};
    const std::size_t index = Classes::index(size, align);
    void* const p = freed_[index].pop();
    return p == nullptr ? carve(index) : block{p, Classes::size(index)};
  }

  // The inline part of deallocate; false if it has done nothing.
  [[nodiscard]] MALLARD_INLINE bool deallocate_fast(void* p, std::size_t size, std::size_t align) noexcept {
    if (!Classes::is_small(size, align)) [[unlikely]]
      return false;
    freed_[Classes::small_index(size, align)].push(p);
    return true;
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    MALLARD_CHECK(Classes::serves(size, align));
    freed_[Classes::index(size, align)].push(p);
  }

  // Appends `count` blocks of one class to `out`, or none: freed ones first; of the new ones, as many as fit
  // into `contiguous` bytes are adjacent, if there is room. O(count).
  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t contiguous) noexcept {
    MALLARD_CHECK(Classes::serves(size, align));
    const std::size_t index = Classes::index(size, align);
    const std::size_t received = Classes::size(index);
    std::size_t adjacent = std::clamp<std::size_t>(contiguous / received, 1, max_request / received / 2);
    if (adjacent != 1 && index < first_single) runs_.use(index).uncarve(received, freed_[index]);
    chain taken;
    for (; count != 0 && !freed_[index].empty(); --count) taken.push_back(freed_[index].pop());
    while (count != 0) {
      std::size_t blocks = std::min(count, adjacent);
      std::byte* p = carve_adjacent(index, received, blocks);
      if (p == nullptr && blocks != 1) {
        adjacent = blocks / 2;  // for the rest as well: a refused length is not tried again
        continue;
      }
      if (p == nullptr) {
        freed_[index].push(taken);
        return false;
      }
      for (count -= blocks; blocks != 0; --blocks, p += received) taken.push_back(p);
    }
    out.splice_back(taken);
    return true;
  }

  void deallocate_burst(chain& blocks, std::size_t size, std::size_t align) noexcept {
    MALLARD_CHECK(Classes::serves(size, align));
    freed_[Classes::index(size, align)].push(blocks);
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    return Classes::serves(size, align) ? Classes::size(Classes::index(size, align)) : 0;
  }

  // For a request that the upstream has refused: returns the chunks that clear() has kept and that are unused
  // since; whether there were any.
  [[nodiscard]] bool give_spares_back() noexcept { return shared_.give_spares_back(); }

  // Ends all blocks; keeps all chunks.
  void clear() noexcept {
    end_blocks();
    shared_.clear();
  }

  void release() noexcept {
    end_blocks();
    shared_.release();
  }

  // Ends all blocks and drops all chunks, which their upstream ends.
  void forget() noexcept {
    end_blocks();
    shared_.forget();
  }

  [[nodiscard]] bool owns(const void* p) const noexcept { return shared_.owns(p); }

  // Statistics of the pool of class `index`, below Classes::count. O(its blocks).
  [[nodiscard]] pool_statistics statistics(std::size_t index) const noexcept {
    const std::size_t size = Classes::size(index);
    const std::size_t carved =
        index < first_single ? runs_[index].carved(size) : singles_[index - first_single].carved();
    return {size, carved, freed_[index].count()};
  }

  [[nodiscard]] heap_usage usage() const noexcept {
    std::size_t granted = 0;
    for (std::size_t i = 0; i < Classes::count; ++i) granted += statistics(i).live() * Classes::size(i);
    return {shared_.held(), granted, granted};
  }

  [[nodiscard]] address_ranges chunk_ranges() const noexcept { return shared_.chunk_ranges(); }

  // O(blocks freed log (runs + blocks freed)), in the memory of address_ranges.
  [[nodiscard]] violation validate() const noexcept {
    if (violation v = shared_.validate()) return v;
    const address_ranges chunks = shared_.chunk_ranges();
    for (std::size_t i = 0; i < first_single; ++i) {
      const std::size_t size = Classes::size(i);
      if (violation v = runs_[i].validate(chunks, size, Classes::natural_align(size))) return v;
      if (violation v = validate_freed(freed_[i], runs_[i].carved_ranges(), size)) return v;
    }
    for (std::size_t i = first_single; i < Classes::count; ++i)
      if (violation v = validate_single(i, chunks)) return v;
    if (taken_ranges().overlap()) return {"segregate: a freed block lies in another, or in a run"};
    return {};
  }

 private:
  // The first class whose blocks are cut singly; Classes::count if there is none.
  static constexpr std::size_t first_single = [] {
    std::size_t index = 0;
    while (index < Classes::count && Classes::size(index) < singles::least) ++index;
    return index;
  }();

  // From a run, or from another place than the last single block.
  MALLARD_NOINLINE block carve_slow(std::size_t index) noexcept {
    const std::size_t size = Classes::size(index);
    const std::size_t align = Classes::natural_align(size);
    void* const p = index < first_single
                        ? runs_.use(index).template carve<RunGrowth>(shared_, size, align, freed_[index])
                        : singles_.use(index - first_single).carve_slow(shared_, size, align);
    return {p, p == nullptr ? 0 : size};
  }

  std::byte* carve_adjacent(std::size_t index, std::size_t size, std::size_t count) noexcept {
    const std::size_t align = Classes::natural_align(size);
    if (index >= first_single)
      return singles_.use(index - first_single).carve_adjacent(shared_, size, align, count);
    return runs_.use(index).template carve_adjacent<RunGrowth>(shared_, size, align, count, freed_[index]);
  }

  // Whether the freed blocks of a class without runs can be its own. Each is looked up before its link is
  // followed.
  [[nodiscard]] violation validate_single(std::size_t index, const address_ranges& chunks) const noexcept {
    const std::size_t size = Classes::size(index);
    std::size_t blocks = singles_[index - first_single].carved();
    for (const void* p = freed_[index].top(); p != nullptr; p = FreeList::next(p)) {
      if (blocks-- == 0) return {"segregate: more blocks are freed than were carved: a circle"};
      if (!is_aligned(p, Classes::natural_align(size))) return {"segregate: a freed block is misaligned"};
      if (!chunks.contains(p) || !chunks.contains(static_cast<const std::byte*>(p) + size - 1))
        return {"segregate: a freed block lies outside the chunks"};
    }
    return {};
  }

  // The address ranges of runs, and of freed blocks that are in none: no two may overlap. Precondition: the
  // free lists are intact.
  [[nodiscard]] address_ranges taken_ranges() const noexcept {
    return address_ranges([this](auto f) {
      for (std::size_t i = 0; i < first_single; ++i) runs_[i].for_each(f);
      for (std::size_t i = first_single; i < Classes::count; ++i)
        for (const void* p = freed_[i].top(); p != nullptr; p = FreeList::next(p)) f(p, Classes::size(i));
    });
  }

  void end_blocks() noexcept {
    freed_.fill({});
    runs_.clear();
    singles_.clear();
  }

  // Apart from the source of new blocks, so that one scaled load finds a list.
  std::array<FreeList, Classes::count> freed_{};
  lazy_array<runs, std::max<std::size_t>(first_single, 1)> runs_;
  lazy_array<singles, std::max<std::size_t>(Classes::count - first_single, 1)> singles_;
  shared_chunks<Upstream, Growth> shared_;
};

}  // namespace mallard
