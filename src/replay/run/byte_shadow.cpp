#include "replay/run/byte_shadow.hpp"

#include <algorithm>

#include "mallard/core/align.hpp"

namespace mallard::replay {
namespace {

constexpr std::size_t page_bytes = 4096;
// Address space only; pages come into being where they are used. 2^28 pages are 1 TiB of blocks.
constexpr std::size_t most_nodes = std::size_t{1} << 20;
constexpr std::size_t most_bitmaps = std::size_t{1} << 28;

}  // namespace

byte_shadow::byte_shadow()
    : node_memory_(most_nodes * sizeof(node), harness::fill::at_first_touch),
      bitmap_memory_(most_bitmaps * sizeof(bitmap), harness::fill::at_first_touch),
      nodes_(static_cast<node*>(node_memory_.data())),
      bitmaps_(static_cast<bitmap*>(bitmap_memory_.data())) {}

byte_shadow::index byte_shadow::new_node() { return nodes_used_++; }

byte_shadow::index byte_shadow::new_bitmap() { return ++bitmaps_used_; }

byte_shadow::bitmap& byte_shadow::bitmap_of(std::uintptr_t page) {
  index& upper = nodes_[0].child[(page >> 24) & 4095];
  if (upper == 0) upper = new_node();
  index& lower = nodes_[upper].child[(page >> 12) & 4095];
  if (lower == 0) lower = new_node();
  index& leaf = nodes_[lower].child[page & 4095];
  if (leaf == 0) leaf = new_bitmap();
  return bitmaps_[leaf];
}

// Calls change_word(word, mask) for each word of bits the range has part in, until one says false.
template <class Change>
bool byte_shadow::change(const void* p, std::size_t size, Change change_word) {
  std::uintptr_t at = address_of(p);
  const std::uintptr_t end = at + size;
  while (at != end) {
    bitmap& page = bitmap_of(at / page_bytes);
    const std::uintptr_t page_end = std::min(end, align_down(at, page_bytes) + page_bytes);
    while (at != page_end) {
      const std::size_t bit = at % 64;
      const std::size_t count = std::min<std::size_t>(64 - bit, page_end - at);
      const word mask = (count == 64 ? ~word{0} : (word{1} << count) - 1) << bit;
      if (!change_word(page.bits[at % page_bytes / 64], mask)) return false;
      at += count;
    }
  }
  return true;
}

bool byte_shadow::claim(const void* p, std::size_t size) {
  return change(p, size, [](word& bits, word mask) {
    const bool free = (bits & mask) == 0;
    bits |= mask;
    return free;
  });
}

bool byte_shadow::leave(const void* p, std::size_t size) {
  return change(p, size, [](word& bits, word mask) {
    const bool taken = (bits & mask) == mask;
    bits &= ~mask;
    return taken;
  });
}

}  // namespace mallard::replay
