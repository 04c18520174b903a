// mallard._native: what the Python package asks of the native parts. Thin on purpose: they do the work,
// Python receives finished results.
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/foreign_malloc.hpp"
#include "harness/machine.hpp"
#include "journal/bytes/file.hpp"
#include "journal/open.hpp"
#include "native/bind.hpp"
#include "profile/journal_pass.hpp"
#include "profile/region_instances.hpp"
#include "profile/summary.hpp"
#include "recorder/program_image.hpp"

namespace nb = nanobind;
namespace harness = mallard::harness;
namespace journal = mallard::journal;
namespace profile = mallard::profile;
namespace recorder = mallard::recorder;

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

nb::list mallocs() {
  nb::list all;
  for (const auto list : {harness::foreign_mallocs(), harness::further_mallocs()})
    for (const harness::foreign_malloc& m : list) {
      nb::dict one;
      one["name"] = std::string(m.name);
      one["object"] = std::string(m.object);
      one["package"] = std::string(m.package);
      one["tunables"] = std::string(m.tunables);
      one["summary"] = std::string(m.summary);
      all.append(one);
    }
  return all;
}

std::string out_of_reach(const std::filesystem::path& program) {
  char culprit[PATH_MAX];
  return recorder::reason_of(recorder::examine_image(program.c_str(), environ, culprit));
}

}  // namespace

NB_MODULE(_native, module) {
  const auto error = nb::exception<journal::error>(module, "JournalError", PyExc_ValueError);
  nb::exception<journal::write_error>(module, "WriteError", error.ptr());
  module.def("built_with", [] { return MALLARD_BUILT_WITH; });
  module.def(
      "summary_json", [](const std::filesystem::path& path) { return to_json(profile::summarize(path)); },
      nb::arg("path"), nb::call_guard<nb::gil_scoped_release>());
  module.def("mallocs", mallocs);
  module.def("machine_json", [] { return to_json(harness::this_machine()).dump(); });
  module.def("out_of_reach", out_of_reach, nb::arg("program"));
  module.def("totals_of_regions", totals_of_regions, nb::arg("path"));
  mallard::native::bind_groups(module);
  mallard::native::bind_exchange(module);
  mallard::native::bind_objects(module);
  mallard::native::bind_plans(module);
  mallard::native::bind_symbols(module);
}
