// route_table: finds the rule of a call by the return addresses on its stack. It is the trie of an image,
// laid out for a walk: frames at which there is nothing to choose are passed at once.
//
//     image:  root -a-> 1 -b-> 2 -c-> 3 -d-> rule 1    table:  a --> step: words 2 and 7 are to be b and c;
//                                      `-e-> rule 2                  `---- word 12: (3, d) --> rule 1
//                                                                                   (3, e) --> rule 2
//
// A context is recognised by a probe for each frame at which contexts diverge, and a comparison for each
// other one: the tables of all nodes are one, whose keys are a node's number and a return address. A node
// with one entry is a check of the step that leads past it. The places of all checks are known where the
// step begins, so no load of one waits for another. Where a check fails, or the stack ends before its word,
// its node's rule holds. A word that is something else is no key, or one by chance: the request gets another
// heap, and nothing worse. So the table may be filled anew while others read it.
// Cost: O(frames of the trie), some 20 instructions a probe and 7 a comparison; 16 bytes a slot, with 3 to 5
// slots an entry, and 16 bytes a check, with one for each entry and node.
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
    std::atomic<std::uint64_t> word;
    std::atomic<std::uint32_t> offset;     // bytes from where the step begins to where the word is
    std::atomic<std::uint32_t> otherwise;  // rule if it is another one; the upper bit: a check follows
  };

  static constexpr std::uintptr_t absent = ~std::uintptr_t{0};  // base of a module that is not loaded

  // Slots for an image: at most half of those that a hash leads to are used, and what collides there goes on
  // behind them.
  static constexpr std::size_t slots_for(std::size_t entries) noexcept {
    return std::bit_ceil(2 * entries + 2) + entries + 1;
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
    mask_ = (std::bit_ceil(2 * p.entries.size() + 2) - 1) * sizeof(slot);
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
      if (&n != &p.nodes[0] && n.entries == 1) continue;
      for (const image_entry& e : p.entries.subspan(n.first_entry, n.entries)) {
        const std::uint64_t next = e.child == 0 ? address_of(e.rule) : step_of(p, e, bases, checks);
        if (next != step && bases[e.module] != absent)
          add((bases[e.module] + e.offset) ^ static_cast<std::uint64_t>(&n - p.nodes.data()) << 48, next);
      }
    }
  }

  // What the return address of a call leads to: the address of a rule, or a step.
  [[nodiscard]] MALLARD_INLINE std::uint64_t begin(std::uintptr_t called_from) const noexcept {
    const slot* const found = look_up(called_from);
    return found != nullptr ? found->next.load(std::memory_order_relaxed) : rule_of(0);
  }
  static bool is_step(std::uint64_t next) noexcept { return (next & step) != 0; }

  // The address of the rule of a call whose return address lies at `at`, and leads to a step. Words further
  // out are loaded if is_stack(at, bytes) says so of all of them, up to the one so far away; one that is not
  // there fits nothing. visit(place) is called for each further return address of the walk.
  template <class IsStack, class Visit>
  [[nodiscard]] MALLARD_INLINE std::uintptr_t go_on(const std::uintptr_t* at, std::uint64_t next,
                                                    IsStack is_stack, Visit visit) const noexcept {
    std::uint64_t node = 0;
    do {
      const std::uint64_t bytes = next >> (place_shift - 3) & most_bytes;
      if (!is_stack(at, bytes)) [[unlikely]]
        return rule_at_end(at, next, is_stack, visit);
      if (const std::uint64_t first = next >> check_shift & most_checks; first != 0) {
        const check* c = checks_ + first;
        for (;; ++c) {
          const std::uintptr_t* const place = moved(at, c->offset.load(std::memory_order_relaxed));
          visit(place);
          const std::uint32_t otherwise = c->otherwise.load(std::memory_order_relaxed);
          if (*place != c->word.load(std::memory_order_relaxed)) [[unlikely]]
            return rules_ + (otherwise & ~follows);
          if ((otherwise & follows) == 0) break;
        }
        if ((next & most_nodes) == 0) return c[1].word.load(std::memory_order_relaxed);
      }
      at = moved(at, bytes);
      visit(at);
      node = next << 48;
      const slot* const found = look_up(*at ^ node);
      if (found == nullptr) [[unlikely]]
        return rule_of(node >> 48);
      next = found->next.load(std::memory_order_relaxed);
    } while (is_step(next));
    return next;
  }

  // The same from the return address on, whatever it leads to.
  template <class IsStack, class Visit>
  [[nodiscard]] std::uintptr_t find(const std::uintptr_t* at, IsStack is_stack, Visit visit) const noexcept {
    visit(at);
    const std::uint64_t next = begin(*at);
    return is_step(next) ? go_on(at, next, is_stack, visit) : next;
  }

 private:
  // A step: its bit, 23 bits of words to the next return address to look at, 2 unused, 22 of its first check,
  // 16 of the node where it leads; the root: to the rule that is the word behind the last check.
  static constexpr std::uint64_t step = std::uint64_t{1} << 63;
  static constexpr int place_shift = 40;
  static constexpr std::uint64_t most_bytes = ((std::uint64_t{1} << 23) - 1) << 3;
  static constexpr int check_shift = 16;
  static constexpr std::uint64_t most_checks = (std::uint64_t{1} << 22) - 1;
  static constexpr std::uint64_t most_nodes = (std::uint64_t{1} << 16) - 1;
  static_assert(plan_image::most_nodes <= most_nodes + 1);
  static_assert(plan_image::most_bytes / sizeof(image_entry) + plan_image::most_nodes < most_checks);
  static constexpr std::uint32_t follows = 1u << 31;

  // Of a step that the stack is too short for: that of the node whose word is not there, or another one.
  template <class IsStack, class Visit>
  [[nodiscard]] MALLARD_NOINLINE std::uintptr_t rule_at_end(const std::uintptr_t* at, std::uint64_t next,
                                                            IsStack is_stack, Visit visit) const noexcept {
    if (const std::uint64_t first = next >> check_shift & most_checks; first != 0)
      for (const check* c = checks_ + first;; ++c) {
        const std::uint32_t offset = c->offset.load(std::memory_order_relaxed);
        const std::uint32_t otherwise = c->otherwise.load(std::memory_order_relaxed);
        if (!is_stack(at, offset)) return rules_ + (otherwise & ~follows);
        const std::uintptr_t* const place = moved(at, offset);
        visit(place);
        if (*place != c->word.load(std::memory_order_relaxed)) return rules_ + (otherwise & ~follows);
        if ((otherwise & follows) == 0) break;
      }
    return rule_of(next & most_nodes);
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

  // The step that begins with an entry, whose checks are put behind the first `checks`; one of no bytes if it
  // leads too far.
  std::uint64_t step_of(const plan_image& p, const image_entry& e, std::span<const std::uintptr_t> bases,
                        std::size_t& checks) noexcept {
    const std::size_t first = checks;
    std::uint64_t bytes = e.stack_offset;
    std::uint64_t to = e.child;
    for (bool is_check = is_passed(p, to); is_check;) {
      const image_node& n = p.nodes[to];
      const image_entry& only = p.entries[n.first_entry];
      to = only.child;
      is_check = is_passed(p, to);
      check& c = checks_[checks++];
      c.word.store(bases[only.module] == absent ? absent : bases[only.module] + only.offset,
                   std::memory_order_relaxed);
      c.offset.store(static_cast<std::uint32_t>(bytes), std::memory_order_relaxed);
      c.otherwise.store(n.rule * rule_bytes_ | (is_check ? follows : 0), std::memory_order_relaxed);
      if (to == 0)
        checks_[checks++].word.store(address_of(only.rule), std::memory_order_relaxed);
      else
        bytes += only.stack_offset;
    }
    if (bytes > most_bytes) return step;
    return step | bytes << (place_shift - 3) | (first == checks ? 0 : first << check_shift) | to;
  }
  static bool is_passed(const plan_image& p, std::uint64_t node) noexcept {
    return node != 0 && p.nodes[node].entries == 1;
  }

  slot* slots_ = nullptr;
  std::uint64_t multiplier_ = 0x9e3779b97f4a7c15;
  std::size_t mask_ = 0;  // of bytes
  check* checks_ = nullptr;
  const image_node* nodes_ = nullptr;
  std::uintptr_t rules_ = 0;
  std::uint32_t rule_bytes_ = 0;
};

}  // namespace mallard::malloc_library
