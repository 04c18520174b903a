// best_fit: as it is shipped, and with chunks so small and a bound so low that every path is short and taken
// often.
#include "mallard/heap/best_fit.hpp"

#include <memory>

#include "mallard/source/fixed_buffer.hpp"
#include "model/every_property.hpp"

namespace mallard::model {
namespace {

struct tagged : model {
  static constexpr std::size_t header_bytes = boundary_tag::overhead;
  static constexpr bool serves_as_new_when_empty = true;
};

struct best_fit_model : tagged {
  static constexpr bool bursts_are_adjacent = true;
  using heap = basic_best_fit<source>;
};

struct small_chunks_model : tagged {
  static constexpr bool grows_in_place = false;
  using heap = basic_best_fit<source, doubling<256, 2048>, 4096>;
};

// A buffer is all there is: nothing comes from anywhere else.
struct in_a_buffer_model : tagged {
  using heap = basic_best_fit<fixed_buffer>;
  struct rig {
    static constexpr std::size_t bytes = std::size_t{1} << 24;
    std::unique_ptr<std::byte[]> buffer = std::make_unique_for_overwrite<std::byte[]>(bytes);
    basic_best_fit<fixed_buffer> heap{buffer.get(), bytes};
  };
};

struct over_os_pages_model : tagged {
  static constexpr bool bursts_are_adjacent = true;
  using heap = best_fit;
};

const bool held = has_every_property<best_fit_model>("best_fit") &&
                  has_every_property<small_chunks_model>("best_fit_of_small_chunks") &&
                  has_every_property<in_a_buffer_model>("best_fit_in_a_buffer") &&
                  has_every_property<over_os_pages_model>("best_fit_over_os_pages");

}  // namespace
}  // namespace mallard::model
