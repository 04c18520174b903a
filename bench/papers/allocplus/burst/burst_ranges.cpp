#include "allocplus/burst/burst_ranges.hpp"

#include <nlohmann/json.hpp>

#include "allocplus/burst/measure_burst.hpp"

namespace mallard::bench {

nlohmann::ordered_json group_of(const burst_setting& asked) {
  return {{"elements", asked.elements}, {"iterations", asked.iterations}};
}

std::vector<nlohmann::ordered_json> figures_of(const burst_setting&) {
  return {{{"part", "insert"}}, {{"part", "erase"}}};
}

nlohmann::ordered_json method_of(const burst_setting&) {
  return {{"times", "CPU time of an element: ranges are inserted at the end of a list, then erased; " +
                        std::to_string(warm_lists) + " lists"},
          {"cold", "the first list of a process"},
          {"counts", "of one list, in a pass that is not timed"}};
}

std::vector<std::string> counts_of(const burst_setting&) { return {"allocations", "bursts"}; }

// Of any malloc, and where ranges begin.
std::uint64_t bytes_needed(const burst_setting& asked) {
  return std::uint64_t{asked.iterations} * (std::uint64_t{asked.elements} * 48 + sizeof(void*)) +
         (std::uint64_t{1} << 20);
}

}  // namespace mallard::bench
