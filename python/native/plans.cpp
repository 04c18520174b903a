// What pools would hold, for plans.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
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
using event_numbers = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using words = nb::ndarray<const std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Arrays of Python's, as long as they are looked at.
struct snapshots {
  event_numbers events;
  words of_callers;

  [[nodiscard]] profile::snapshots_in_order in_order() const {
    return {{events.data(), events.size()}, {of_callers.data(), of_callers.size()}};
  }
};

// Several assignments, all in one reading.
class pools_pass {
 public:
  pools_pass(const std::filesystem::path& path, std::vector<profile::pool_assignment> routes,
             std::uint64_t events, std::uint32_t moments, std::optional<snapshots> known)
      : known_(std::move(known)),
        held_(made(std::move(routes), events, moments)),
        pass_(journal::open(path), watchers()) {}

  bool advance() { return pass_.advance(); }
  [[nodiscard]] double progress() const { return pass_.source().progress(); }
  [[nodiscard]] const profile::held_by_pools& result(std::size_t number) const { return *held_.at(number); }

 private:
  [[nodiscard]] std::vector<std::unique_ptr<profile::held_by_pools>> made(
      std::vector<profile::pool_assignment> routes, std::uint64_t events, std::uint32_t moments) const {
    const profile::snapshots_in_order known = known_ ? known_->in_order() : profile::snapshots_in_order{};
    std::vector<std::unique_ptr<profile::held_by_pools>> all;
    for (profile::pool_assignment& one : routes)
      all.push_back(std::make_unique<profile::held_by_pools>(std::move(one), events, moments, known));
    return all;
  }
  [[nodiscard]] std::vector<profile::watcher*> watchers() const {
    std::vector<profile::watcher*> all;
    for (const auto& one : held_) all.push_back(one.get());
    return all;
  }

  std::optional<snapshots> known_;                             // which the pools point to
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

std::optional<snapshots> snapshots_of(const nb::object& given) {
  if (given.is_none()) return std::nullopt;
  snapshots found{nb::cast<event_numbers>(given["event"]), nb::cast<words>(given["words"])};
  if (found.of_callers.shape(0) != found.events.size() ||
      found.of_callers.shape(1) != profile::snapshot_places)
    throw nb::value_error("each snapshot needs all of its words");
  return found;
}

void open(pools_pass* self, const std::filesystem::path& path, const nb::list& routes, std::uint64_t events,
          std::uint32_t moments, const nb::object& known, const nb::object& heaps, bool default_in_segments) {
  constexpr std::uint32_t most_pools = 1U << 20;
  std::vector<profile::pool_assignment> all;
  for (const nb::handle one : routes) {
    const auto columns = nb::cast<nb::tuple>(one);
    profile::pool_assignment route{.first = vector_of(nb::cast<numbers>(columns[0])),
                                   .pools = vector_of(nb::cast<numbers>(columns[1]))};
    for (const std::uint32_t kind : vector_of(nb::cast<numbers>(columns[2]))) {
      if (kind > static_cast<std::uint32_t>(profile::placing::parts)) throw nb::value_error("unknown kind");
      route.kinds.push_back(static_cast<profile::placing>(kind));
    }
    route.places = vector_of(nb::cast<numbers>(columns[3]));
    if (route.first.size() != route.pools.size() || route.first.size() != route.kinds.size() ||
        route.first.size() != route.places.size())
      throw nb::value_error("columns are not of equal length");
    for (std::size_t i = 0; i < route.first.size(); ++i)
      if (route.pools[i] == 0 || route.first[i] > most_pools || route.pools[i] > most_pools)
        throw nb::value_error("a context has no pool, or one beyond 2^20");
    if (!heaps.is_none()) route.heaps = vector_of(nb::cast<numbers>(heaps));
    if (!route.heaps.empty() && std::ranges::max(route.heaps) >= route.heaps.size())
      throw nb::value_error("a thread has a heap beyond those of all threads");
    route.default_in_segments = default_in_segments;
    all.push_back(std::move(route));
  }
  new (self) pools_pass(path, std::move(all), events, moments, snapshots_of(known));
}

nb::dict held_of(const pools_pass& self, std::size_t number) {
  const profile::held_by_pools& held = self.result(number);
  std::vector<std::uint64_t> peaks(held.pools());
  for (std::size_t i = 0; i < peaks.size(); ++i) peaks[i] = held.peak_of(i);
  nb::dict result;
  result["peak"] = held.peak();
  result["peak_in_segments"] = held.peak_in_segments();
  result["peaks"] = to_column(std::move(peaks));
  result["routed_events"] = held.routed_in_all().events;
  result["routed_bytes"] = held.routed_in_all().bytes;
  return result;
}

nb::object alive_over_time(const pools_pass& self, std::size_t number) {
  const profile::held_by_pools& held = self.result(number);
  std::vector<std::uint64_t> levels;
  for (std::size_t i = 0; i < held.pools(); ++i) {
    const std::vector<std::uint64_t> of_pool = held.alive_over_time(i);
    levels.insert(levels.end(), of_pool.begin(), of_pool.end());
  }
  const std::size_t moments = levels.size() / held.pools();
  return to_column(std::move(levels)).attr("reshape")(held.pools(), moments);
}

}  // namespace

void bind_plans(nb::module_& module) {
  nb::class_<pools_pass>(module, "PoolsPass")
      .def("__init__", open, nb::arg("path"), nb::arg("routes"), nb::arg("events") = 0,
           nb::arg("moments") = 0, nb::arg("snapshots") = nb::none(), nb::arg("heaps") = nb::none(),
           nb::arg("default_in_segments") = true)
      .def("advance", advance, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("progress", &pools_pass::progress)
      .def("held", held_of, nb::arg("number"))
      .def("alive_over_time", alive_over_time, nb::arg("number"));
}

}  // namespace mallard::native
