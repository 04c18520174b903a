// sized_reap: as it is shipped, with small chunks and a low bound so that every path is taken often, as a
// child, and behind a lock.
#include "mallard/heap/sized_reap.hpp"

#include "mallard/layer/locked.hpp"
#include "model/every_property.hpp"

namespace mallard::model {
namespace {

struct like_a_region : model {
  static constexpr bool serves_as_new_when_empty = true;
};

struct sized_reap_model : like_a_region {
  using heap = basic_sized_reap<source>;
};

struct small_chunks_model : like_a_region {
  using heap = basic_sized_reap<source, doubling<256, 2048>, 4096>;
};

// As a large one is that has lost its last block.
struct begun_anew_model : like_a_region {
  using heap = basic_sized_reap<source, doubling<256, 2048>, 4096, 0>;
};

// As a large one in which blocks come and go: several slabs lie in one chunk.
struct slabs_model : like_a_region {
  using heap = basic_sized_reap<source, doubling<256, 65536>, 4096, headerless_least_anew, 0>;
};

struct child_model : like_a_region {
  using heap = basic_sized_reap<source>;
  struct rig {
    basic_sized_reap<source> parent;
    basic_sized_reap<source> heap{parent, nesting::cleared_with_parent};
  };
};

struct locked_model : like_a_region {
  // Stricter ones leave holes between chunks, which threads in any order fill better or worse.
  static constexpr std::size_t largest_align = default_align;
  using heap = locked<basic_sized_reap<source>>;
};

struct over_os_pages_model : model {
  using heap = sized_reap;
};

const bool held = has_every_property<sized_reap_model>("sized_reap") &&
                  has_every_property<small_chunks_model>("sized_reap_of_small_chunks") &&
                  has_every_property<begun_anew_model>("sized_reap_begun_anew") &&
                  has_every_property<slabs_model>("sized_reap_with_slabs") &&
                  has_every_property<child_model>("sized_reap_child") &&
                  has_every_property<locked_model>("locked_sized_reap") &&
                  has_every_property<over_os_pages_model>("sized_reap_over_os_pages");

}  // namespace
}  // namespace mallard::model
