#include "p0089/utilization/utilization_pmr.hpp"

#include "p0089/utilization/measure_utilization.hpp"

namespace mallard::bench {

void measure_utilization_in(pmr_way way, page& p) { measure_utilization(way, p); }

}  // namespace mallard::bench
