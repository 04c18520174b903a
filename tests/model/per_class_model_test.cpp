// per_class, as it is shipped.
#include "mallard/heap/per_class.hpp"

#include "model/every_property.hpp"

namespace mallard::model {
namespace {

struct per_class_model : model {
  static constexpr bool bursts_are_adjacent = true;
  using heap = basic_per_class<source>;
};

const bool held = has_every_property<per_class_model>("per_class");

}  // namespace
}  // namespace mallard::model
