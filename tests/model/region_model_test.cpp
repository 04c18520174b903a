// region, as it is shipped and with chunks so small that it turns to a new one all the time.
#include "mallard/heap/region.hpp"

#include "model/every_property.hpp"

namespace mallard::model {
namespace {

struct never_reuses : model {
  static constexpr bool reuses = false;
  static constexpr bool serves_as_new_when_empty = true;
};

struct region_model : never_reuses {
  using heap = basic_region<source>;
};

struct small_chunks_model : never_reuses {
  using heap = basic_region<source, doubling<64, 256>>;
  static constexpr bool grows_in_place = false;
};

const bool held = has_every_property<region_model>("region") &&
                  has_every_property<small_chunks_model>("region_of_small_chunks");

}  // namespace
}  // namespace mallard::model
