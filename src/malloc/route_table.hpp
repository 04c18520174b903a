// route_table: finds the rule of a call by the return addresses on its stack. It is the trie of an image,
// laid out for a walk: at each node further out than the caller, the first entry is expected.
//
//     image:  root -a-> 1 -b-> 2 -c-> rule 1          table:  a --> step: words 2 and 3 are to be b and c
//                       |      `-d-> rule 2                           |      `-- word 3: (2, d) --> rule 2
//                       `-e-> 3 -f-> rule 3                           `-- word 2: (1, e) --> step: f
//
// A context is recognised by a probe for the caller, a comparison for each frame that is as expected, and
// both for each other one. The tables of all nodes are one, whose keys are a node's number and a return
// address. The places of all words of a step are known where it begins, so no load of one waits for another.
// Where nothing fits, or the stack ends before the word, the node's rule holds. A word that is something else
// is no key, or one by chance: the request gets another heap, and nothing worse. So the table may be filled
// anew while others read it.
//
// Cost: O(frames of the trie), some 12 instructions for the caller, 35 for the first step, 7 a comparison and
// 20 a probe; 16 bytes a slot, with 5 to 9 slots an entry, and 16 bytes a check, with one for each entry and
// node.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "mallard/core/attributes.hpp"
#include "malloc/plan_image.hpp"

namespace mallard::malloc_library {

class route_table {
 public:
  // A slot is empty while its key is 0; it leads to rule 0, as a word may make that key by chance. Both words
  // are whole at any time, if not of one entry.
  struct slot {
    std::atomic<std::uint64_t> key;   // return address, and the node's number in the upper 16 bits
    std::atomic<std::uint64_t> next;  // a step; or, with the upper bit 0, the address of a rule
  };
  struct check {
    std::atomic<std::uint64_t> word;       // of the last one: the address of the rule, beyond any other word
    std::atomic<std::uint32_t> offset;     // bytes from where the step begins to where the word is to be
    std::atomic<std::uint32_t> otherwise;  // if it is not: a rule; `diverges`, and the node to probe; `ends`
  };

  static constexpr std::uintptr_t absent = ~std::uintptr_t{0};  // base of a module that is not loaded

  // Slots for an image: those that a hash leads to, and behind them room for what collides there.
  static constexpr std::size_t slots_for(std::size_t entries) noexcept {
    return hashed_slots(entries) + entries + 1;
  }
  static std::size_t checks_for(const plan_image& p) noexcept {
    return p.nodes.size() + p.entries.size() + 1;
  }

  // `slots`, `checks`: as many as above, zero. Rule n is n * `rule_bytes` behind `rules`.
  void open(const plan_image& p, slot* slots, check* checks, std::uintptr_t rules,
            std::uint32_t rule_bytes) noexcept {
    slots_ = slots;
    checks_ = checks;
    nodes_ = p.nodes.data();
    rules_ = rules;
    rule_bytes_ = rule_bytes;
    mask_ = (hashed_slots(p.entries.size()) - 1) * sizeof(slot);
    root_rule_ = rule_of(0);
  }

  // Knows the entries of the modules that have a base; the others are misses. One thread at a time, while
  // others walk: steps and the places of their checks are the same each time.
  void fill(const plan_image& p, std::span<const std::uintptr_t> bases) noexcept {
    for (std::size_t i = 0; i != slots_for(p.entries.size()); ++i) {
      slots_[i].key.store(0, std::memory_order_relaxed);
      slots_[i].next.store(address_of(0), std::memory_order_relaxed);
    }
    std::size_t checks = 1;  // the first one is none
    for (const image_node& n : p.nodes) {
      const bool is_root = &n == p.nodes.data();
      const auto entries = p.entries.subspan(n.first_entry, n.entries);
      for (const image_entry& e : is_root || entries.empty() ? entries : entries.subspan(1)) {
        const std::uint64_t next = step_of(p, e, bases, checks);
        if (next != step && bases[e.module] != absent && !is_rule(p, bases[e.module] + e.offset))
          add((bases[e.module] + e.offset) ^ static_cast<std::uint64_t>(&n - p.nodes.data()) << 48, next);
      }
    }
  }

