// last_rows: how many rows ago a number occurred, for the back-references of a column.
//
//     row      3    8   20
//     number   a    b    a       at row 31, a stood 11 rows ago, b 23, c never
//
// last_rows takes any numbers but 0, and finds every one. address_last_rows finds an address in one probe:
//
//     slot   [address / 8: 45 bits][row: 19 bits]      place: bits 5.. of the address, the rest mixed in
//
// Neighbouring addresses have neighbouring slots, so that the index is as local as the heap is. A
// slot holds one address: a second that wants it takes it over, and the first is new when it comes
// back, which costs bytes and nothing else. Rows run on from chunk to chunk, so a new chunk clears
// nothing, and the whole is cleared once in 2^19 rows. What does not fit into a slot (an address
// that is no multiple of 8, or beyond 2^48) goes to a last_rows.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "journal/events/flat_table.hpp"

namespace mallard::journal {

class last_rows {
 public:
  // Starts a chunk: no number has stood in it yet.
  void clear() { rows_.clear(); }

  // How many rows before `row` the number was recorded last; 0 if it was not.
  [[nodiscard]] std::size_t distance(std::uint64_t number, std::size_t row) noexcept {
    const auto* last = rows_.find(number);
    return last == nullptr ? 0 : row - last->value;
  }

  // Precondition: the number is not 0.
  void record(std::uint64_t number, std::size_t row) {
    if (auto* last = rows_.find(number))
      last->value = static_cast<std::uint32_t>(row);
    else
      rows_.insert(number, static_cast<std::uint32_t>(row));
  }

 private:
  flat_table<std::uint64_t, std::uint32_t> rows_;
};

class address_last_rows {
 public:
  // For chunks of at most `max_rows` rows.
  explicit address_last_rows(std::size_t max_rows)
      : max_rows_(max_rows), first_(max_rows), slots_(slot_count) {}

  // Starts a chunk after one of `rows` rows: no address has stood in it yet.
  void clear(std::size_t rows) {
    others_.clear();
    first_ += rows;
    if (first_ + max_rows_ <= most_rows) return;
    slots_.assign(slot_count, 0);
    first_ = max_rows_;  // so that an empty slot is as far away as one of an earlier chunk
  }

  // Records the address. Returns how many rows before `row` it was recorded last; 0 if it was not.
  [[nodiscard]] std::size_t record(std::uint64_t address, std::size_t row) {
    const std::uint64_t key = key_of(address);
    if (!fits(key)) [[unlikely]]
      return record_other(address, row);
    const std::uint64_t now = key << row_bits | (first_ + row);
    const std::uint64_t distance = now - std::exchange(slots_[place(address)], now);
    return distance <= row ? distance : 0;
  }

  // The same, and records nothing.
  [[nodiscard]] std::size_t distance(std::uint64_t address, std::size_t row) noexcept {
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

  std::size_t record_other(std::uint64_t address, std::size_t row) {
    const std::size_t distance = others_.distance(address, row);
    others_.record(address, row);
    return distance;
  }

  std::size_t max_rows_;
  std::size_t first_;  // running number of the chunk's first row
  std::vector<std::uint64_t> slots_;
  last_rows others_;
};

}  // namespace mallard::journal
