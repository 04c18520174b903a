#include "p0089/benchmarks.hpp"

#include <nlohmann/json.hpp>

#include "p0089/density/density.hpp"

namespace mallard::p0089 {

std::span<const contestant> contestants(benchmark which) {
  switch (which) {
    case benchmark::density:
      return density_contestants();
    case benchmark::locality:
    case benchmark::utilization:
    case benchmark::contention:
      break;
  }
  return {};
}

nlohmann::ordered_json group_of(const setting& asked) {
  switch (asked.which) {
    case benchmark::density:
      return group_of(asked.density);
    case benchmark::locality:
    case benchmark::utilization:
    case benchmark::contention:
      break;
  }
  return {};
}

std::vector<nlohmann::ordered_json> figures_of(const setting& asked) {
  switch (asked.which) {
    case benchmark::locality:
    case benchmark::density:
    case benchmark::utilization:
    case benchmark::contention:
      break;
  }
  return {nlohmann::ordered_json::object()};
}

std::uint64_t bytes_needed(const setting& asked) {
  switch (asked.which) {
    case benchmark::density:
      return bytes_needed(asked.density);
    case benchmark::locality:
    case benchmark::utilization:
    case benchmark::contention:
      break;
  }
  return 0;
}

}  // namespace mallard::p0089
