// synchronized_multipool: as it is shipped, and with few classes, most of them not cached.
#include "mallard/heap/synchronized_multipool.hpp"

#include "model/every_promise.hpp"

namespace mallard::model {
namespace {

struct synchronized_multipool_model : model {
  using heap = basic_synchronized_multipool<source>;
};

struct few_classes_model : model {
  using heap = basic_synchronized_multipool<source, size_classes<16, 64, 1, 256>, doubling<256, 1024>,
                                            doubling<64, 128>>;
};

struct over_monotonic_model : model {
  using heap = basic_synchronized_multipool<basic_monotonic<source>>;
  static constexpr std::size_t largest_reused_size = heap::classes::largest;
  static constexpr std::size_t largest_reused_align = heap::classes::max_align;
};

struct over_os_pages_model : model {
  using heap = synchronized_multipool;
};

const bool held = keeps_every_promise<synchronized_multipool_model>("synchronized_multipool") &&
                  keeps_every_promise<few_classes_model>("synchronized_multipool_of_few_classes") &&
                  keeps_every_promise<over_monotonic_model>("synchronized_multipool_over_monotonic") &&
                  keeps_every_promise<over_os_pages_model>("synchronized_multipool_over_os_pages");

}  // namespace
}  // namespace mallard::model
