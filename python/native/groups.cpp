// Statistics of groups of objects, and where their owners are found; each figure a column.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "native/bind.hpp"
#include "profile/journal_pass.hpp"
#include "profile/owner_places.hpp"

namespace nb = nanobind;
namespace profile = mallard::profile;

namespace mallard::native {
namespace {

// A member of a grouping as a vector; empty where it is missing or None.
template <class T>
std::vector<T> vector_of(const nb::dict& members, const char* name) {
  if (!members.contains(name) || members[name].is_none()) return {};
  nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu> array;
  if (!nb::try_cast(members[name], array))
    throw nb::type_error((std::string(name) + " is no array of numbers").c_str());
  return std::vector<T>(array.data(), array.data() + array.size());
}

std::uint32_t number_of(const nb::dict& members, const char* name) {
  return members.contains(name) ? nb::cast<std::uint32_t>(members[name]) : 0;
}

profile::statistics_plan plan_of(const nb::dict& members, std::uint64_t events, std::uint64_t end_time) {
  profile::statistics_plan plan{.groups = {.of_context = vector_of<std::uint32_t>(members, "of_context"),
                                           .of_thread = vector_of<std::uint32_t>(members, "of_thread"),
                                           .groups = number_of(members, "groups")},
                                .ns_per_operation = vector_of<double>(members, "ns_per_operation"),
                                .events = events,
                                .end_time = end_time,
                                .moments = number_of(members, "moments"),
                                .buckets = number_of(members, "buckets")};
  const std::uint32_t groups = plan.groups.groups;
  const auto outside = [groups](std::uint32_t group) { return group >= groups; };
  if (groups == 0) throw nb::value_error("a grouping has no groups");
  if (!plan.groups.of_context.empty() && !plan.groups.of_thread.empty())
    throw nb::value_error("a grouping is by context and by thread");
  if (std::ranges::any_of(plan.groups.of_context, outside) ||
      std::ranges::any_of(plan.groups.of_thread, outside))
    throw nb::value_error("a grouping names a group that it does not have");
  if (!plan.ns_per_operation.empty() && plan.ns_per_operation.size() != groups)
    throw nb::value_error("ns_per_operation is not of as many groups as there are");
  return plan;
}

void open(profile::statistics_pass* self, const std::filesystem::path& path, std::uint64_t events,
          std::uint64_t end_time, const nb::list& groupings) {
  std::vector<profile::statistics_plan> plans;
  for (const nb::handle one : groupings) plans.push_back(plan_of(nb::cast<nb::dict>(one), events, end_time));
  new (self) profile::statistics_pass(path, std::move(plans));
}

bool advance(profile::statistics_pass& self) {
  const auto end = std::chrono::steady_clock::now() + time_slice;
  bool more = true;
  while (more && std::chrono::steady_clock::now() < end) more = self.advance();
  return more;
}

const profile::group_statistics& result_of(const profile::statistics_pass& self, std::size_t grouping) {
  if (!self.complete()) throw std::runtime_error("the journal has not been read to its end");
  return self.result(grouping);
}

nb::dict figures_of(const profile::statistics_pass& self, std::size_t grouping) {
  using row = profile::group_figures;
  const std::vector<row>& rows = result_of(self, grouping).figures();
  nb::dict columns;
  columns["allocations"] = column_of(rows, [](const row& r) { return r.allocations; });
  columns["bytes"] = column_of(rows, [](const row& r) { return r.bytes; });
  columns["max_live_bytes"] = column_of(rows, [](const row& r) { return r.max_live_bytes; });
  columns["max_live_objects"] = column_of(rows, [](const row& r) { return r.max_live_objects; });
  columns["max_live_event"] = column_of(rows, [](const row& r) { return r.max_live_event; });
  columns["never"] = column_of(rows, [](const row& r) { return r.never; });
  columns["reallocated"] = column_of(rows, [](const row& r) { return r.reallocated; });
  columns["together"] = column_of(rows, [](const row& r) { return r.together; });
  columns["lifo"] = column_of(rows, [](const row& r) { return r.lifo; });
  columns["one_by_one"] = column_of(rows, [](const row& r) { return r.one_by_one; });
  columns["active_threads"] = column_of(rows, [](const row& r) { return r.active_threads; });
  columns["contention"] = column_of(rows, [](const row& r) { return r.contention; });
  columns["overlaps"] = column_of(rows, [](const row& r) { return r.overlaps; });
  return columns;
}

nb::dict compactness_of(const profile::statistics_pass& self, std::size_t grouping) {
  using row = profile::compactness;
  const std::vector<row>& rows = result_of(self, grouping).compactness_over_time();
  nb::dict columns;
  columns["group"] = column_of(rows, [](const row& r) { return r.group; });
  columns["event"] = column_of(rows, [](const row& r) { return r.event; });
  columns["live_bytes"] = column_of(rows, [](const row& r) { return r.live_bytes; });
  columns["line_bytes"] = column_of(rows, [](const row& r) { return r.line_bytes; });
  columns["page_bytes"] = column_of(rows, [](const row& r) { return r.page_bytes; });
  return columns;
}

// Points into the statistics, which live as long as the array.
auto live_bytes_of(const profile::statistics_pass& self, std::size_t grouping) {
  const profile::group_statistics& found = result_of(self, grouping);
  const std::size_t groups = found.figures().size();
  const std::vector<std::uint64_t>& levels = found.live_bytes_over_time();
  return nb::ndarray<nb::numpy, const std::uint64_t, nb::ndim<2>>(
      levels.data(), {groups, levels.size() / groups}, nb::handle());
}

nb::tuple owner_places(const std::filesystem::path& path, const nb::object& of_context,
                       const nb::object& progress) {
  using row = profile::owner_place;
  nb::dict columns;
  columns["of_context"] = of_context;
  const std::vector<std::uint32_t> groups = vector_of<std::uint32_t>(columns, "of_context");
  columns.clear();
  profile::owner_places all;
  {
    const std::function<void(double)> heard = caller_of(progress);
    const nb::gil_scoped_release without_lock;
    all = profile::find_owner_places(path, groups, heard);
  }
  columns["group"] = column_of(all.found, [](const row& r) { return r.group; });
  columns["place"] = column_of(all.found, [](const row& r) { return r.place; });
  columns["blocks"] = column_of(all.found, [](const row& r) { return r.blocks; });
  columns["distinct"] = column_of(all.found, [](const row& r) { return r.distinct; });
  columns["owners"] = column_of(all.found, [](const row& r) { return r.owners; });
  columns["together"] = column_of(all.found, [](const row& r) { return r.together; });
  columns["in_order"] = column_of(all.found, [](const row& r) { return r.in_order; });
  columns["chance"] = column_of(all.found, [](const row& r) { return r.chance; });
  columns["gain"] = column_of(all.found, [](const row& r) { return r.gain(); });
  columns["told"] = column_of(all.found, [](const row& r) { return r.told; });
  std::vector<std::uint32_t> sketches;
  for (const row& r : all.found) sketches.insert(sketches.end(), r.sketch.begin(), r.sketch.end());
  columns["sketch"] = to_column(std::move(sketches)).attr("reshape")(all.found.size(), row::sketch_size);
  return nb::make_tuple(all.snapshots, columns);
}

nb::dict snapshots(const std::filesystem::path& path, const nb::object& progress) {
  profile::snapshot_columns rows;
  {
    const std::function<void(double)> heard = caller_of(progress);
    const nb::gil_scoped_release without_lock;
    rows = profile::read_snapshots(path, heard);
  }
  nb::dict columns;
  columns["words"] =
      to_column(std::move(rows.words)).attr("reshape")(rows.event.size(), profile::snapshot_places);
  columns["event"] = to_column(std::move(rows.event));
  return columns;
}

std::vector<std::string> owner_place_names() {
  std::vector<std::string> names;
  for (std::size_t place = 0; place < profile::snapshot_places; ++place)
    names.push_back(profile::name_of_place(place));
  return names;
}

}  // namespace

void bind_groups(nb::module_& module) {
  module.def("owner_place_names", owner_place_names);
  module.def("owner_places", owner_places, nb::arg("path"), nb::arg("of_context") = nb::none(),
             nb::arg("progress") = nb::none());
  module.def("snapshots", snapshots, nb::arg("path"), nb::arg("progress") = nb::none());
  nb::class_<profile::statistics_pass>(module, "StatisticsPass")
      .def("__init__", open, nb::arg("path"), nb::arg("events"), nb::arg("end_time"), nb::arg("groupings"))
      .def("advance", advance, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("progress", &profile::statistics_pass::progress)
      .def("figures", figures_of, nb::arg("grouping"))
      .def("compactness", compactness_of, nb::arg("grouping"))
      .def("live_bytes", live_bytes_of, nb::arg("grouping"), nb::rv_policy::reference_internal);
}

}  // namespace mallard::native
