// Benchmark III through std::pmr, compiled where no resource is known.
#pragma once

#include "p0089/page.hpp"
#include "p0089/way/pmr.hpp"

namespace mallard::p0089 {

void measure_utilization_in(pmr_way way, page& p);

}  // namespace mallard::p0089