  // What the return address of a call leads to: the address of a rule, or a step. Callers without an
  // entry are common: the rule of the root is at hand for them.
  [[nodiscard]] MALLARD_INLINE std::uint64_t begin(std::uintptr_t called_from) const noexcept {
    const slot* const found = look_up(called_from);
    return found == nullptr ? root_rule_ : found->next.load(std::memory_order_relaxed);
  }
  static bool is_step(std::uint64_t next) noexcept { return (next & step) != 0; }

  // The address of the rule of a call whose return address lies at `at`, and leads to a step; 0 if the stack,
  // which ends at `end`, is too short for some step, whatever its words are.
  [[nodiscard]] MALLARD_INLINE std::uintptr_t go_on(const std::uintptr_t* at, std::uint64_t next,
                                                    const std::uintptr_t* end) const noexcept {
    do {
      if ((next >> (place_shift - 3) & most_bytes) >= bytes_between(at, end)) [[unlikely]]
        return 0;
      const check* c = checks_ + (next & most_checks);
      const std::uintptr_t* place = nullptr;
      do place = moved(at, c->offset.load(std::memory_order_relaxed));
      while (*place == c++->word.load(std::memory_order_relaxed));
      const std::uint32_t otherwise = c[-1].otherwise.load(std::memory_order_relaxed);
      if ((otherwise & ends) != 0) [[likely]]
        return c[-1].word.load(std::memory_order_relaxed) ^ beyond;
      if ((otherwise & diverges) == 0) return rules_ + otherwise;
      at = place;
      next = probe(*at, otherwise & ~diverges);
    } while (is_step(next));
    return next;
  }

  // The address of the rule of a call whose return address lies at `at`, on a stack that ends at `end`: the
  // same walk, which looks at each word whether it is there, and needs more time. What is not on it fits
  // nothing. visit(place) is called for each return address of the walk.
  template <class Visit>
  [[nodiscard]] std::uintptr_t find(const std::uintptr_t* at, const std::uintptr_t* end,
                                    Visit visit) const noexcept {
    visit(at);
    std::uint64_t next = begin(*at);
    while (is_step(next)) {
      const check* c = checks_ + (next & most_checks);
      const std::uintptr_t* place = nullptr;
      std::uint32_t otherwise = 0;
      for (;; ++c) {
        otherwise = c->otherwise.load(std::memory_order_relaxed);
        if ((otherwise & ends) != 0) return c->word.load(std::memory_order_relaxed) ^ beyond;
        const std::uint32_t offset = c->offset.load(std::memory_order_relaxed);
        place = offset < bytes_between(at, end) ? moved(at, offset) : nullptr;
        if (place == nullptr) break;
        visit(place);
        if (*place != c->word.load(std::memory_order_relaxed)) break;
      }
      if ((otherwise & diverges) == 0) return rules_ + otherwise;
      if (place == nullptr) return rule_of(otherwise & ~diverges);
      at = place;
      next = probe(*at, otherwise & ~diverges);
    }
    return next;
  }

 private:
  // A step: its bit, 23 bits of words to the last return address that it may look at, 18 unused, 22 of its
  // first check.
  static constexpr std::uint64_t step = std::uint64_t{1} << 63;
  static constexpr int place_shift = 40;
  static constexpr std::uint64_t most_bytes = ((std::uint64_t{1} << 23) - 1) << 3;
  static constexpr std::uint64_t most_checks = (std::uint64_t{1} << 22) - 1;
  static_assert(plan_image::most_bytes / sizeof(image_entry) + plan_image::most_nodes < most_checks);
  static constexpr std::uint64_t beyond = std::uint64_t{1} << 63;
  static constexpr std::uint64_t unlikely_word = 0xb5ad4eceda1ce2a9;
  static constexpr std::uint32_t ends = 1u << 31;
  static constexpr std::uint32_t diverges = 1u << 30;
  static_assert(plan_image::most_nodes <= 1u << 16, "as a key has 16 bits for them");

  // A quarter of them is used at most, so that few searches look further.
  static constexpr std::size_t hashed_slots(std::size_t entries) noexcept {
    return std::bit_ceil(4 * entries + 2);
  }

  static std::uint64_t bytes_between(const std::uintptr_t* at, const std::uintptr_t* end) noexcept {
    return reinterpret_cast<std::uintptr_t>(end) - reinterpret_cast<std::uintptr_t>(at);
  }

