#include "profile/region_instances.hpp"

#include <algorithm>

namespace mallard::profile {

void region_instances::region_began(std::uint32_t /*number*/, std::uint32_t parent, std::uint64_t event,
                                    std::uint32_t context) {
  rows_.push_back({.created = event, .parent = parent, .context = context});
  live_bytes_.push_back(0);
  ++totals_.regions;
}

void region_instances::allocated(std::uint32_t /*slot*/, const object& o) {
  if (o.region == 0) return;
  region_instance& row = of(o.region);
  std::uint64_t& live = live_bytes_[o.region - 1];
  ++row.objects;
  row.bytes += o.size;
  live += o.size;
  row.max_live_bytes = std::max(row.max_live_bytes, live);
  ++totals_.objects;
  totals_.bytes += o.size;
  all_live_bytes_ += o.size;
  totals_.peak_live_bytes = std::max(totals_.peak_live_bytes, all_live_bytes_);
  totals_.peak_live_objects = std::max(totals_.peak_live_objects, ++all_live_objects_);
}

void region_instances::freed(std::uint32_t /*slot*/, const object& o) {
  if (o.region == 0) return;
  live_bytes_[o.region - 1] -= o.size;
  all_live_bytes_ -= o.size;
  --all_live_objects_;
}

}  // namespace mallard::profile
