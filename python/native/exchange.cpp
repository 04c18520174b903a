// Journals from and to the forms that others read and write.
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "journal/events/event_batch.hpp"
#include "journal/merge.hpp"
#include "journal/open.hpp"
#include "journal/text/import.hpp"
#include "journal/text/text_form.hpp"
#include "native/bind.hpp"

namespace nb = nanobind;
namespace journal = mallard::journal;

namespace mallard::native {
namespace {

nb::dict import_journal(const std::filesystem::path& source, const std::string& form,
                        const std::filesystem::path& to, const nb::object& progress) {
  if (form != "text" && form != "csapp") throw nb::value_error("form must be text or csapp");
  const auto as = form == "text" ? journal::import_form::text : journal::import_form::csapp;
  journal::imported done;
  {
    const std::function<void(double)> heard = caller_of(progress);
    const nb::gil_scoped_release without_lock;
    done = journal::import_journal(source, as, to, heard);
  }
  nb::dict result;
  result["events"] = done.events;
  result["warnings"] = done.warnings;
  return result;
}

nb::dict merge_journals(const std::vector<std::filesystem::path>& sources, const std::filesystem::path& to,
                        const nb::object& progress) {
  journal::merged done;
  {
    const std::function<void(double)> heard = caller_of(progress);
    const nb::gil_scoped_release without_lock;
    done = journal::merge_journals(sources, to, heard);
  }
  nb::dict result;
  result["events"] = done.events;
  result["warnings"] = done.warnings;
  return result;
}

struct write_failed {
  int reason;  // an errno
};

// Writes all of `text` to the open file. A write that a signal interrupts fails, or writes less.
void write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(to, text.data(), text.size());
    if (written < 0 && errno != EINTR) throw write_failed{errno};
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    if (!text.empty()) let_signals_through();
  }
}

journal::text_written write_text(journal::event_source& source, int to, const nb::object& progress) try {
  const std::function<void(double)> heard = caller_of(progress);
  const nb::gil_scoped_release without_lock;
  std::ostringstream lines;  // of one batch
  return journal::write_text(source, lines, [&](double share) {
    write_all(to, lines.view());
    lines.str({});
    heard(share);
  });
} catch (const write_failed& failure) {
  errno = failure.reason;
  PyErr_SetFromErrno(PyExc_OSError);
  throw nb::python_error();
}

nb::dict export_text(const std::filesystem::path& path, int to, const nb::object& progress) {
  const auto source = journal::open(path);
  const journal::text_written written = write_text(*source, to, progress);
  nb::dict result;
  result["lines"] = written.lines;
  result["left_out"] = written.left_out;
  result["warnings"] = source->warnings();
  return result;
}

// By number.
std::vector<std::string> event_kinds() {
  std::vector<std::string> names(256);
  for (std::size_t kind = 0; kind < names.size(); ++kind)
    names[kind] = journal::label_of(static_cast<journal::event_kind>(kind));
  return names;
}

}  // namespace

void bind_exchange(nb::module_& module) {
  module.def("event_kinds", &event_kinds);
  module.def("import_journal", &import_journal, nb::arg("source"), nb::arg("form"), nb::arg("to"),
             nb::arg("progress") = nb::none());
  module.def("merge_journals", &merge_journals, nb::arg("sources"), nb::arg("to"),
             nb::arg("progress") = nb::none());
  module.def("export_text", &export_text, nb::arg("path"), nb::arg("to"), nb::arg("progress") = nb::none());
}

}  // namespace mallard::native
