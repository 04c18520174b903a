#include "p0089/density/measure.hpp"
#include "p0089/density/ways.hpp"

namespace mallard::p0089 {

void measure_density_in(typed_way<multipool_over_monotonic> way, destruction end, page& p) {
  end == destruction::normal ? measure_density<destruction::normal>(way, p)
                             : measure_density<destruction::winkout>(way, p);
}

}  // namespace mallard::p0089
