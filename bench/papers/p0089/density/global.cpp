#include "p0089/density/density_ways.hpp"
#include "p0089/density/measure.hpp"

namespace mallard::bench {

// What operator new has given must be destroyed in order: nothing else ends it.
void measure_density_in(global_way way, destruction, page& p) { measure_ended<destruction::normal>(way, p); }

}  // namespace mallard::bench
