// Layers that are heaps by themselves, held to the promises of heaps.
#include "mallard/layer/tracked.hpp"
#include "model/every_promise.hpp"

namespace mallard::model {
namespace {

struct tracked_model : model {
  using heap = tracked<source>;
};

const bool held = keeps_every_promise<tracked_model>("tracked");

}  // namespace
}  // namespace mallard::model
