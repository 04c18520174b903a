// adaptive_pool: with a size that is given, with slabs of one piece and of several, of many blocks and of
// few, aligned loosely and strictly.
#include "mallard/heap/adaptive_pool.hpp"

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

using few_blocks = basic_adaptive_pool<source, slab_form<8, 3>, doubling<512, 2048>>;
using pieces = basic_adaptive_pool<source, slab_form<64, free_blocks_in_proportion, 5>>;
using few_pieces = basic_adaptive_pool<source, slab_form<30, 0, 20>, constant<1>>;

const bool held =
    has_every_property<sized_model<few_blocks, 48, 16>>("adaptive_pool") &&
    has_every_property<sized_model<basic_adaptive_pool<source>, 48, 16>>("adaptive_pool_as_it_is") &&
    has_every_property<sized_model<basic_adaptive_pool<source>, 5000, 8>>("adaptive_pool_of_large_blocks") &&
    has_every_property<sized_model<few_blocks, 40, 256>>("adaptive_pool_of_aligned_blocks") &&
    has_every_property<sized_model<pieces, 24, 8>>("adaptive_pool_of_pieces") &&
    has_every_property<sized_model<few_pieces, 48, 16>>("adaptive_pool_of_few_pieces") &&
    has_every_property<sized_model<adaptive_pool, 64, 64>>("adaptive_pool_over_os_pages");

}  // namespace
}  // namespace mallard::model
