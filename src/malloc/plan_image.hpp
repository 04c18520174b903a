// A plan as the malloc reads it: an image of little-endian tables, and the hash table that is made from them.
//
//     [header][modules][nodes][entries][rules]           every offset, count and index is checked once
//
//     return address --(node 0)--> entry --> child node, and where the next return address lies on the stack
//                                    |            `--(node 7, return address)--> entry --> rule
//                                    `--> rule: what heap a request gets
//
// A context is recognised by a probe for each frame at which contexts diverge, and a comparison for each
// other one: the tables of all nodes are one, whose keys are a node's number and a return address. Outer
// return addresses lie where the recorder has learned. A word that is something else is no key, or one by
// chance: the request gets another heap, and nothing worse. So the table may be filled anew while others
// read it.
// Cost: O(frames of the trie), some 20 instructions a probe and 7 a comparison; 32 bytes an entry, 16 more a
// node. python/mallard/plan/plan_image.py writes it.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "mallard/core/attributes.hpp"

namespace mallard::malloc_library {

struct image_header {
  std::array<std::uint8_t, 8> magic;
  std::uint32_t version, bytes, crc, default_heap;
  std::uint32_t modules, first_module;
  std::uint32_t nodes, first_node;
  std::uint32_t entries, first_entry;
  std::uint32_t rules, first_rule;
  std::uint32_t pools, flags;
};
static_assert(sizeof(image_header) == 64);

struct image_module {
  std::uint8_t length;  // of the build id
  std::array<std::uint8_t, 31> id;
};
static_assert(sizeof(image_module) == 32);

struct image_node {
  std::uint32_t first_entry, entries;
  std::uint32_t rule;  // where none of them fits
  std::uint32_t unused;
};
static_assert(sizeof(image_node) == 16);

struct image_entry {
  std::uint64_t offset;  // of the return address in its module
  std::uint32_t module;
  std::uint32_t child;         // node; 0: none
  std::uint32_t rule;          // without a child
  std::uint32_t stack_offset;  // bytes from this return address to the next one on the stack
  std::uint64_t unused;
};
static_assert(sizeof(image_entry) == 32);

enum class strategy : std::uint32_t { none, pool, monotonic, region, reap, thread_pool };

struct image_rule {
  strategy how;
  std::uint32_t first_pool, pools;
  std::uint32_t witness;  // 0: none; 1 rbx, 2 rbp, 3 r12 .. 6 r15; from 16 on a word of the caller's stack
  std::uint32_t largest;  // bytes; 0: 1024
  std::uint32_t frame;    // outwards; at whose return a region ends
  std::uint32_t number;   // in the plan that people read
  std::uint32_t unused;
  std::array<std::uint64_t, 2> unused_too;
};
static_assert(sizeof(image_rule) == 48);

// An image that has been checked.
struct plan_image {
  static constexpr std::uint32_t most_bytes = 1u << 26;
  static constexpr std::uint32_t huge_pages =
      1;  // a flag: memory is to be of these, unless an option says so
  static constexpr std::uint32_t most_modules = 256;
  static constexpr std::uint32_t most_nodes = 1u << 16;
  static constexpr std::uint32_t most_pools = 1u << 16;
  static constexpr std::uint32_t registers = 6;  // that may be witnesses
  static constexpr std::uint32_t first_word = 16;
  static constexpr std::uint32_t words = 20;  // of the stack that may be

  const image_header* header = nullptr;
  std::span<const image_module> modules;
  std::span<const image_node> nodes;
  std::span<const image_entry> entries;
  std::span<const image_rule> rules;
};

// zlib's crc32.
inline std::uint32_t crc32_of(std::span<const std::byte> bytes) noexcept {
  static constexpr auto table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i != 256; ++i) {
      std::uint32_t c = i;
      for (int bit = 0; bit != 8; ++bit) c = (c & 1) != 0 ? 0xedb88320u ^ c >> 1 : c >> 1;
      made[i] = c;
    }
    return made;
  }();
  std::uint32_t crc = ~0u;
  for (const std::byte b : bytes) crc = table[(crc ^ static_cast<std::uint8_t>(b)) & 0xff] ^ crc >> 8;
  return ~crc;
}

