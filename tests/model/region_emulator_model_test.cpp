// region_emulator over a heap that needs sizes, over one that frees by pointer, and over malloc itself.
#include "mallard/heap/region_emulator.hpp"

#include "mallard/layer/live_list.hpp"
#include "model/every_property.hpp"

namespace mallard::model {
namespace {

struct never_reuses : model {
  static constexpr bool reuses = false;
};

struct by_size_model : never_reuses {
  using heap = basic_region_emulator<source>;
};

struct by_pointer_model : never_reuses {
  using heap = basic_region_emulator<live_list<source>>;
};

struct over_malloc_model : never_reuses {
  using heap = region_emulator;
};

const bool held = has_every_property<by_size_model>("region_emulator_by_size") &&
                  has_every_property<by_pointer_model>("region_emulator_by_pointer") &&
                  has_every_property<over_malloc_model>("region_emulator");

}  // namespace
}  // namespace mallard::model
