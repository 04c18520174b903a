// address_table: live addresses of a journal and the slot each block is in.
//
//     home = high bits of address * odd constant        [ .. | a s | a s | .. | a s | .. ]
//                                                              home ^----> next free entry
//
// Open addressing with linear probing; erase moves later entries of the run back, so there are no
// tombstones and a lookup ends at the first empty entry. At most half full. Address 0 means empty.
// Cost: one cache line for nearly every operation, asked for ahead of time by expect(); growing
// doubles it and inserts all again.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mallard::replay {

class address_table {
 public:
  struct entry {
    std::uint64_t address = 0;
    std::uint32_t slot = 0;
    std::uint32_t frees_owed = 0;  // frees still to come of blocks that had this address before
  };

  address_table() : entries_(std::size_t{1} << 10) { set_shift(); }

  // Asks the processor for the line where `address` is, to be here when it is looked for.
  void expect(std::uint64_t address) const noexcept { __builtin_prefetch(&entries_[home(address)], 1); }

  // The entry most likely to be `address`'s, read without looking further; any entry if it is not there.
  [[nodiscard]] const entry& guess(std::uint64_t address) const noexcept { return entries_[home(address)]; }

  // The entry of a live address, or null. Valid until the next insert or erase.
  [[nodiscard]] entry* find(std::uint64_t address) noexcept {
    for (std::size_t i = home(address);; i = next(i)) {
      if (entries_[i].address == address) return &entries_[i];
      if (entries_[i].address == 0) return nullptr;
    }
  }

  // Precondition: the address is not 0 and not in the table.
  void insert(entry added) {
    if (2 * (count_ + 1) > entries_.size()) grow();
    place(added);
    ++count_;
  }

  // Precondition: `gone` is an entry of this table.
  void erase(const entry* gone) noexcept {
    auto hole = static_cast<std::size_t>(gone - entries_.data());
    for (std::size_t i = next(hole); entries_[i].address != 0; i = next(i)) {
      const std::size_t wanted = home(entries_[i].address);
      if (distance(wanted, i) < distance(hole, i)) continue;  // it would move in front of its home
      entries_[hole] = entries_[i];
      hole = i;
    }
    entries_[hole] = {};
    --count_;
  }

  [[nodiscard]] std::size_t size() const noexcept { return count_; }

 private:
  [[nodiscard]] std::size_t home(std::uint64_t address) const noexcept {
    return static_cast<std::size_t>((address * 0x9E3779B97F4A7C15u) >> shift_);
  }
  [[nodiscard]] std::size_t next(std::size_t i) const noexcept { return (i + 1) & (entries_.size() - 1); }
  [[nodiscard]] std::size_t distance(std::size_t from, std::size_t to) const noexcept {
    return (to - from) & (entries_.size() - 1);
  }

  void set_shift() noexcept { shift_ = 64 - std::countr_zero(entries_.size()); }

  void place(const entry& added) noexcept {
    std::size_t i = home(added.address);
    while (entries_[i].address != 0) i = next(i);
    entries_[i] = added;
  }

  void grow() {
    std::vector<entry> old(entries_.size() * 2);
    old.swap(entries_);
    set_shift();
    for (const entry& e : old)
      if (e.address != 0) place(e);
  }

  std::vector<entry> entries_;
  std::size_t count_ = 0;
  int shift_ = 0;
};

}  // namespace mallard::replay
