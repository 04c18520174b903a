// live_objects: the objects that are alive, each in a slot of its own. live_blocks: which blocks are, by
// address.
//
//     slots    | o | o |   | o |   |   | o | ...        free ones: a stack, the last one freed is taken next
//
// A slot is one line of the cache: what is known at allocation, packed. Alignments, which few objects ask
// for, are in a table. Chunks of slots never move, so growing copies nothing. Cost: 64 bytes an object, and
// packing and unpacking it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "journal/events/event_batch.hpp"
#include "journal/events/event_source.hpp"
#include "journal/events/flat_table.hpp"
#include "profile/object.hpp"

namespace mallard::profile {

class live_objects {
 public:
  // Keeps an object that has just been allocated; `note` is whatever the caller wants to know at its end.
  // Returns its slot. Throws journal::error where there are 2^32 of them.
  std::uint32_t add(const object& o, std::uint64_t note) {
    if (free_.empty()) add_chunk();
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    at(slot) = {.allocation = o.allocation,
                .previous = o.previous,
                .allocation_time = o.allocation_time,
                .address = o.address,
                .note = note,
                .size = o.size & size_mask,
                .kind = static_cast<std::uint8_t>(o.kind),
                .origin = static_cast<std::uint8_t>(static_cast<unsigned>(o.origin) & 3U),
                .aligned = o.alignment != 0,
                .alive = true,
                .allocation_ns = o.allocation_ns,
                .context = o.context,
                .thread = o.thread,
                .region = o.region};
    if (o.alignment != 0) alignments_.insert(key(slot), o.alignment);
    return slot;
  }

  // The object in `slot` as it was allocated.
  [[nodiscard]] object operator[](std::uint32_t slot) {
    const packed& p = at(slot);
    return {.allocation = p.allocation,
            .previous = p.previous,
            .allocation_time = p.allocation_time,
            .address = p.address,
            .size = p.size,
            .alignment = p.aligned ? alignments_.find(key(slot))->value : 0,
            .allocation_ns = p.allocation_ns,
            .context = p.context,
            .thread = p.thread,
            .free_thread = p.thread,
            .region = p.region,
            .kind = static_cast<journal::event_kind>(p.kind),
            .origin = static_cast<profile::origin>(p.origin)};
  }

  [[nodiscard]] std::uint64_t allocation(std::uint32_t slot) const noexcept { return at(slot).allocation; }
  [[nodiscard]] std::uint32_t thread(std::uint32_t slot) const noexcept { return at(slot).thread; }
  [[nodiscard]] std::uint64_t note(std::uint32_t slot) const noexcept { return at(slot).note; }
  [[nodiscard]] bool alive(std::uint32_t slot) const noexcept { return at(slot).alive; }

  void remove(std::uint32_t slot) {
    packed& gone = at(slot);
    if (gone.aligned) alignments_.erase(alignments_.find(key(slot)));
    gone.alive = false;
    free_.push_back(slot);
  }

  // Asks the processor for what is in `slot`, which may be any number.
  void expect(std::uint32_t slot) const noexcept {
    if (slot < slots()) __builtin_prefetch(&at(slot), 1);
  }

  // Of all chunks: every slot is below.
  [[nodiscard]] std::size_t slots() const noexcept { return chunks_.size() * chunk_slots; }

 private:
  struct alignas(64) packed {
    std::uint64_t allocation;
    std::uint64_t previous;
    std::uint64_t allocation_time;
    std::uint64_t address;
    std::uint64_t note;
    std::uint64_t size : 48;
    std::uint64_t kind : 8;
    std::uint64_t origin : 2;
    std::uint64_t aligned : 1;
    std::uint64_t alive : 1;
    float allocation_ns;
    std::uint32_t context;
    std::uint32_t thread;
    std::uint32_t region;
  };
  static_assert(sizeof(packed) == 64);

  static constexpr std::size_t chunk_slots = std::size_t{1} << 12;
  static constexpr std::uint64_t size_mask = (std::uint64_t{1} << 48) - 1;
  static_assert(journal::largest_possible <= size_mask);

  static std::uint64_t key(std::uint32_t slot) noexcept { return std::uint64_t{slot} + 1; }
  [[nodiscard]] packed& at(std::uint32_t slot) const noexcept {
    return chunks_[slot / chunk_slots][slot % chunk_slots];
  }

  void add_chunk() {
    const std::size_t first = slots();
    if (first + chunk_slots > UINT32_MAX)
      throw journal::error("more than 2^32 of its blocks are alive at once");
    chunks_.push_back(std::make_unique<packed[]>(chunk_slots));
    for (std::size_t slot = first + chunk_slots; slot-- > first;)
      free_.push_back(static_cast<std::uint32_t>(slot));
  }

  std::vector<std::unique_ptr<packed[]>> chunks_;
  std::vector<std::uint32_t> free_;
  journal::flat_table<std::uint64_t, std::uint64_t> alignments_;  // of those that have one, by key()
};

// live_blocks: which blocks are alive at one point of a journal, and how large they are.
//
// An address can be handed out again before its free was recorded, where threads race to be recorded:
// add() then ends the old block, and its late free ends nothing (owed_frees, event_batch.hpp).
class live_blocks {
 public:
  // The block at `address`, not 0, begins at `ns`; returns the size of the one that ends by it, if there is
  // one.
  std::optional<std::uint64_t> add(std::uint64_t address, std::uint64_t size, std::uint64_t ns) {
    if (auto* const found = blocks_.find(address)) {
      found->value.owed.owe(ns);
      return std::exchange(found->value.size, size);
    }
    blocks_.insert(address, {.size = size});
    return {};
  }

  // What a free of `address` means.
  enum class end { of_block, late, unmatched };

  // The block at `address` ends at `ns`; `size` becomes its size if it is `of_block`.
  end remove(std::uint64_t address, std::uint64_t& size, std::uint64_t ns) {
    auto* const found = blocks_.find(address);
    if (found == nullptr) return end::unmatched;
    if (found->value.owed.pay(ns)) return end::late;
    size = found->value.size;
    blocks_.erase(found);
    return end::of_block;
  }

  [[nodiscard]] std::size_t count() const noexcept { return blocks_.size(); }

 private:
  struct block {
    std::uint64_t size = 0;
    journal::owed_frees owed{};
  };

  journal::flat_table<std::uint64_t, block> blocks_;  // by address
};

}  // namespace mallard::profile
