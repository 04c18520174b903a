// ObjectStream: the objects of a journal as columns, and what they refer to.
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "journal/events/event_batch.hpp"
#include "journal/events/event_source.hpp"
#include "journal/events/metadata.hpp"
#include "native/bind.hpp"
#include "profile/object_stream.hpp"

namespace nb = nanobind;
namespace journal = mallard::journal;
namespace profile = mallard::profile;

namespace mallard::native {
namespace {

nb::list texts(const std::vector<std::string>& lines) {
  nb::list all;
  for (const std::string& line : lines) all.append(text(line));
  return all;
}

// What the source of objects knows, with times in their scale.
class source_tables {
 public:
  explicit source_tables(const profile::object_stream& objects)
      : source_(&objects.source()), clock_(objects.clock()) {}

  [[nodiscard]] nb::dict contexts() const {
    const std::vector<journal::context_node>& nodes = source_->tables().contexts;
    nb::dict columns;
    columns["parent"] = column_of(nodes, [](const journal::context_node& c) { return c.parent; });
    columns["name"] = column_of(nodes, [](const journal::context_node& c) { return c.name; });
    columns["return_address"] =
        column_of(nodes, [](const journal::context_node& c) { return c.return_address; });
    columns["stack_offset"] = column_of(nodes, [](const journal::context_node& c) { return c.stack_offset; });
    return columns;
  }

  [[nodiscard]] nb::list threads() const {
    nb::list rows;
    for (const journal::thread_info& thread : source_->tables().threads) {
      nb::dict row;
      row["system_id"] = thread.system_id;
      row["start_ns"] = clock_.ns(thread.start_time);
      row["end_ns"] = thread.end_time == 0 ? 0 : clock_.ns(thread.end_time);
      row["name"] = text(thread.name);
      rows.append(row);
    }
    return rows;
  }

  [[nodiscard]] nb::list modules() const {
    nb::list rows;
    for (const journal::module_info& module : source_->tables().modules) {
      nb::dict row;
      row["begin"] = module.begin;
      row["end"] = module.end;
      row["bias"] = module.bias;
      row["load_ns"] = clock_.ns(module.load_time);
      row["unload_ns"] = module.unload_time == 0 ? 0 : clock_.ns(module.unload_time);
      row["path"] = file_name(module.path);
      row["build_id"] = text(module.build_id);
      rows.append(row);
    }
    return rows;
  }

  [[nodiscard]] nb::list names() const { return texts(source_->tables().names); }

  void describe(nb::dict& to) const {
    const journal::metadata& about = source_->about();
    const journal::process_tables& known = source_->tables();
    const journal::usage_sample usage = known.usage.empty() ? journal::usage_sample{} : known.usage.back();
    to["cpu_ns"] = usage.cpu_ns;
    to["recording_ns"] = usage.recording_ns;
    to["warnings"] = texts(source_->warnings());
    to["complete"] = source_->complete();
    to["program"] = text(about.program);
    to["arguments"] = texts(about.arguments);
    to["process"] = about.process;
    to["start_unix_ns"] = about.start_unix_ns;
    nb::dict facts;
    for (const auto& [name, value] : about.facts) facts[text(name)] = text(value);
    to["facts"] = facts;
    nb::dict figures;
    for (const auto& [name, value] : about.figures) figures[text(name)] = value;
    to["figures"] = figures;
    nb::list children;
    for (const journal::child_info& child : known.children) {
      nb::dict row;
      row["process"] = child.process;
      row["time_ns"] = clock_.ns(child.time);
      row["journal"] = text(child.journal);
      children.append(row);
    }
    to["children"] = children;
  }