namespace image_checks {

// A table of an image, empty if it does not lie in it.
template <class T>
bool find_table(std::span<const std::byte> bytes, std::uint32_t first, std::uint32_t count,
                std::span<const T>& found) noexcept {
  if (first % alignof(T) != 0 || first < sizeof(image_header) || first > bytes.size()) return false;
  if (count > (bytes.size() - first) / sizeof(T)) return false;
  found = {reinterpret_cast<const T*>(bytes.data() + first), count};
  return true;
}

inline bool are_nodes_right(const plan_image& p) noexcept {
  std::size_t total = 0;  // of entries: each belongs to one node at most
  for (const image_node& n : p.nodes) {
    if (n.first_entry > p.entries.size() || n.entries > p.entries.size() - n.first_entry) return false;
    if (n.rule >= p.rules.size() || (total += n.entries) > p.entries.size()) return false;
  }
  return true;
}

constexpr std::uint32_t most_frames = 1u << 15;

// Nodes are a tree: children come behind their nodes, one entry at most leads to each, and every step leads
// outwards.
inline bool are_entries_right(const plan_image& p) noexcept {
  std::array<std::uint64_t, plan_image::most_nodes / 64> led_to{};  // a bit a node
  for (const image_node& n : p.nodes)
    for (const image_entry& e : p.entries.subspan(n.first_entry, n.entries)) {
      if (e.module >= p.modules.size() || e.offset >> 47 != 0) return false;
      if (e.child == 0) {
        if (e.rule >= p.rules.size()) return false;
      } else if (e.child >= p.nodes.size() || e.child <= static_cast<std::size_t>(&n - p.nodes.data()) ||
                 e.stack_offset == 0 || e.stack_offset % sizeof(std::uintptr_t) != 0) {
        return false;
      } else {
        std::uint64_t& word = led_to[e.child / 64];
        const std::uint64_t bit = std::uint64_t{1} << e.child % 64;
        if ((word & bit) != 0) return false;
        word |= bit;
      }
    }
  return true;
}

inline bool are_rules_right(const plan_image& p) noexcept {
  if (p.rules.empty() || p.rules[0].how != strategy::none) return false;
  for (const image_rule& r : p.rules) {
    if (r.how > strategy::thread_pool) return false;
    if (r.how == strategy::none) continue;
    if (!std::has_single_bit(r.pools) || r.pools > p.header->pools ||
        r.first_pool > p.header->pools - r.pools)
      return false;
    const bool is_word =
        r.witness >= plan_image::first_word && r.witness < plan_image::first_word + plan_image::words;
    if (r.witness > plan_image::registers && !is_word) return false;
    if ((r.witness == 0 && r.pools != 1) || r.frame > most_frames) return false;
  }
  return true;
}

}  // namespace image_checks

// What is wrong with an image, null if nothing is; `bytes` is aligned to 8. O(its bytes).
inline const char* check_image(std::span<const std::byte> bytes, plan_image& found) noexcept {
  using namespace image_checks;
  static constexpr std::array<std::uint8_t, 8> magic{0x89, 'M', 'L', 'P', '\r', '\n', 0x1a, '\n'};
  if (bytes.size() < sizeof(image_header) || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
    return "is no image of a plan";
  const auto& h = *reinterpret_cast<const image_header*>(bytes.data());
  if (h.version != 1 || (h.flags & ~plan_image::huge_pages) != 0) return "is of another version of mallard";
  if (h.bytes != bytes.size() || h.bytes > plan_image::most_bytes) return "is cut off, or too long";
  if (crc32_of(bytes.subspan(sizeof h)) != h.crc) return "is damaged";
  found.header = &h;
  if (!find_table(bytes, h.first_module, h.modules, found.modules) ||
      !find_table(bytes, h.first_node, h.nodes, found.nodes) ||
      !find_table(bytes, h.first_entry, h.entries, found.entries) ||
      !find_table(bytes, h.first_rule, h.rules, found.rules))
    return "has a table outside of it";
  if (h.modules == 0 || h.modules > plan_image::most_modules || h.nodes == 0 ||
      h.nodes > plan_image::most_nodes || h.pools > plan_image::most_pools || h.default_heap > 1)
    return "has absurd counts";
  for (const image_module& m : found.modules)
    if (m.length == 0 || m.length > m.id.size()) return "names a module without a build id";
  if (!are_nodes_right(found)) return "has a node that is none";
  if (!are_rules_right(found)) return "has a rule that is none";
  if (!are_entries_right(found)) return "has an entry that leads nowhere";
  return nullptr;
}

// What the trie leads to, laid out for a walk: frames at which there is nothing to choose are passed at once.
//
//     image:  root -a-> 1 -b-> 2 -c-> 3 -d-> rule 1       table:  a --> step: words 2 and 7 of the stack are
//     b, c;
//                                      `-e-> rule 2                     `---- word 12: (3, d) --> rule 1
//                                                                                      (3, e) --> rule 2
//
// A node with one entry is a check of the step that leads past it. The places of all checks are known where
// the step begins, so no load of one waits for another. Where a check fails, or the stack ends before its
// word, its node's rule holds.
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
