// live_walk, live_sizes: what is alive in a trace.
//
// live_walk: after each op, walked from the first op on.
//
//     op   allocate 48   allocate 100   free    reallocate 48 to 200, resized_from
//     live          48            148     48           200                     200
//
// Of blocks, the ops say it all. Of regions, what is alive in which is kept, in memory of the harness's own.
// O(1) an op; amortised, where a region ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/litter.hpp"
#include "harness/mapping.hpp"
#include "replay/trace/op.hpp"
#include "replay/trace/region_blocks.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

class live_walk {
 public:
  explicit live_walk(const trace& t)
      : trace_(t),
        in_regions_(t.facts().of == subject::regions ? t.facts().slots : 0, t.facts().region_slots) {}

  // Walks one op, which there is. False if it is none by itself but belongs to the one before it
  // (resized_from) or behind it (what ends with a region).
  bool next() {
    const std::size_t i = walked_++;
    const bool is_one = trace_.facts().of == subject::regions ? walk(trace_.region_ops()[i]) : walk(i);
    if (is_one) ++operations_;
    return is_one;
  }

  [[nodiscard]] std::uint64_t operations() const noexcept { return operations_; }  // so far
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }            // requested, alive now
  [[nodiscard]] std::uint64_t regions() const noexcept { return regions_; }        // alive now

 private:
  bool walk(std::size_t i) {
    const op* const o = &trace_.ops()[i];
    switch (o->kind) {
      case op_kind::allocate:
      case op_kind::allocate_aligned:
      case op_kind::allocate_zeroed:
        bytes_ += o->size;
        return true;
      case op_kind::deallocate:
        bytes_ -= o->size;
        return true;
      case op_kind::reallocate:
        bytes_ += o[0].size - o[1].size;
        return true;
      case op_kind::resized_from:
        return false;
    }
    return false;
  }

  bool walk(const region_op& o) {
    regions_ += static_cast<std::uint64_t>(regions_more(o.kind()));
    switch (o.kind()) {
      case region_op_kind::create:
        return true;
      case region_op_kind::allocate:
        in_regions_.add(o, nullptr, 1);
        bytes_ += o.size();
        return true;
      case region_op_kind::deallocate:
        bytes_ -= in_regions_[o.block()].size;
        in_regions_.remove(o.block());
        return true;
      case region_op_kind::clear:
      case region_op_kind::destroy:
        end_blocks(o.region());
        return true;
      case region_op_kind::ended_by_clear:
      case region_op_kind::ended_by_destroy:
        end_blocks(o.region());
        return false;
    }
    return false;
  }

  void end_blocks(std::uint32_t region) {
    in_regions_.end_all(region, [this](std::uint32_t, const region_blocks::block& b) {
      bytes_ -= b.size;
      return true;
    });
  }

  const trace& trace_;
  region_blocks in_regions_;
  std::size_t walked_ = 0;
  std::uint64_t operations_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t regions_ = 0;
};

// live_sizes: the sizes of the blocks alive at the moment of most live bytes, counted.
//
//     ops [first, max_live_op] --> slot: size --sort--> 16 x 310 | 48 x 1200 | 4096 x 3
//
// What littering draws from: with the number of blocks at that very moment, so that K times the litter is K
// times the most live bytes. Kept in memory of the harness's own. O(ops), and a sort of what is alive.
class live_sizes {
 public:
  explicit live_sizes(const trace& t);

  // By size, each once; the weight is the number of blocks.
  [[nodiscard]] std::span<const harness::size_weight> sizes() const noexcept { return sizes_; }

  // Of blocks.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  harness::scratch memory_;
  std::span<harness::size_weight> sizes_;
  std::size_t count_ = 0;
};

}  // namespace mallard::replay
