// Benchmark III through std::pmr, compiled where no resource is known.
#pragma once

#include "contest/page.hpp"
#include "contest/way/pmr.hpp"

namespace mallard::bench {

void measure_utilization_in(pmr_way way, page& p);

}  // namespace mallard::bench
