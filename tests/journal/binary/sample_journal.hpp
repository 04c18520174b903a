// sample_journal: a small journal with an event of every kind and a row in every table; and journals as a
// whole in memory, for comparing what was read with what was written.
#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "journal/binary/writer.hpp"
#include "journal/bytes/file.hpp"
#include "journal/events/event_batch.hpp"
#include "journal/open.hpp"

namespace mallard::journal {

inline constexpr std::array all_kinds = {
    event_kind::malloc,
    event_kind::calloc,
    event_kind::posix_memalign,
    event_kind::aligned_alloc,
    event_kind::memalign,
    event_kind::valloc,
    event_kind::pvalloc,
    event_kind::new_,
    event_kind::new_array,
    event_kind::allocate,
    event_kind::realloc,
    event_kind::reallocarray,
    event_kind::free,
    event_kind::free_sized,
    event_kind::free_aligned_sized,
    event_kind::delete_,
    event_kind::delete_array,
    event_kind::deallocate,
    event_kind::region_create,
    event_kind::region_allocate,
    event_kind::region_free,
    event_kind::region_clear,
    event_kind::region_destroy,
};

// One event of each kind, with every field the kind has.
inline std::vector<event> sample_events() {
  std::vector<event> events;
  std::uint64_t time = 1000;
  for (const event_kind kind : all_kinds) {
    event e{
        .kind = kind, .thread = 1, .context = 2, .time = time += 37, .address = 0x5555'0000'1000 + time * 16};
    if (!is_free(kind)) e.size = time % 5 * 24;
    if (kind == event_kind::memalign) e.alignment = 4096;
    if (kind == event_kind::malloc) e.duration = 91;
    if (is_reallocation(kind)) e.old_address = events.back().address;
    if (is_region(kind)) e.region = 0x7f00'1234'5678;
    if (kind == event_kind::region_create) e.parent = 0x7f00'1234'0000;
    events.push_back(e);
  }
  events.front().address = 0;                                                      // a failed allocation
  events.push_back({.kind = event_kind::free, .time = 5, .address = UINT64_MAX});  // a clock that went back
  return events;
}

inline metadata sample_metadata() {
  return {.program = "/usr/bin/true",
          .arguments = {"true", "--quiet", "caf\xc3\xa9"},
          .directory = "/tmp",
          .process = 4321,
          .parent_process = 4320,
          .start_unix_ns = 1'700'000'000'123'456'789,
          .ticks_per_second = 2.5e9,
          .facts = {{"kernel", "6.1"}, {"stack", "full"}},
          .figures = {{"exit_code", 0}, {"stalls", 3}}};
}

inline process_tables sample_tables() {
  process_tables known;
  known.contexts.push_back({.return_address = 0x401000});
  known.contexts.push_back({.parent = 1, .return_address = 0x402000, .stack_offset = 48});
  known.contexts.push_back({.parent = 2, .name = 1});
  known.threads.push_back({.system_id = 4321, .name = "main"});
  known.threads.push_back({.system_id = 4322, .start_time = 7, .end_time = 900, .name = "worker"});
  known.modules.push_back(
      {.begin = 0x400000, .end = 0x500000, .bias = 0x400000, .path = "/usr/bin/true", .build_id = "0a1b"});
  known.modules.push_back({.begin = 0x7f0000,
                           .end = 0x800000,
                           .bias = 0x7f0000,
                           .load_time = 5,
                           .unload_time = 50,
                           .path = "/lib/x.so"});
  known.names.emplace_back("parser");
  known.usage.push_back({.time = 500, .cpu_ns = 400, .recording_ns = 30, .stalls = 1, .stalled_ns = 9});
  known.usage.push_back({.time = 1000, .cpu_ns = 800, .recording_ns = 60, .stalls = 1, .stalled_ns = 9});
  known.children.push_back({.process = 4400, .time = 77, .journal = "run.mallard.d/4400"});
  known.children.push_back(
      {.time = 78, .program = "./fixed", .reason = "it is statically linked", .processes = 3});
  return known;
}

// Writes the sample, with a flush in the middle so that it has more than one chunk of events.
inline void write_sample(const std::filesystem::path& path) {
  writer out(path);
  out.describe(sample_metadata());
  const process_tables known = sample_tables();
  const std::vector<event> events = sample_events();
  const std::uint32_t outer = out.intern_context(0, known.contexts[1].return_address);
  const std::uint32_t inner = out.intern_context(outer, known.contexts[2].return_address);
  (void)out.intern_scope(inner, out.intern_name("parser"));
  for (const thread_info& thread : known.threads) (void)out.add_thread(thread);
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i == events.size() / 2) {
      out.flush();
      out.set_stack_offset(inner, known.contexts[2].stack_offset);
      out.add_usage(known.usage[0]);
    }
    out.append(events[i]);
  }
  for (const module_info& module : known.modules) (void)out.add_module(module);
  out.add_usage(known.usage[1]);
  for (const child_info& child : known.children) out.add_child(child);
  out.finish();
}

}  // namespace mallard::journal

namespace mallard::journal {

// A journal that lies in memory instead of in a file.
class memory_stream final : public byte_stream {
 public:
  explicit memory_stream(std::string_view bytes) : bytes_(bytes) {}

  std::size_t read(unsigned char* to, std::size_t size) override {
    const std::size_t count = std::min(size, bytes_.size() - at_);
    std::copy_n(bytes_.data() + at_, count, to);
    at_ += count;
    return count;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

inline std::unique_ptr<event_source> open_bytes(std::string_view bytes) {
  return open(input(std::make_unique<memory_stream>(bytes)));
}

struct journal_contents {
  std::vector<event> events;
  process_tables known;
  metadata about;
  std::vector<std::string> warnings;
  bool complete = false;
};

inline event event_at(const event_batch& batch, std::size_t row) {
  return {.kind = batch.kind[row],
          .thread = batch.thread[row],
          .context = batch.context[row],
          .time = batch.time[row],
          .address = batch.address[row],
          .size = batch.size[row],
          .alignment = batch.alignment[row],
          .old_address = batch.old_address[row],
          .region = batch.region[row],
          .parent = batch.parent[row],
          .duration = batch.duration[row]};
}

inline journal_contents read_all(event_source& source) {
  journal_contents all;
  event_batch batch;
  while (source.next(batch)) {
    for (std::size_t row = 0; row < batch.count(); ++row) all.events.push_back(event_at(batch, row));
  }
  all.known = source.tables();
  all.about = source.about();
  all.warnings = source.warnings();
  all.complete = source.complete();
  return all;
}

inline journal_contents read_all(const std::filesystem::path& path) { return read_all(*open(path)); }

inline journal_contents read_bytes(std::string_view bytes) { return read_all(*open_bytes(bytes)); }

// What opening or reading a journal throws; empty if nothing.
template <class Read>
std::string error_from(Read read) {
  try {
    read();
  } catch (const error& reason) {
    return reason.what();
  }
  return {};
}

inline std::string error_of(const std::filesystem::path& path) {
  return error_from([&] { read_all(path); });
}

inline std::string error_of_bytes(std::string_view bytes) {
  return error_from([&] { read_bytes(bytes); });
}

}  // namespace mallard::journal
