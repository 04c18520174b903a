// flat_table: small values found by a key, such as what is known of a live block by its address.
//
//     home = high bits of the scattered key         [ .. | k v | k v | .. | k v | .. ]
//                                                          home ^----> next free entry
//
// Open addressing with linear probing; erase moves later entries of the run back, so there are no
// tombstones and a lookup ends at the first empty entry. At most two thirds full. Key{} means empty.
// Cost: one cache line for nearly every operation, asked for ahead of time by expect(); growing
// doubles it and inserts all again.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mallard::journal {

// Spreads a key over 64 bits, of which the high ones count. A key that is no number brings its own.
[[nodiscard]] constexpr std::uint64_t scatter(std::uint64_t key) noexcept {
  return key * 0x9E3779B97F4A7C15U;
}

template <class Key, class Value>
class flat_table {
 public:
  struct entry {
    Key key{};
    Value value{};
  };

  flat_table() : entries_(std::size_t{1} << 10) { set_shift(); }

  // Asks the processor for the line where `key` is, to be here when it is looked for.
  void expect(const Key& key) const noexcept { __builtin_prefetch(&entries_[home(key)], 1); }

  // The value most likely to be `key`'s, read without looking further; any value if it is not there.
  [[nodiscard]] const Value& guess(const Key& key) const noexcept { return entries_[home(key)].value; }

  // The entry of a key in the table, or null. Valid until the next insert or erase.
  [[nodiscard]] entry* find(const Key& key) noexcept {
    for (std::size_t i = home(key);; i = next(i)) {
      if (entries_[i].key == Key{}) return nullptr;
      if (entries_[i].key == key) return &entries_[i];
    }
  }

  // Precondition: the key is not Key{} and not in the table.
  void insert(const Key& key, Value value) {
    if (3 * (count_ + 1) > 2 * entries_.size()) grow();
    place({key, std::move(value)});
    ++count_;
  }

  // Precondition: `gone` is an entry of this table.
  void erase(const entry* gone) noexcept {
    auto hole = static_cast<std::size_t>(gone - entries_.data());
    for (std::size_t i = next(hole); entries_[i].key != Key{}; i = next(i)) {
      const std::size_t wanted = home(entries_[i].key);
      if (distance(wanted, i) < distance(hole, i)) continue;  // it would move in front of its home
      entries_[hole] = std::move(entries_[i]);
      hole = i;
    }
    entries_[hole] = {};
    --count_;
  }

  // Keeps its memory.
  void clear() {
    if (count_ != 0) entries_.assign(entries_.size(), {});
    count_ = 0;
  }

  [[nodiscard]] std::size_t size() const noexcept { return count_; }

 private:
  [[nodiscard]] std::size_t home(const Key& key) const noexcept {
    return static_cast<std::size_t>(scatter(key) >> shift_);
  }
  [[nodiscard]] std::size_t next(std::size_t i) const noexcept { return (i + 1) & (entries_.size() - 1); }
  [[nodiscard]] std::size_t distance(std::size_t from, std::size_t to) const noexcept {
    return (to - from) & (entries_.size() - 1);
  }

  void set_shift() noexcept { shift_ = 64 - std::countr_zero(entries_.size()); }

  void place(entry added) noexcept {
    std::size_t i = home(added.key);
    while (entries_[i].key != Key{}) i = next(i);
    entries_[i] = std::move(added);
  }

  void grow() {
    std::vector<entry> old(entries_.size() * 2);
    old.swap(entries_);
    set_shift();
    for (entry& e : old)
      if (e.key != Key{}) place(std::move(e));
  }

  std::vector<entry> entries_;
  std::size_t count_ = 0;
  int shift_ = 0;
};

}  // namespace mallard::journal
