// Names of code addresses.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "native/bind.hpp"
#include "symbols/function_name.hpp"
#include "symbols/symbolizer.hpp"

namespace nb = nanobind;
namespace symbols = mallard::symbols;

namespace mallard::native {
namespace {

using address_array = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::list resolve(symbols::symbolizer& from, const address_array& addresses) {
  symbols::resolved found;
  {
    const nb::gil_scoped_release others_may_run;
    found = from.resolve({addresses.data(), addresses.size()});
  }
  std::vector<nb::object> texts;  // each text one object, however many frames have it
  for (const std::string& bytes : found.texts) texts.push_back(text(bytes));
  nb::list all;
  for (std::size_t i = 0; i + 1 < found.begins.size(); ++i) {
    nb::list frames;
    for (std::uint32_t f = found.begins[i]; f < found.begins[i + 1]; ++f) {
      const symbols::source_frame& frame = found.frames[f];
      frames.append(nb::make_tuple(texts[frame.function], texts[frame.file], frame.line));
    }
    all.append(frames);
  }
  return all;
}

}  // namespace

void bind_symbols(nb::module_& module) {
  module.def(
      "demangle", [](const std::string& name) { return text(symbols::demangle(name)); }, nb::arg("name"));
  nb::class_<symbols::symbolizer>(module, "Symbolizer")
      .def(
          "__init__",
          [](symbols::symbolizer* self, const std::filesystem::path& path,
             const std::optional<std::string>& build_id) {
            const nb::gil_scoped_release others_may_run;
            try {
              new (self) symbols::symbolizer(path, build_id);
            } catch (const symbols::error& wrong) {
              const nb::gil_scoped_acquire again;
              throw nb::value_error(wrong.what());
            }
          },
          nb::arg("path"), nb::arg("build_id").none())
      .def("resolve", &resolve, nb::arg("addresses"));
}

}  // namespace mallard::native
