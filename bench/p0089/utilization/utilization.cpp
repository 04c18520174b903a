#include "p0089/utilization/utilization.hpp"

#include <nlohmann/json.hpp>

namespace mallard::p0089 {

nlohmann::ordered_json group_of(const utilization_setting& asked) {
  return {{"total", asked.total}, {"active", asked.active}, {"block", asked.block}};
}

// Twice what is alive, as heaps round up and take chunks, and a chunk of any of them.
std::uint64_t bytes_needed(const utilization_setting& asked) {
  return (std::uint64_t{2} << asked.active) + (std::uint64_t{1} << 20);
}

std::string fault_of(const utilization_setting& asked) {
  if (asked.block > asked.active) return "--active must be at least --block: one block";
  if (asked.active >= asked.total) return "--total must be more than --active: else nothing is reused";
  return {};
}

}  // namespace mallard::p0089
