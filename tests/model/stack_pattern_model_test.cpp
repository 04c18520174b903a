// stack_pattern, as it is shipped, with chunks so small that every few blocks cross a border, and nested.
#include "mallard/heap/stack_pattern.hpp"

#include "mallard/layer/nested.hpp"
#include "model/every_property.hpp"

namespace mallard::model {
namespace {

// What is freed below the top is not.
struct seldom_reuses : model {
  static constexpr bool reuses = false;
  static constexpr bool serves_as_new_when_empty = true;
};

struct stack_pattern_model : seldom_reuses {
  using heap = basic_stack_pattern<source>;
};

struct small_chunks_model : seldom_reuses {
  using heap = basic_stack_pattern<source, doubling<64, 256>>;
};

struct nested_model : seldom_reuses {
  using heap = nested<basic_stack_pattern<shared_upstream<source>>>;
};

const bool held = has_every_property<stack_pattern_model>("stack_pattern") &&
                  has_every_property<small_chunks_model>("stack_pattern_of_small_chunks") &&
                  has_every_property<nested_model>("nested_stack_pattern");

}  // namespace
}  // namespace mallard::model
