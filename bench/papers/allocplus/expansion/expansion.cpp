#include "allocplus/expansion/expansion.hpp"

#include <nlohmann/json.hpp>

#include "allocplus/my_int.hpp"

namespace mallard::bench {

nlohmann::ordered_json group_of(const expansion_setting& asked) {
  return {{"work", name_of(asked.work)}, {"elements", asked.elements}, {"iterations", asked.iterations}};
}

nlohmann::ordered_json method_of(const expansion_setting& asked) {
  if (asked.work == expansion_work::push_back)
    return {{"times", "CPU time of an element: a vector is made, filled by push_back and destroyed"},
            {"cold", "the first vector of a process"},
            {"counts", "of one vector, in a pass that is not timed"}};
  return {{"times",
           "CPU time of a growth from n to 2n objects: what a loop with it takes longer than one without; a "
           "block of 3n/2 objects was freed before it"},
          {"counts", "of one growth, in a pass that is not timed"}};
}

std::vector<std::string> counts_of(const expansion_setting&) {
  return {"allocations", "expansions_forward", "expansions_backward", "capacity"};
}

// A vector that moves has two blocks, of which the new one may be twice as large as is needed.
std::uint64_t bytes_needed(const expansion_setting& asked) {
  return std::uint64_t{asked.elements} * sizeof(my_int) * 8 + (std::uint64_t{1} << 20);
}

}  // namespace mallard::bench
