#include "p0089/benchmarks.hpp"

#include <nlohmann/json.hpp>

#include "p0089/block_sizes.hpp"
#include "p0089/contention/contention.hpp"
#include "p0089/density/density.hpp"
#include "p0089/locality/locality.hpp"
#include "p0089/utilization/utilization.hpp"

namespace mallard::p0089 {

std::span<const contestant> contestants(benchmark which) {
  switch (which) {
    case benchmark::density:
      return density_contestants();
    case benchmark::locality:
      return locality_contestants();
    case benchmark::utilization:
      return utilization_contestants();
    case benchmark::contention:
      return contention_contestants();
  }
  return {};
}

nlohmann::ordered_json group_of(const setting& asked) {
  switch (asked.which) {
    case benchmark::density:
      return group_of(asked.density);
    case benchmark::locality:
      return group_of(asked.locality);
    case benchmark::utilization:
      return group_of(asked.utilization);
    case benchmark::contention:
      return group_of(asked.contention);
  }
  return {};
}

std::vector<nlohmann::ordered_json> figures_of(const setting& asked) {
  if (asked.which == benchmark::locality) return figures_of(asked.locality);
  return {nlohmann::ordered_json::object()};
}

std::uint64_t bytes_needed(const setting& asked, const contestant& c) {
  switch (asked.which) {
    case benchmark::density:
      return bytes_needed(asked.density);
    case benchmark::locality:
      return bytes_needed(asked.locality, c);
    case benchmark::utilization:
      return bytes_needed(asked.utilization);
    case benchmark::contention:
      return bytes_needed(asked.contention);
  }
  return 0;
}

std::string fault_of(const setting& asked) {
  switch (asked.which) {
    case benchmark::density:
      return fault_of(asked.density);
    case benchmark::locality:
      return fault_of(asked.locality);
    case benchmark::utilization:
      return fault_of(asked.utilization);
    case benchmark::contention:
      // A malloc gives each thread a part of its own, which is new with the thread.
      return asked.litter == 0 ? "" : "--litter does not reach what threads allocate";
  }
  return {};
}

nlohmann::ordered_json method_of(const setting& asked) {
  switch (asked.which) {
    case benchmark::density:
      return method_of(asked.density);
    case benchmark::locality:
      return method_of(asked.locality);
    case benchmark::utilization:
      return method_of(asked.utilization);
    case benchmark::contention:
      return method_of(asked.contention);
  }
  return {};
}

void count_blocks(const setting& asked, block_sizes& into) {
  switch (asked.which) {
    case benchmark::density:
      return count_blocks(asked.density, into);
    case benchmark::utilization:
      return into.add(std::size_t{1} << asked.utilization.block,
                      std::size_t{1} << (asked.utilization.active - asked.utilization.block));
    case benchmark::contention:
      return;
    case benchmark::locality:
      return into.add(link_bytes, extent_of(asked.locality).global);
  }
}

}  // namespace mallard::p0089
