#include "replay/allocator/strategy.hpp"

#include "replay/allocator/none.hpp"
#include "replay/run/run.hpp"

namespace mallard::replay {
namespace {

std::vector<strategy> all() {
  std::vector<strategy> list{{"none", binding::typed, "the baseline: places computed beforehand", run<none>}};
  for (auto part : {foreign_strategies, own_strategies})
    for (strategy& s : part()) list.push_back(std::move(s));
  return list;
}

}  // namespace

std::span<const strategy> strategies(subject of) {
  static const std::vector<strategy> for_blocks = all();
  static const std::vector<strategy> for_regions = region_strategies();
  return of == subject::regions ? for_regions : for_blocks;
}

}  // namespace mallard::replay
