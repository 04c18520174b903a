#include "profile/heap_totals.hpp"

namespace mallard::profile {

void heap_totals::allocated(std::uint32_t /*slot*/, const object& o) {
  if (o.region != 0) return;
  over_time_.advance(o.allocation_time, alive_);
  ++allocations_;
  bytes_ += o.size;
  held_.add(o.address, o.size);
  alive_.live_bytes += o.size;
  ++alive_.live_objects;
  alive_.held_bytes = held_.bytes();
  over_time_.allocation(alive_);
  if (alive_.live_bytes <= peak_.live_bytes) return;
  peak_ = {.event = o.allocation,
           .time = o.allocation_time,
           .live_bytes = alive_.live_bytes,
           .live_objects = alive_.live_objects};
}

void heap_totals::freed(std::uint32_t /*slot*/, const object& o) {
  if (o.region != 0) return;
  over_time_.advance(o.free_time, alive_);
  held_.remove(o.address, o.size);
  alive_.live_bytes -= o.size;
  --alive_.live_objects;
  alive_.held_bytes = held_.bytes();
}

}  // namespace mallard::profile
