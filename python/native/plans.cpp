// What pools would hold, for plans.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "journal/open.hpp"
#include "native/bind.hpp"
#include "profile/held_by_pools.hpp"
#include "profile/journal_pass.hpp"

namespace nb = nanobind;
namespace journal = mallard::journal;
namespace profile = mallard::profile;

namespace mallard::native {
namespace {

using numbers = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Several assignments, all in one reading.
class pools_pass {
 public:
  pools_pass(const std::filesystem::path& path, std::vector<profile::pool_assignment> routes)
      : held_(made(std::move(routes))), pass_(journal::open(path), watchers()) {}

  bool advance() { return pass_.advance(); }
  [[nodiscard]] double progress() const { return pass_.source().progress(); }
  [[nodiscard]] const profile::held_by_pools& result(std::size_t number) const { return *held_.at(number); }

 private:
  static std::vector<std::unique_ptr<profile::held_by_pools>> made(
      std::vector<profile::pool_assignment> routes) {
    std::vector<std::unique_ptr<profile::held_by_pools>> all;
    for (profile::pool_assignment& one : routes)
      all.push_back(std::make_unique<profile::held_by_pools>(std::move(one)));
    return all;
  }
  [[nodiscard]] std::vector<profile::watcher*> watchers() const {
    std::vector<profile::watcher*> all;
    for (const auto& one : held_) all.push_back(one.get());
    return all;
  }

  std::vector<std::unique_ptr<profile::held_by_pools>> held_;  // which the pass points to
  profile::journal_pass pass_;
};

bool advance(pools_pass& self) {
  const auto end = std::chrono::steady_clock::now() + time_slice;
  bool more = true;
  while (more && std::chrono::steady_clock::now() < end) more = self.advance();
  return more;
}

std::vector<std::uint32_t> vector_of(const numbers& column) {
  return {column.data(), column.data() + column.size()};
}

void open(pools_pass* self, const std::filesystem::path& path, const nb::list& routes) {
  constexpr std::uint32_t most_pools = 1U << 20;
  std::vector<profile::pool_assignment> all;
  for (const nb::handle one : routes) {
    const auto pair = nb::cast<nb::tuple>(one);
    profile::pool_assignment route{.first = vector_of(nb::cast<numbers>(pair[0])),
                                   .pools = vector_of(nb::cast<numbers>(pair[1]))};
    if (route.first.size() != route.pools.size()) throw nb::value_error("columns are not of equal length");
    for (std::size_t i = 0; i < route.first.size(); ++i)
      if (route.pools[i] == 0 || route.first[i] > most_pools || route.pools[i] > most_pools)
        throw nb::value_error("a context has no pool, or one beyond 2^20");
    all.push_back(std::move(route));
  }
  new (self) pools_pass(path, std::move(all));
}

nb::dict held_of(const pools_pass& self, std::size_t number) {
  const profile::held_by_pools& held = self.result(number);
  std::vector<std::uint64_t> peaks(held.pools());
  for (std::size_t i = 0; i < peaks.size(); ++i) peaks[i] = held.peak_of(i);
  nb::dict result;
  result["peak"] = held.peak();
  result["peaks"] = to_column(std::move(peaks));
  result["routed_events"] = held.routed_in_all().events;
  result["routed_bytes"] = held.routed_in_all().bytes;
  return result;
}

}  // namespace

void bind_plans(nb::module_& module) {
  nb::class_<pools_pass>(module, "PoolsPass")
      .def("__init__", open, nb::arg("path"), nb::arg("routes"))
      .def("advance", advance, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("progress", &pools_pass::progress)
      .def("held", held_of, nb::arg("number"));
}

}  // namespace mallard::native
