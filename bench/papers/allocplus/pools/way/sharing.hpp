// sharing: what several threads do with a way.
#pragma once

#include <cstdint>

namespace mallard::bench {

enum class sharing : std::uint8_t {
  all,   // they share one: it locks, or has a cache for each
  own,   // each has its own, without a lock
  none,  // it is one for the process, without a lock: they cannot
};

}  // namespace mallard::bench
