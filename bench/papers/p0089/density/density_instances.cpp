// What measure_density is compiled for apart. No memory resource is known here but by its base class.

#include "p0089/density/density.hpp"

namespace mallard::bench {

// What operator new has given must be destroyed in order: nothing else ends it.
void measure_density(global_binding& binding, destruction, page& p) {
  measure_ended<destruction::normal>(binding, p);
}

void measure_density(typed_binding<monotonic>& binding, destruction end, page& p) {
  measure_density<typed_binding<monotonic>>(binding, end, p);
}

void measure_density(typed_binding<multipool>& binding, destruction end, page& p) {
  measure_density<typed_binding<multipool>>(binding, end, p);
}

void measure_density(typed_binding<multipool_over_monotonic>& binding, destruction end, page& p) {
  measure_density<typed_binding<multipool_over_monotonic>>(binding, end, p);
}

void measure_density(typed_binding<lifo_multipool>& binding, destruction end, page& p) {
  measure_density<typed_binding<lifo_multipool>>(binding, end, p);
}

void measure_density(typed_binding<sized_reap>& binding, destruction end, page& p) {
  measure_density<typed_binding<sized_reap>>(binding, end, p);
}

void measure_density(pmr_binding& binding, destruction end, page& p) {
  measure_density<pmr_binding>(binding, end, p);
}

}  // namespace mallard::bench
