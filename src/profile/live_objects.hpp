// live_objects: the objects that are alive, each in a slot of its own.
//
//     slots    | o | o |   | o |   |   | o | ...        free ones: a stack, the last one freed is taken next
//
// Chunks of slots never move, so growing copies nothing and references stay valid. A slot is two lines of
// the cache. Cost: a load more than an array's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "journal/event_source.hpp"
#include "profile/object.hpp"

namespace mallard::profile {

struct alignas(64) live_object {
  object what{};
  std::uint64_t births_before = 0;  // of its birth thread and family, its own included
  bool alive = false;
};

class live_objects {
 public:
  // A slot that is free so far. Throws journal::error where there are 2^32 - 1.
  std::uint32_t take() {
    if (free_.empty()) add_chunk();
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }

  void give_back(std::uint32_t slot) { free_.push_back(slot); }

  [[nodiscard]] live_object& operator[](std::uint32_t slot) noexcept {
    return chunks_[slot / chunk_slots][slot % chunk_slots];
  }

  // Asks the processor for what is in `slot`, which may be any number.
  void expect(std::uint32_t slot) const noexcept {
    if (slot >= slots()) return;
    const live_object* const at = &chunks_[slot / chunk_slots][slot % chunk_slots];
    __builtin_prefetch(at, 1);
    __builtin_prefetch(reinterpret_cast<const char*>(at) + 64, 1);
  }

  // Of all chunks: every slot is below.
  [[nodiscard]] std::size_t slots() const noexcept { return chunks_.size() * chunk_slots; }

 private:
  static constexpr std::size_t chunk_slots = std::size_t{1} << 12;

  void add_chunk() {
    const std::size_t first = slots();
    if (first + chunk_slots > UINT32_MAX)
      throw journal::error("more than 2^32 of its blocks are alive at once");
    chunks_.push_back(std::make_unique<live_object[]>(chunk_slots));
    for (std::size_t slot = first + chunk_slots; slot-- > first;)
      free_.push_back(static_cast<std::uint32_t>(slot));
  }

  std::vector<std::unique_ptr<live_object[]>> chunks_;
  std::vector<std::uint32_t> free_;
};

}  // namespace mallard::profile
