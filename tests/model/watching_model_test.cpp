// Layers that watch blocks pass by, over heaps with different abilities: they must lose nothing of what
// the heap below promises, and count what is really out.
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/layer/limited.hpp"
#include "mallard/layer/live_list.hpp"
#include "mallard/layer/stats.hpp"
#include "model/every_promise.hpp"

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

const bool held = keeps_every_promise<stats_model>("stats_of_multipool") &&
                  keeps_every_promise<stats_of_pages_model>("stats_of_a_source") &&
                  keeps_every_promise<failing_model>("failing_multipool") &&
                  keeps_every_promise<failing_monotonic_model>("failing_monotonic") &&
                  keeps_every_promise<limited_model>("limited_multipool") &&
                  keeps_every_promise<limited_source_model>("limited_source") &&
                  keeps_every_promise<limited_measurable_model>("limited_tracked") &&
                  keeps_every_promise<stats_measurable_model>("stats_of_tracked") &&
                  keeps_every_promise<stats_of_monotonic_model>("stats_of_monotonic") &&
                  keeps_every_promise<limited_under_a_heap_model>("multipool_over_limited");

}  // namespace
}  // namespace mallard::model
