// byte_shadow: which bytes of the address space belong to a live block.
//
//     address  [ 12 bits | 12 bits | 12 bits | 12 bits ]
//                  |         |         |         +--> bit in the page's bitmap (512 bytes)
//                  v         v         v
//                root ----> node ----> node ----> bitmap
//
// Kept in memory of the harness's own, outside the allocator's heap and limit. claim and leave
// cost O(size / 64). Addresses above 2^48 do not occur in user space on x86-64 and aarch64.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/mapping.hpp"

namespace mallard::replay {

class byte_shadow {
 public:
  byte_shadow();

  // Marks [p, p + size); false, with some of it marked, if a byte of it is marked already.
  [[nodiscard]] bool claim(const void* p, std::size_t size);

  // Unmarks [p, p + size); false if a byte of it is not marked.
  [[nodiscard]] bool leave(const void* p, std::size_t size);

 private:
  using word = std::uint64_t;
  using index = std::uint32_t;  // of a node or bitmap in nodes_; 0: none

  struct node {
    index child[4096];
  };
  struct bitmap {
    word bits[64];
  };

  template <class Change>
  bool change(const void* p, std::size_t size, Change change_word);
  bitmap& bitmap_of(std::uintptr_t page);
  index new_node();
  index new_bitmap();

  harness::scratch node_memory_;
  harness::scratch bitmap_memory_;
  node* nodes_;
  bitmap* bitmaps_;
  index nodes_used_ = 1;  // nodes_[0] is the root
  index bitmaps_used_ = 0;
};

}  // namespace mallard::replay
