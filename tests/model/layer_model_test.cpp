// Layers that are heaps by themselves, held to the properties of heaps.
#include "mallard/core/growth.hpp"
#include "mallard/core/size_classes.hpp"
#include "mallard/heap/multipool/segregate.hpp"
#include "mallard/layer/live_list.hpp"
#include "model/every_property.hpp"

namespace mallard::model {
namespace {

struct live_list_model : model {
  using heap = live_list<source>;
};

struct segregate_model : model {
  using classes = size_classes<8, 128, 4, 4096>;
  using heap = segregate<source, classes, doubling<4096, 65536>, doubling<512, 4096>>;
  static constexpr std::size_t largest_size = classes::largest;
  static constexpr std::size_t largest_align = classes::max_align;
};

const bool held =
    has_every_property<live_list_model>("live_list") && has_every_property<segregate_model>("segregate");

}  // namespace
}  // namespace mallard::model
