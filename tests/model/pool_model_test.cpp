// pool: with a size that is given, in chunks of many blocks and of a few, aligned loosely and strictly.
#include "mallard/heap/pool.hpp"

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

using few_blocks = basic_pool<source, doubling<256, 512>>;

const bool held = has_every_property<sized_model<basic_pool<source>, 48, 16>>("pool") &&
                  has_every_property<sized_model<basic_pool<source>, 5000, 8>>("pool_of_large_blocks") &&
                  has_every_property<sized_model<few_blocks, 24, 8>>("pool_of_few_blocks_a_chunk") &&
                  has_every_property<sized_model<few_blocks, 40, 256>>("pool_of_aligned_blocks") &&
                  has_every_property<sized_model<pool, 64, 64>>("pool_over_os_pages");

}  // namespace
}  // namespace mallard::model
