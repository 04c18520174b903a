#include "allocplus/shrink/shrink.hpp"

#include <nlohmann/json.hpp>

#include "allocplus/my_int.hpp"

namespace mallard::bench {

nlohmann::ordered_json group_of(const shrink_setting& asked) {
  return {{"elements", asked.elements}, {"iterations", asked.iterations}};
}

nlohmann::ordered_json method_of(const shrink_setting&) {
  return {
      {"times",
       "CPU time of a shrink_to_fit: a vector is made with all its elements, then five of them are erased "
       "and the rest is fitted until none is left"},
      {"cold", "the first vector of a process"},
      {"counts", "of one vector, in a pass that is not timed"}};
}

std::vector<std::string> counts_of(const shrink_setting&) { return {"allocations", "shrinks"}; }

// A vector that moves has two blocks.
std::uint64_t bytes_needed(const shrink_setting& asked) {
  return std::uint64_t{asked.elements} * sizeof(my_int) * 4 + (std::uint64_t{1} << 20);
}

std::string fault_of(const shrink_setting& asked) {
  if (asked.elements % shrink_step == 0) return {};
  return "--elements must be a multiple of " + std::to_string(shrink_step) + ", which are erased at a time";
}

}  // namespace mallard::bench
