// Layers that watch blocks pass by, for as many threads as the heap below allows.
#include "mallard/heap/synchronized_multipool.hpp"
#include "mallard/layer/limited.hpp"
#include "mallard/layer/stats.hpp"
#include "model/every_property.hpp"

namespace mallard::model {
namespace {

struct stats_model : model {
  using heap = stats<basic_synchronized_multipool<source>>;
};

struct limited_model : model {
  using heap = limited<basic_synchronized_multipool<source>>;
};

const bool held = has_every_property<stats_model>("stats_of_synchronized_multipool") &&
                  has_every_property<limited_model>("limited_synchronized_multipool");

}  // namespace
}  // namespace mallard::model
