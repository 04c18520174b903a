// emulated_region<Upstream, Records>: a region of which every block is one of the upstream's.
//
//     Upstream (a malloc)   ... [block] ...... [block] ........ [block] ...
//     Records               [ * | * | * ...... ]    one entry for each, in the order of allocation
//
// Beside each block nothing is noted in it or near it: entries lie in chunks from a source of their own, and
// no block is touched here before the upstream is told of its end. So the program is the last to access it,
// and what the upstream does with neighbouring blocks is what it does for that program. An entry is a pointer
// where the upstream is `freeable`, else 16 bytes, with size and alignment. All blocks end by clear() and
// release(), the newest first; those since mark() by rewind(), those since and with a block by free_from().
// deallocate does nothing, as in a region. Invariant: the entries are the live blocks. Cost: the upstream's
// and 10 instructions for each block's allocation, the upstream's and as much for its end; clear() and the
// like O(blocks ended). Seed 002, section 5.1 (emulating regions).
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/region_emulator/record_stack.hpp"
#include "mallard/layer/growth.hpp"

namespace mallard {

// A page of entries first, for most regions are small; later many, for the few that are not.
using record_growth = doubling<4096, std::size_t{1} << 20>;

template <heap Upstream, heap Records>
class emulated_region {
  static constexpr bool by_pointer = freeable<Upstream>;

  struct pointer_entry {
    void* data;
  };
  // Sizes and alignments are below 2^58: the alignment's logarithm is in the six bits above.
  struct sized_entry {
    void* data;
    std::uint64_t packed;

    [[nodiscard]] std::size_t size() const noexcept { return packed & ((std::uint64_t{1} << 58) - 1); }
    [[nodiscard]] std::size_t align() const noexcept { return std::size_t{1} << (packed >> 58); }
  };
  using entry = std::conditional_t<by_pointer, pointer_entry, sized_entry>;
  static constexpr bool knows_sizes = !by_pointer || measurable<Upstream>;

 public:
  using upstream_type = Upstream;
  using records_type = Records;

  template <class... Args>
    requires std::constructible_from<Upstream, Args...>
  explicit emulated_region(Args&&... args) : upstream_(std::forward<Args>(args)...) {}
  emulated_region(const emulated_region&) = delete;
  emulated_region& operator=(const emulated_region&) = delete;
  ~emulated_region() {
    MALLARD_CHECK(!validate());
    end_down_to(0);
  }

  [[nodiscard]] upstream_type& upstream() noexcept { return upstream_; }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return upstream_; }

  // Where the entries' memory comes from.
  [[nodiscard]] records_type& records() noexcept { return entries_.source(); }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    if (size >> 58 != 0) return {};
    const block given = upstream_.allocate(size, align);
    if (!given) [[unlikely]]
      return {};
    const entry made = noted(given, align);
    if (!entries_.push(made)) [[unlikely]] {
      end(made);
      return {};
    }
    return given;
  }

  void deallocate(void*, std::size_t, std::size_t) noexcept {}

  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept
    requires measurable<Upstream>
  {
    return upstream_.usable_size(p);
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept
    requires predictable<Upstream>
  {
    return size >> 58 != 0 ? 0 : upstream_.received_size(size, align);
  }

  // Keeps the largest chunk of entries.
  void clear() noexcept {
    MALLARD_CHECK(!validate());
    end_down_to(0);
  }

  void release() noexcept {
    MALLARD_CHECK(!validate());
    end_down_to(0);
    entries_.release();
  }

  class mark_type {
    friend class emulated_region;
    std::size_t blocks_ = 0;
  };

  [[nodiscard]] mark_type mark() const noexcept {
    mark_type here;
    here.blocks_ = entries_.size();
    return here;
  }

  void rewind(const mark_type& to) noexcept {
    MALLARD_CHECK(!validate());
    end_down_to(to.blocks_);
  }

  // Ends the live block at `p` and every block that was allocated after it.
  void free_from(void* p) noexcept {
    for (bool found = false; !found;) {
      const entry ended = entries_.pop();
      found = ended.data == p;
      end(ended);
    }
  }

  // Bytes that the entries hold, beside what usage() tells.
  [[nodiscard]] std::size_t records_held() const noexcept { return entries_.held(); }

  // Of the blocks. An upstream that is asked for their sizes may look into them.
  [[nodiscard]] heap_usage usage() const noexcept
    requires(knows_sizes)
  {
    std::size_t bytes = 0;
    entries_.for_each_while([&](const entry& e) {
      bytes += received(e);
      return true;
    });
    return {bytes, bytes, bytes};
  }

  [[nodiscard]] violation validate() const noexcept { return entries_.validate(); }

 private:
  static entry noted(const block& given, std::size_t align) noexcept {
    if constexpr (by_pointer)
      return {given.data};
    else
      return {given.data, given.size | static_cast<std::uint64_t>(std::countr_zero(align)) << 58};
  }

  [[nodiscard]] std::size_t received(const entry& e) const noexcept {
    if constexpr (by_pointer)
      return upstream_.usable_size(e.data);
    else
      return e.size();
  }

  void end(const entry& e) noexcept {
    if constexpr (by_pointer)
      upstream_.deallocate(e.data);
    else
      upstream_.deallocate(e.data, e.size(), e.align());
  }

  void end_down_to(std::size_t blocks) noexcept {
    MALLARD_CHECK(blocks <= entries_.size());
    while (entries_.size() > blocks) end(entries_.pop());
  }

  Upstream upstream_;
  record_stack<entry, Records, record_growth> entries_;
};

}  // namespace mallard
