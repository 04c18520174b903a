// synchronized_adaptive_pool and the one without caches: of many blocks a batch and of few, of slabs of
// pieces; with a mutex that tells whether it is held whenever the pool is entered.
#include "mallard/heap/synchronized_adaptive_pool.hpp"

#include "model/every_property.hpp"
#include "watched_mutex.hpp"

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

using few_blocks = basic_synchronized_adaptive_pool<source, slab_form<8, 3>, doubling<512, 2048>>;
using watched =
    synchronized_blocks<attended_blocks<basic_adaptive_pool<source, slab_form<8, 3>, doubling<512, 2048>>>,
                        watched_mutex>;
using pieces = basic_adaptive_pool<source, slab_form<64, 2, 5>>;

const bool held =
    has_every_property<sized_model<few_blocks, 48, 16>>("synchronized_adaptive_pool") &&
    has_every_property<sized_model<basic_synchronized_adaptive_pool<source>, 5000, 8>>(
        "synchronized_adaptive_pool_of_large_blocks") &&
    has_every_property<sized_model<watched, 48, 16>>("synchronized_adaptive_pool_whose_lock_is_watched") &&
    has_every_property<sized_model<locked<pieces>, 24, 8>>("shared_adaptive_pool_of_pieces");

}  // namespace
}  // namespace mallard::model