  // What a return address leads to at a node: a step, or the address of a rule.
  [[nodiscard]] MALLARD_INLINE std::uint64_t probe(std::uintptr_t word, std::uint64_t node) const noexcept {
    const slot* const found = look_up(word ^ node << 48);
    if (found == nullptr) [[unlikely]]
      return rule_of(node);
    return found->next.load(std::memory_order_relaxed);
  }

  static const std::uintptr_t* moved(const std::uintptr_t* at, std::uint64_t bytes) noexcept {
    return reinterpret_cast<const std::uintptr_t*>(reinterpret_cast<const std::byte*>(at) + bytes);
  }
  std::uintptr_t address_of(std::uint32_t rule) const noexcept {
    return rules_ + std::uint64_t{rule} * rule_bytes_;
  }
  // Where no entry of a node fits.
  std::uintptr_t rule_of(std::uint64_t node) const noexcept { return address_of(nodes_[node].rule); }

  MALLARD_INLINE slot* first_for(std::uint64_t key) const noexcept {
    return reinterpret_cast<slot*>(reinterpret_cast<std::byte*>(slots_) + (key * multiplier_ >> 32 & mask_));
  }

  MALLARD_INLINE const slot* look_up(std::uint64_t key) const noexcept {
    for (const slot* found = first_for(key);; ++found) {
      const std::uint64_t there = found->key.load(std::memory_order_relaxed);
      if (there == key) [[likely]] {
        MALLARD_ASSUME(found != nullptr);
        return found;
      }
      if (there == 0) return nullptr;
    }
  }

  void add(std::uint64_t key, std::uint64_t next) noexcept {
    slot* to = first_for(key);
    for (; to->key.load(std::memory_order_relaxed) != 0; ++to)
      if (to->key.load(std::memory_order_relaxed) == key) return;  // the first one counts
    to->next.store(next, std::memory_order_relaxed);
    to->key.store(key, std::memory_order_release);
  }

  // What an entry leads to: the address of its rule; or a step, whose checks are put behind the first
  // `checks`; one of no bytes if it leads too far.
  std::uint64_t step_of(const plan_image& p, const image_entry& e, std::span<const std::uintptr_t> bases,
                        std::size_t& checks) noexcept {
    const std::size_t first = checks;
    std::uint64_t bytes = 0;
    const image_entry* last = &e;
    while (leads_on(p, *last)) {
      const image_node& n = p.nodes[last->child];
      const image_entry& expected = p.entries[n.first_entry];
      bytes += last->stack_offset;
      check& c = checks_[checks++];
      c.word.store(
          bases[expected.module] == absent ? unlikely_word : bases[expected.module] + expected.offset,
          std::memory_order_relaxed);
      c.offset.store(static_cast<std::uint32_t>(bytes), std::memory_order_relaxed);
      c.otherwise.store(n.entries == 1 ? n.rule * rule_bytes_ : last->child | diverges,
                        std::memory_order_relaxed);
      last = &expected;
    }
    const std::uintptr_t rule = address_of(last->child == 0 ? last->rule : p.nodes[last->child].rule);
    if (first == checks) return rule;
    check& last_check = checks_[checks++];  // fails: what a step begins with is known, and no rule's address
    last_check.word.store(rule ^ beyond, std::memory_order_relaxed);
    last_check.otherwise.store(ends, std::memory_order_relaxed);
    return step | (bytes > most_bytes ? 0 : bytes << (place_shift - 3) | first);
  }
  // An image may say that a return address is one of ours: that of a rule, which ends steps.
  bool is_rule(const plan_image& p, std::uintptr_t address) const noexcept {
    return address - rules_ < p.rules.size() * std::uint64_t{rule_bytes_};
  }
  static bool leads_on(const plan_image& p, const image_entry& e) noexcept {
    return e.child != 0 && p.nodes[e.child].entries != 0;
  }

  slot* slots_ = nullptr;
  std::uint64_t multiplier_ = 0x9e3779b97f4a7c15;
  std::size_t mask_ = 0;  // of bytes
  check* checks_ = nullptr;
  const image_node* nodes_ = nullptr;
  std::uintptr_t rules_ = 0;
  std::uintptr_t root_rule_ = 0;
  std::uint32_t rule_bytes_ = 0;
};

}  // namespace mallard::malloc_library
