// ring_writer: the writing end of a ring, as its owner keeps it.
#pragma once

#include <cstdint>

#include "journal/spool/spool.hpp"
#include "mallard/core/attributes.hpp"

namespace mallard::recorder {

struct ring_writer {
  std::uint64_t* words;
  std::uint64_t mask;
  std::uint64_t head;
  std::uint64_t limit;           // known to be free for writing up to here
  journal::ring_header* shared;  // null: no ring

  MALLARD_INLINE void publish(std::uint64_t position) noexcept {
    head = position;
    shared->head.store(position, std::memory_order_release);
  }
};

}  // namespace mallard::recorder
