// adaptive_multipool: as it is shipped, and with slabs of few blocks and of pieces.
#include "mallard/heap/adaptive_multipool.hpp"

#include "model/every_property.hpp"

namespace mallard::model {
namespace {

struct few_blocks_model : model {
  using heap = basic_adaptive_multipool<source, slab_form<8, 3>, doubling<512, 2048>>;
};

struct pieces_model : model {
  using heap = basic_adaptive_multipool<source, slab_form<64, 2, 5>>;
};

const bool held = has_every_property<few_blocks_model>("adaptive_multipool") &&
                  has_every_property<pieces_model>("adaptive_multipool_of_pieces");

}  // namespace
}  // namespace mallard::model
