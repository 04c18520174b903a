// monotonic, as it is shipped and with growth that makes it turn to a new chunk all the time.
#include "mallard/heap/monotonic.hpp"

#include "model/every_property.hpp"

namespace mallard::model {
namespace {

struct never_reuses : model {
  static constexpr bool reuses = false;
};

struct monotonic_model : never_reuses {
  using heap = basic_monotonic<source>;
};

struct small_chunks_model : never_reuses {
  using heap = basic_monotonic<source, doubling<64, 256>>;
  static constexpr bool grows_in_place = false;
};

// Most of a trace outgrows the buffer; some of it does not.
struct with_buffer_model : never_reuses {
  using heap = basic_monotonic<source>;
  static constexpr std::size_t lent_bytes = 4096;
  struct rig {
    lent_buffer buffer{lent_bytes};
    basic_monotonic<source> heap{buffer.bytes()};
  };
};

struct over_os_pages_model : never_reuses {
  using heap = monotonic;
};

const bool held = has_every_property<monotonic_model>("monotonic") &&
                  has_every_property<small_chunks_model>("monotonic_of_small_chunks") &&
                  has_every_property<with_buffer_model>("monotonic_with_a_buffer") &&
                  has_every_property<over_os_pages_model>("monotonic_over_os_pages");

}  // namespace
}  // namespace mallard::model
