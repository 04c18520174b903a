// The paper's notation for a run of benchmark II: |G| |S| af sf rf, as "-21 18 8 +3 32".
//
//     |G| < 0    both sizes are binary exponents: 2^21 links, 2^18 a subsystem
//     sf < 0     the access comes before the shuffle
//
// af or rf may be 0: then the visits are without walks, or there are none. Seed 000, section 8.
#pragma once

#include <optional>
#include <string_view>

#include "common/setting.hpp"

namespace mallard::bench {

// Nothing if it is no five numbers, or if one is out of range: subsystems must be at most as large as the
// whole, the whole at most 2^40 links, the factors at most 2^20.
[[nodiscard]] std::optional<locality_run> parse_run(std::string_view text);

}  // namespace mallard::bench
