#include "p0089/locality/locality_pmr.hpp"

#include "p0089/locality/measure_locality.hpp"

namespace mallard::bench {

void measure_locality_in(owned_pmr_way way, page& p) {
  static_cast<void>(measure_locality(way, p).release());  // the process ends with it
}

}  // namespace mallard::bench
