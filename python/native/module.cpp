// mallard._native: what the Python package asks of the native parts. Thin on purpose: they do the work,
// Python receives finished results.
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

#include <filesystem>

#include "journal/bytes/output.hpp"
#include "journal/open.hpp"
#include "native/bind.hpp"
#include "profile/journal_pass.hpp"
#include "profile/region_instances.hpp"
#include "profile/summary.hpp"

namespace nb = nanobind;
namespace journal = mallard::journal;
namespace profile = mallard::profile;

namespace {

nb::dict totals_of_regions(const std::filesystem::path& path) {
  profile::region_instances regions;
  {
    const nb::gil_scoped_release others_run;
    profile::journal_pass pass(journal::open(path), {&regions});
    while (pass.advance()) {
    }
  }
  const profile::region_totals& totals = regions.totals();
  nb::dict result;
  result["regions"] = totals.regions;
  result["objects"] = totals.objects;
  result["bytes"] = totals.bytes;
  result["peak_live_bytes"] = totals.peak_live_bytes;
  result["peak_live_objects"] = totals.peak_live_objects;
  return result;
}

}  // namespace

NB_MODULE(_native, module) {
  const auto error = nb::exception<journal::error>(module, "JournalError", PyExc_ValueError);
  nb::exception<journal::write_error>(module, "WriteError", error.ptr());
  module.def("built_with", [] { return MALLARD_BUILT_WITH; });
  module.def(
      "summary_json", [](const std::filesystem::path& path) { return to_json(profile::summarize(path)); },
      nb::arg("path"), nb::call_guard<nb::gil_scoped_release>());
  module.def("totals_of_regions", totals_of_regions, nb::arg("path"));
  mallard::native::bind_groups(module);
  mallard::native::bind_exchange(module);
  mallard::native::bind_objects(module);
  mallard::native::bind_symbols(module);
}
