// segment_heap: on the segments of the process, and on segments of its own that keep nothing of what comes
// back.
#include "mallard/heap/segment_heap.hpp"

#include "model/every_property.hpp"

namespace mallard::model {
namespace {

// Only blocks of segments grow in place.
struct segment_heap_model : model {
  static constexpr bool grows_in_place = false;
  using heap = segment_heap;
};

struct own_segments_model : segment_heap_model {
  using heap = segment_heap;
  struct rig {
    struct closed_segments : segments {
      ~closed_segments() { close(); }
    };
    closed_segments from;
    segment_heap heap{from};
    rig() { from.set_keep_time(0); }
  };
};

const bool held = has_every_property<segment_heap_model>("segment_heap") &&
                  has_every_property<own_segments_model>("segment_heap_on_segments_of_its_own");

}  // namespace
}  // namespace mallard::model
