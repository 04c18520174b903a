// Layers that watch blocks pass by, over heaps with different abilities: they must lose nothing of what
// the heap below promises, and count what is really out. For as many threads as that heap allows.
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/synchronized_multipool.hpp"
#include "mallard/layer/limited.hpp"
#include "mallard/layer/live_list.hpp"
#include "mallard/layer/stats.hpp"
#include "model/every_property.hpp"

namespace mallard::model {
namespace {

struct passing_through : model {
  static constexpr bool ends_its_blocks = false;
};

struct stats_model : model {
  using heap = stats<basic_multipool<source>>;
};

struct stats_of_pages_model : passing_through {
  using heap = stats<source>;
};

struct stats_of_monotonic_model : model {
  using heap = stats<basic_monotonic<source>>;
  static constexpr bool reuses = false;
};

struct failing_model : model {
  using heap = failing<basic_multipool<source>>;
};

struct failing_monotonic_model : model {
  using heap = failing<basic_monotonic<source>>;
  static constexpr bool reuses = false;
};

struct limited_model : model {
  using heap = limited<basic_multipool<source>>;
};

struct limited_source_model : passing_through {
  using heap = limited<source>;
};

// Tells received sizes of live blocks only.
struct measurable_only : live_list<source> {
  using live_list<source>::live_list;
  std::size_t received_size(std::size_t, std::size_t) = delete;
};
static_assert(measurable<measurable_only> && !predictable<measurable_only>);

struct limited_measurable_model : model {
  using heap = limited<measurable_only>;
};

struct stats_measurable_model : model {
  using heap = stats<measurable_only>;
};

struct limited_under_a_heap_model : model {
  using heap = basic_multipool<limited<source>>;
};

struct synchronized_stats_model : model {
  using heap = stats<basic_synchronized_multipool<source>>;
};

struct synchronized_limited_model : model {
  using heap = limited<basic_synchronized_multipool<source>>;
};

const bool held = has_every_property<stats_model>("stats_of_multipool") &&
                  has_every_property<stats_of_pages_model>("stats_of_a_source") &&
                  has_every_property<failing_model>("failing_multipool") &&
                  has_every_property<failing_monotonic_model>("failing_monotonic") &&
                  has_every_property<limited_model>("limited_multipool") &&
                  has_every_property<limited_source_model>("limited_source") &&
                  has_every_property<limited_measurable_model>("limited_live_list") &&
                  has_every_property<stats_measurable_model>("stats_of_live_list") &&
                  has_every_property<stats_of_monotonic_model>("stats_of_monotonic") &&
                  has_every_property<limited_under_a_heap_model>("multipool_over_limited") &&
                  has_every_property<synchronized_stats_model>("stats_of_synchronized_multipool") &&
                  has_every_property<synchronized_limited_model>("limited_synchronized_multipool");

}  // namespace
}  // namespace mallard::model
