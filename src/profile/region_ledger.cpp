#include "profile/region_ledger.hpp"

#include <algorithm>

namespace mallard::profile {

void region_ledger::region_began(std::uint32_t /*number*/, std::uint32_t parent, std::uint64_t event,
                                 std::uint32_t context) {
  rows_.push_back({.created = event, .parent = parent, .context = context});
  live_bytes_.push_back(0);
}

void region_ledger::born(std::uint32_t /*slot*/, const object& o) {
  if (o.region == 0) return;
  region_instance& row = of(o.region);
  std::uint64_t& live = live_bytes_[o.region - 1];
  ++row.objects;
  row.bytes += o.size;
  live += o.size;
  row.max_live_bytes = std::max(row.max_live_bytes, live);
}

void region_ledger::died(std::uint32_t /*slot*/, const object& o) {
  if (o.region != 0) live_bytes_[o.region - 1] -= o.size;
}

}  // namespace mallard::profile
