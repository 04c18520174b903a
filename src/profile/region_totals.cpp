#include "profile/region_totals.hpp"

#include <algorithm>

namespace mallard::profile {

void region_totals::born(std::uint32_t /*slot*/, const object& o) {
  if (o.region == 0) return;
  ++all_.objects;
  all_.bytes += o.size;
  live_bytes_ += o.size;
  all_.peak_live_bytes = std::max(all_.peak_live_bytes, live_bytes_);
  all_.peak_live_objects = std::max(all_.peak_live_objects, ++live_objects_);
}

void region_totals::died(std::uint32_t /*slot*/, const object& o) {
  if (o.region == 0) return;
  live_bytes_ -= o.size;
  --live_objects_;
}

}  // namespace mallard::profile
