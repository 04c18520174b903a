// A plan as the malloc reads it: an image of little-endian tables, which are checked once.
//
//     [header][modules][nodes][entries][rules]           every offset, count and index is checked
//
//     return address --(node 0)--> entry --> child node, and where the next return address lies on the stack
//                                    |            `--(node 7, return address)--> entry --> rule
//                                    `--> rule: what heap a request gets
//
// Outer return addresses lie where the recorder has learned. A route_table is made of it;
// python/mallard/plan/plan_image.py writes it. Cost: 32 bytes an entry, 16 a node, 48 a rule.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

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

}  // namespace mallard::malloc_library
