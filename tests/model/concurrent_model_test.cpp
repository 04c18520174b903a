// What is concurrent because it has no state of its own, or because what it stands on is.
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/layer/limited.hpp"
#include "mallard/layer/locked.hpp"
#include "mallard/layer/stats.hpp"
#include "mallard/source/chunk_cache.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/os_pages.hpp"
#include "model/every_property.hpp"

namespace mallard::model {
namespace {

struct passing_through : model {
  static constexpr bool ends_its_blocks = false;
};

struct os_pages_model : passing_through {
  using heap = os_pages;
};

struct cached_pages_model : passing_through {
  using heap = cached_pages;
};

struct chunk_cache_model : passing_through {
  using heap = basic_chunk_cache<locked<source>, 0, standing_clock>;
  struct rig {
    basic_chunk_cache<locked<source>, 0, standing_clock> heap;
    rig() { heap.set_limit(std::size_t{1} << 20); }  // often reached
    rig(const rig&) = delete;
    rig& operator=(const rig&) = delete;
    ~rig() { heap.trim(0); }
  };
};

struct stats_model : model {
  using heap = stats<locked<basic_multipool<source>>>;
};

struct limited_model : model {
  using heap = limited<locked<basic_multipool<source>>>;
};

const bool held = has_every_property<os_pages_model>("concurrent_os_pages") &&
                  has_every_property<cached_pages_model>("concurrent_cached_pages") &&
                  has_every_property<chunk_cache_model>("concurrent_chunk_cache") &&
                  has_every_property<stats_model>("concurrent_stats") &&
                  has_every_property<limited_model>("concurrent_limited");

}  // namespace
}  // namespace mallard::model
