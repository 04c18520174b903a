// address_recall: where an address stood last, in one probe.
//
//     slot   [address / 8: 45 bits][row: 19 bits]      place: bits 5.. of the address, the rest mixed in
//
// Neighbouring addresses have neighbouring slots, so that the index is as local as the heap is. A
// slot holds one address: a second that wants it takes it over, and the first is new when it comes
// back, which costs bytes and nothing else. Rows run on from chunk to chunk, so a new chunk clears
// nothing, and the whole is cleared once in 2^19 rows. What does not fit into a slot (an address
// that is no multiple of 8, or beyond 2^48) goes to a recall_index, which takes anything.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "journal/binary/recall_index.hpp"

namespace mallard::journal {

class address_recall {
 public:
  // For chunks of at most `max_rows` rows.
  explicit address_recall(std::size_t max_rows) : max_rows_(max_rows), first_(max_rows), slots_(slot_count) {}

  // Starts a chunk after one of `rows` rows: nothing was noted yet.
  void forget(std::size_t rows) {
    others_.forget();
    first_ += rows;
    if (first_ + max_rows_ <= most_rows) return;
    slots_.assign(slot_count, 0);
    first_ = max_rows_;  // so that an empty slot is as far away as one of an earlier chunk
  }

  // How many rows before `row` the address was noted last, 0 if it was not; and notes it.
  [[nodiscard]] std::size_t note(std::uint64_t address, std::size_t row) {
    const std::uint64_t key = key_of(address);
    if (!fits(key)) [[unlikely]]
      return note_other(address, row);
    const std::uint64_t now = key << row_bits | (first_ + row);
    const std::uint64_t distance = now - std::exchange(slots_[place(address)], now);
    return distance <= row ? distance : 0;
  }

  // The same, and notes nothing.
  [[nodiscard]] std::size_t distance(std::uint64_t address, std::size_t row) const noexcept {
    const std::uint64_t key = key_of(address);
    if (!fits(key)) return others_.distance(address, row);
    const std::uint64_t distance = (key << row_bits | (first_ + row)) - slots_[place(address)];
    return distance <= row ? distance : 0;
  }

 private:
  static constexpr unsigned row_bits = 19;
  static constexpr std::size_t most_rows = std::size_t{1} << row_bits;
  static constexpr std::size_t slot_count = std::size_t{1} << 16;  // half a MiB

  // The bits that a slot has no room for come out on top.
  static constexpr std::uint64_t key_of(std::uint64_t address) noexcept { return std::rotr(address, 3); }
  static constexpr bool fits(std::uint64_t key) noexcept { return key >> (64 - row_bits) == 0; }

  static constexpr std::size_t place(std::uint64_t address) noexcept {
    const std::uint64_t line = address >> 5;
    return (line ^ (line / slot_count) * 0x9e3779b1U) % slot_count;
  }

  std::size_t note_other(std::uint64_t address, std::size_t row) {
    const std::size_t distance = others_.distance(address, row);
    others_.note(address, row);
    return distance;
  }

  std::size_t max_rows_;
  std::size_t first_;  // running number of the chunk's first row
  std::vector<std::uint64_t> slots_;
  recall_index others_;
};

}  // namespace mallard::journal
