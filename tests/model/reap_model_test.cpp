// reap: as it is shipped, with chunks so small and a bound so low that it turns between its modes all the
// time, and as a child.
#include "mallard/heap/reap.hpp"

#include "mallard/layer/locked.hpp"
#include "model/every_property.hpp"

namespace mallard::model {
namespace {

struct tagged : model {
  static constexpr bool serves_as_new_when_empty = true;
  [[maybe_unused]] static constexpr std::size_t header_bytes = boundary_tag::overhead;
  static constexpr bool grows_in_place = false;
};

struct reap_model : tagged {
  using heap = basic_reap<source>;
};

struct small_chunks_model : tagged {
  using heap = basic_reap<source, doubling<256, 2048>, 4096>;
};

// As a large one in which blocks come and go.
struct slabs_model : tagged {
  using heap = basic_reap<source, doubling<65536, 65536>, best_fit_largest, 16384>;
};

// The same where each size has a slab of its own from the start, which is much for the little that it holds.
struct slabs_at_once_model : tagged {
  static constexpr bool reuses = false;
  using heap = basic_reap<source, doubling<256, 16384>, best_fit_largest, 0>;
};

struct child_model : tagged {
  using heap = basic_reap<source>;
  struct rig {
    basic_reap<source> parent;
    basic_reap<source> heap{parent, nesting::cleared_with_parent};
  };
};

struct locked_model : tagged {
  // Stricter ones leave holes between chunks, which threads in any order fill better or worse.
  static constexpr std::size_t largest_align = cache_line;
  using heap = locked<basic_reap<source>>;
};

struct over_os_pages_model : tagged {
  using heap = reap;
};

const bool held = has_every_property<reap_model>("reap") &&
                  has_every_property<small_chunks_model>("reap_of_small_chunks") &&
                  has_every_property<slabs_model>("reap_with_slabs") &&
                  has_every_property<slabs_at_once_model>("reap_with_slabs_at_once") &&
                  has_every_property<child_model>("reap_child") &&
                  has_every_property<locked_model>("locked_reap") &&
                  has_every_property<over_os_pages_model>("reap_over_os_pages");

}  // namespace
}  // namespace mallard::model
