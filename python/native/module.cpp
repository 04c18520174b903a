// mallard._native: what the Python package asks of the native parts. Thin on purpose: they do the work,
// Python receives finished results.
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

#include <filesystem>

#include "journal/event_source.hpp"
#include "journal/summary.hpp"
#include "native/bind.hpp"

namespace nb = nanobind;
namespace journal = mallard::journal;

NB_MODULE(_native, module) {
  nb::exception<journal::error>(module, "JournalError", PyExc_ValueError);
  module.def(
      "summary_json", [](const std::filesystem::path& path) { return to_json(journal::summarize(path)); },
      nb::arg("path"), nb::call_guard<nb::gil_scoped_release>());
  mallard::native::bind_census(module);
  mallard::native::bind_exchange(module);
  mallard::native::bind_objects(module);
  mallard::native::bind_symbols(module);
}
