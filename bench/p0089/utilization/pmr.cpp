#include "p0089/utilization/pmr.hpp"

#include "p0089/utilization/measure_utilization.hpp"

namespace mallard::p0089 {

void measure_utilization_in(pmr_way way, page& p) { measure_utilization(way, p); }

}  // namespace mallard::p0089
