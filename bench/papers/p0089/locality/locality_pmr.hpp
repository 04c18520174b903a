// Benchmark II through std::pmr, compiled where no resource is known.
#pragma once

#include "contest/page.hpp"
#include "contest/way/owned_pmr.hpp"

namespace mallard::bench {

void measure_locality_in(owned_pmr_way way, page& p);

}  // namespace mallard::bench
