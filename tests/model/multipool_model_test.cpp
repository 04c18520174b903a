// multipool: as it is shipped, in either order of reuse, and with few classes and small chunks, where every
// path is short and taken often.
#include "mallard/heap/multipool.hpp"

#include "model/every_property.hpp"

namespace mallard::model {
namespace {

struct multipool_model : model {
  static constexpr bool bursts_are_adjacent = true;
  static constexpr bool serves_as_new_when_cleared = true;
  using heap = basic_multipool<source>;
};

struct few_classes_model : model {
  static constexpr bool bursts_are_adjacent = true;
  static constexpr bool serves_as_new_when_cleared = true;
  using heap = basic_multipool<source, size_classes<16, 64, 1, 256>, doubling<256, 1024>, doubling<64, 128>>;
};

struct fifo_model : model {
  static constexpr bool bursts_are_adjacent = true;
  static constexpr bool serves_as_new_when_cleared = true;
  using heap = basic_multipool<source, size_classes<16, 64, 1, 256>, doubling<256, 1024>, doubling<64, 128>,
                               intrusive_queue>;
};

struct over_os_pages_model : model {
  static constexpr bool bursts_are_adjacent = true;
  using heap = multipool;
};

const bool held = has_every_property<multipool_model>("multipool") &&
                  has_every_property<few_classes_model>("multipool_of_few_classes") &&
                  has_every_property<fifo_model>("fifo_multipool") &&
                  has_every_property<over_os_pages_model>("multipool_over_os_pages");

}  // namespace
}  // namespace mallard::model
