// places: where `none` hands out its blocks, known before the pass.
//
//     one mapping  [ 16 | 16 | 48   | 32  | 16 | 4096 aligned to 4096 ... ]
//                                ^ a place is reused, last in first out, by the next object of its class
//
// A place is as large as its object ever becomes, so that no reallocation moves. Classes are steps
// of 16 bytes up to 1 KiB, above eight steps a doubling, each with its alignment; so the mapping is
// close to what the live objects need, and the floor runs as warm as a heap could. No two objects
// that are alive together overlap, and every place is aligned as its object asked. O(ops).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "replay/trace/op.hpp"

namespace mallard::replay {

// Which places there are, and which of them are free.
class place_table {
  using list = std::vector<std::uint64_t>;

 public:
  struct place {
    std::uint64_t offset = 0;
    list* home = nullptr;  // the free ones of its class
  };

  [[nodiscard]] place take(std::uint64_t size, std::uint64_t align);
  void give_back(const place& p) { p.home->push_back(p.offset); }

  // Bytes that all places lie in.
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }

 private:
  list& free_of(std::uint64_t size, std::uint64_t align);

  // By class: size and alignment. Small ones are met at every other op.
  std::vector<list> small_ = std::vector<list>(1024 / 16 + 1);
  std::map<std::pair<std::uint64_t, std::uint64_t>, list> others_;
  std::uint64_t end_ = 0;
};

// What the object of an allocation grows to, reallocations included.
struct extent {
  std::uint64_t size;   // bytes
  std::uint64_t align;  // bytes
};

// Of each allocation, in order of the ops.
[[nodiscard]] std::vector<extent> extents_of(std::span<const op> ops, std::size_t slots,
                                             std::size_t allocations);

// Fills `places`, one offset an allocation in order of the ops; returns the bytes they lie in.
std::uint64_t assign_places(std::span<const op> ops, std::size_t slots, std::span<std::uint64_t> places);

}  // namespace mallard::replay
