#include "p0089/utilization/utilization.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace mallard::bench {

nlohmann::ordered_json group_of(const utilization_setting& asked) {
  return {{"total", asked.total}, {"active", asked.active}, {"block", asked.block}};
}

nlohmann::ordered_json method_of(const utilization_setting&) {
  return {{"times", "CPU time from the making of the heap to its end, by the blocks allocated in all"},
          {"cold", "the filling to 2^A bytes alone, by its blocks"}};
}

// Twice what is alive, as heaps round up and take chunks, of at least a malloc's smallest block each; the
// list of them; and a chunk of any heap.
std::uint64_t bytes_needed(const utilization_setting& asked) {
  const std::uint64_t blocks = std::uint64_t{1} << (asked.active - asked.block);
  const std::uint64_t held = std::max<std::uint64_t>(std::uint64_t{2} << asked.block, 32);
  return blocks * (held + sizeof(void*)) + (std::uint64_t{1} << 20);
}

std::string fault_of(const utilization_setting& asked) {
  if (asked.block > asked.active) return "--active must be at least --block: one block";
  if (asked.active >= asked.total) return "--total must be more than --active: else nothing is reused";
  return {};
}

void measure_utilization(pmr_binding& binding, page& p) { measure_utilization<pmr_binding>(binding, p); }

}  // namespace mallard::bench
