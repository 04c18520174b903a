#include "replay/contestant/malloc.hpp"
#include "replay/contestant/strategy.hpp"
#include "replay/run/run.hpp"

namespace mallard::replay {

std::vector<strategy> malloc_strategies() {
  std::vector<strategy> list;
  for (const harness::foreign_malloc& m : harness::foreign_mallocs())
    list.push_back({std::string(m.name), binding::malloc, std::string(m.summary), run<process_malloc>, &m});
  return list;
}

}  // namespace mallard::replay
