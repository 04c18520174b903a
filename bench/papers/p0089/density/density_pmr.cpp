#include "p0089/density/measure.hpp"

namespace mallard::bench {

void measure_density(pmr_binding& binding, destruction end, page& p) {
  measure_density<pmr_binding>(binding, end, p);
}

}  // namespace mallard::bench
