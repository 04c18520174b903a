#include "program/benchmarks.hpp"

#include <nlohmann/json.hpp>

#include "allocplus/allocplus.hpp"
#include "allocplus/pools/pools.hpp"
#include "common/block_sizes.hpp"
#include "p0089/contention/contention.hpp"
#include "p0089/density/density.hpp"
#include "p0089/locality/locality.hpp"
#include "p0089/utilization/utilization.hpp"

namespace mallard::bench {

std::span<const measured_allocator> allocators_of(benchmark which) {
  switch (which) {
    case benchmark::density:
      return density_allocators();
    case benchmark::locality:
      return locality_allocators();
    case benchmark::utilization:
      return utilization_allocators();
    case benchmark::contention:
      return contention_allocators();
    case benchmark::expansion:
      return expansion_allocators();
    case benchmark::shrink:
      return shrink_allocators();
    case benchmark::burst:
      return burst_allocators();
    case benchmark::pools:
      return pool_allocators();
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
    case benchmark::expansion:
      return group_of(asked.expansion);
    case benchmark::shrink:
      return group_of(asked.shrink);
    case benchmark::burst:
      return group_of(asked.burst);
    case benchmark::pools:
      return group_of(asked.pools);
  }
  return {};
}

std::vector<nlohmann::ordered_json> figures_of(const setting& asked) {
  if (asked.which == benchmark::locality) return figures_of(asked.locality);
  if (asked.which == benchmark::burst) return figures_of(asked.burst);
  if (asked.which == benchmark::pools) return figures_of(asked.pools);
  return {nlohmann::ordered_json::object()};
}

std::vector<std::string> counts_of(const setting& asked) {
  switch (asked.which) {
    case benchmark::expansion:
      return counts_of(asked.expansion);
    case benchmark::shrink:
      return counts_of(asked.shrink);
    case benchmark::burst:
      return counts_of(asked.burst);
    case benchmark::pools:
      return counts_of(asked.pools);
    case benchmark::density:
    case benchmark::locality:
    case benchmark::utilization:
    case benchmark::contention:
      return {};
  }
  return {};
}

std::uint64_t bytes_needed(const setting& asked, const measured_allocator& c) {
  switch (asked.which) {
    case benchmark::density:
      return bytes_needed(asked.density);
    case benchmark::locality:
      return bytes_needed(asked.locality, c);
    case benchmark::utilization:
      return bytes_needed(asked.utilization);
    case benchmark::contention:
      return bytes_needed(asked.contention);
    case benchmark::expansion:
      return bytes_needed(asked.expansion);
    case benchmark::shrink:
      return bytes_needed(asked.shrink);
    case benchmark::burst:
      return bytes_needed(asked.burst);
    case benchmark::pools:
      return bytes_needed(asked.pools);
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
    case benchmark::shrink:
      if (std::string fault = fault_of(asked.shrink); !fault.empty()) return fault;
      [[fallthrough]];
    case benchmark::expansion:
    case benchmark::burst:
    case benchmark::pools:
      return asked.litter == 0 ? "" : "--litter does not reach heaps that an allocator brings with it";
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
    case benchmark::expansion:
      return method_of(asked.expansion);
    case benchmark::shrink:
      return method_of(asked.shrink);
    case benchmark::burst:
      return method_of(asked.burst);
    case benchmark::pools:
      return method_of(asked.pools);
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
    case benchmark::expansion:
    case benchmark::shrink:
    case benchmark::burst:
    case benchmark::pools:
      return;
    case benchmark::locality:
      return into.add(link_bytes, extent_of(asked.locality).global);
  }
}

}  // namespace mallard::bench
