// rule_cache: the frame rules of return addresses that have been seen, for the whole process.
//
//     return address --hash--> slot  [key | rule]   then the slots after it, up to an empty one
//     key:  0 empty,  1 being written,  2 forgotten,  else the return address, and then the rule is whole
//
// A lookup waits for nobody and writes nothing: one cache line when the first probe hits. A slot keeps
// its rule as long as its key stands, so a key that was read before is a rule that may be read after.
// Slots that were forgotten are used again. Above three quarters full, new addresses stay uncached.
// The table is zero pages until it is touched.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mallard/core/attributes.hpp"
#include "unwind/eh_frame_table.hpp"
#include "unwind/frame_rule.hpp"

namespace mallard::unwind {

class rule_cache {
 public:
  static constexpr std::size_t slots = std::size_t{1} << 17;
  static constexpr std::size_t most_used = slots / 4 * 3;
  static constexpr std::size_t most_tables = 128;

  // The rule of the frame that `return_address` returns into.
  [[nodiscard]] MALLARD_INLINE frame_rule rule_of(std::uintptr_t return_address) noexcept {
    const slot& first = slots_[first_index(return_address)];
    if (first.key.load(std::memory_order_acquire) == return_address) [[likely]]
      return frame_rule(first.bits.load(std::memory_order_relaxed));
    return find_further(return_address);
  }

  // To be called before what is at [begin, end) goes, or at the latest before anything else comes there.
  void forget_rules(std::uintptr_t begin, std::uintptr_t end) noexcept;

  // Calls visit(first page, pages) for what may have been read of each module to find its rules:
  // .eh_frame_hdr, from its first whole page on, and what follows it in its segment. Some of that a program
  // reads itself when it throws. Left out are modules that have code in that segment, and those beyond the
  // first most_tables.
  template <class Visit>
  void for_each_table(Visit visit) const noexcept {
    for (const std::atomic<std::uint64_t>& one : tables_)
      if (const std::uint64_t pages = one.load(std::memory_order_relaxed); pages != 0)
        visit(pages >> table_length_bits, pages & ((std::uint64_t{1} << table_length_bits) - 1));
  }

  // Slots that are not empty.
  [[nodiscard]] std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uintptr_t empty = 0, busy = 1, forgotten = 2;
  static constexpr std::size_t page = 4096;
  static constexpr unsigned table_length_bits = 28;  // of pages; those above are the first one's number

  struct alignas(16) slot {
    std::atomic<std::uintptr_t> key;
    std::atomic<std::uint64_t> bits;
  };

  static constexpr std::size_t first_index(std::uintptr_t return_address) noexcept {
    constexpr unsigned index_bits = 17;
    static_assert(slots == std::size_t{1} << index_bits);
    return return_address * 0x9e3779b97f4a7c15u >> (64 - index_bits);
  }

  [[nodiscard]] frame_rule find_further(std::uintptr_t return_address) noexcept;
  void insert(std::uintptr_t return_address, frame_rule rule) noexcept;
  void note(const eh_frame_table& read) noexcept;

  slot slots_[slots]{};
  std::atomic<std::size_t> used_{0};
  std::atomic<std::uint64_t> tables_[most_tables]{};  // 0: none
};

// The process's own.
extern rule_cache known_rules;

}  // namespace mallard::unwind
