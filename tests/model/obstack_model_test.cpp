// obstack, as it is shipped and with chunks so small that rewinding crosses them all the time.
#include "mallard/heap/obstack.hpp"

#include "model/every_property.hpp"

namespace mallard::model {
namespace {

struct never_reuses : model {
  static constexpr bool reuses = false;
  static constexpr bool serves_as_new_when_empty = true;
};

struct obstack_model : never_reuses {
  using heap = basic_obstack<source>;
};

struct small_chunks_model : never_reuses {
  using heap = basic_obstack<source, doubling<64, 256>>;
  static constexpr bool grows_in_place = false;
};

const bool held = has_every_property<obstack_model>("obstack") &&
                  has_every_property<small_chunks_model>("obstack_of_small_chunks");

}  // namespace
}  // namespace mallard::model
