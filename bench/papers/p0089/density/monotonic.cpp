#include "p0089/density/density_ways.hpp"
#include "p0089/density/measure.hpp"

namespace mallard::bench {

void measure_density_in(typed_way<monotonic> way, destruction end, page& p) { measure_density(way, end, p); }

}  // namespace mallard::bench
