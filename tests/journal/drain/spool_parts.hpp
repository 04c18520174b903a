// spool_parts: the places of a small spool in which something stands, one behind the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "journal/spool/spool.hpp"

namespace mallard::journal {

struct spool_parts {
  struct part {
    std::size_t at;
    std::size_t size;
  };

  static constexpr std::size_t rings = 3;
  static constexpr std::uint64_t ring_words = smallest_ring / sizeof(std::uint64_t);

  [[nodiscard]] static constexpr std::array<part, 5 + rings> all() noexcept {
    return {{{0, sizeof(spool_header)},
             {ring_headers_at, rings * sizeof(ring_header)},
             {modules_at, 256},
             {names_at, 64},
             {contexts_at, 16 * sizeof(context_entry)},
             {rings_at, 64},
             {rings_at + smallest_ring, 600},
             {rings_at + 2 * smallest_ring, 600}}};
  }
};

}  // namespace mallard::journal
