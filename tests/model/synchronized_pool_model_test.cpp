// synchronized_pool: with a size that is given, of the least blocks, of many a batch and of one, aligned
// loosely and strictly.
#include "mallard/heap/synchronized_pool.hpp"

#include "model/every_property.hpp"

namespace mallard::model {
namespace {

template <class Heap, std::size_t Size, std::size_t Align>
struct sized_model : model {
  using heap = Heap;
  static constexpr std::size_t largest_size = Size;
  static constexpr std::size_t largest_align = Align;
  struct rig {
    Heap heap{Size, Align};
  };
};

using few_blocks = basic_synchronized_pool<source, doubling<256, 512>>;

const bool held =
    has_every_property<sized_model<basic_synchronized_pool<source>, 48, 16>>("synchronized_pool") &&
    has_every_property<sized_model<basic_synchronized_pool<source>, 8, 8>>(
        "synchronized_pool_of_least_blocks") &&
    has_every_property<sized_model<basic_synchronized_pool<source>, 5000, 8>>(
        "synchronized_pool_of_large_blocks") &&
    has_every_property<sized_model<few_blocks, 24, 8>>("synchronized_pool_of_few_blocks_a_chunk") &&
    has_every_property<sized_model<few_blocks, 40, 256>>("synchronized_pool_of_aligned_blocks") &&
    has_every_property<sized_model<synchronized_pool, 64, 64>>("synchronized_pool_over_os_pages");

}  // namespace
}  // namespace mallard::model