 private:
  const journal::event_source* source_;
  journal::tick_scale clock_;
};

nb::dict columns_of(const profile::timeline& over_time) {
  nb::dict columns;
  columns["bucket_ns"] = over_time.bucket_ns;
  columns["live_bytes"] = to_column(over_time.live_bytes);
  columns["live_objects"] = to_column(over_time.live_objects);
  columns["held_bytes"] = to_column(over_time.held_bytes);
  columns["allocations"] = to_column(over_time.allocations);
  return columns;
}

nb::dict columns_of(const std::vector<profile::context_figures>& contexts) {
  using row = profile::context_figures;
  nb::dict columns;
  columns["allocations"] = column_of(contexts, [](const row& r) { return r.allocations; });
  columns["bytes"] = column_of(contexts, [](const row& r) { return r.bytes; });
  columns["peak_bytes"] = column_of(contexts, [](const row& r) { return r.peak_bytes; });
  columns["peak_objects"] = column_of(contexts, [](const row& r) { return r.peak_objects; });
  columns["leaked_bytes"] = column_of(contexts, [](const row& r) { return r.leaked_bytes; });
  columns["leaked_objects"] = column_of(contexts, [](const row& r) { return r.leaked_objects; });
  columns["temporaries"] = column_of(contexts, [](const row& r) { return r.temporaries; });
  columns["size_classes"] = column_of(contexts, [](const row& r) { return r.size_classes; });
  columns["first_time"] = column_of(contexts, [](const row& r) { return r.first_time; });
  columns["kind"] = column_of(contexts, [](const row& r) { return static_cast<std::uint8_t>(r.kind); });
  return columns;
}

nb::dict columns_of(const std::vector<profile::region_instance>& regions) {
  using row = profile::region_instance;
  nb::dict columns;
  columns["created"] = column_of(regions, [](const row& r) { return r.created; });
  columns["ended"] = column_of(regions, [](const row& r) { return r.ended; });
  columns["parent"] = column_of(regions, [](const row& r) { return r.parent; });
  columns["context"] = column_of(regions, [](const row& r) { return r.context; });
  columns["clears"] = column_of(regions, [](const row& r) { return r.clears; });
  columns["objects"] = column_of(regions, [](const row& r) { return r.objects; });
  columns["bytes"] = column_of(regions, [](const row& r) { return r.bytes; });
  columns["max_live_bytes"] = column_of(regions, [](const row& r) { return r.max_live_bytes; });
  return columns;
}

nb::dict events_by_kind(const profile::pairing_counts& counts) {
  nb::dict named;
  for (std::size_t kind = 0; kind < counts.by_kind.size(); ++kind) {
    if (counts.by_kind[kind] == 0) continue;
    named[journal::label_of(static_cast<journal::event_kind>(kind)).c_str()] = counts.by_kind[kind];
  }
  return named;
}

nb::object next_of(profile::object_stream& objects) {
  profile::object_batch batch;
  bool more = true;
  {
    const nb::gil_scoped_release others_may_run;
    const auto end = std::chrono::steady_clock::now() + time_slice;
    do more = objects.next(batch);
    while (more && batch.count() == 0 && std::chrono::steady_clock::now() < end);
  }
  if (!more) return nb::none();
  nb::dict columns;
  for_each_column(
      batch, [&columns](const char* name, auto& column) { columns[name] = to_column(std::move(column)); });
  return columns;
}

nb::dict totals_of(const profile::object_stream& objects) {
  const profile::stream_totals& known = objects.totals();
  nb::dict to;
  to["events"] = known.counts.events;
  to["event_numbers"] = known.counts.event_numbers;
  to["events_by_kind"] = events_by_kind(known.counts);
  to["failed"] = known.counts.failed;
  to["unmatched_frees"] = known.counts.unmatched_frees;
  to["inversions"] = known.counts.inversions;
  to["end_time"] = known.end_time;
  to["allocations"] = known.allocations;
  to["bytes"] = known.bytes;
  to["peak_event"] = known.peak_event;
  to["peak_time"] = known.peak_time;
  to["peak_live_bytes"] = known.peak_live_bytes;
  to["peak_live_objects"] = known.peak_live_objects;
  to["end_live_bytes"] = known.end_live_bytes;
  to["end_live_objects"] = known.end_live_objects;
  to["over_time"] = columns_of(known.over_time);
  to["contexts"] = columns_of(known.contexts);
  to["regions"] = columns_of(known.regions);
  source_tables(objects).describe(to);
  return to;
}

}  // namespace

void bind_objects(nb::module_& module) {
  using profile::object_stream;
  module.def("largest_of_size_classes", [] {
    std::vector<std::uint64_t> largest(profile::size_classes);
    for (unsigned number = 0; number < profile::size_classes; ++number)
      largest[number] = profile::largest_of_class(number);
    return largest;
  });
  nb::class_<object_stream>(module, "ObjectStream")
      .def(
          "__init__",
          [](object_stream* self, const std::filesystem::path& path, bool objects) {
            using enum object_stream::contents;
            new (self) object_stream(path, objects ? all : totals_only);
          },
          nb::arg("path"), nb::arg("objects") = true, nb::call_guard<nb::gil_scoped_release>())
      .def("next", next_of)
      .def_prop_ro("progress", &object_stream::progress)
      .def("contexts", [](const object_stream& self) { return source_tables(self).contexts(); })
      .def("threads", [](const object_stream& self) { return source_tables(self).threads(); })
      .def("modules", [](const object_stream& self) { return source_tables(self).modules(); })
      .def("names", [](const object_stream& self) { return source_tables(self).names(); })
      .def("totals", totals_of);
}

}  // namespace mallard::native
