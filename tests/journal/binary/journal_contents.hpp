// journal_contents: a whole journal in memory, for comparing what was read with what was written.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "journal/events/event_batch.hpp"
#include "journal/memory_stream.hpp"
#include "journal/open.hpp"

namespace mallard::journal {

struct journal_contents {
  std::vector<event> events;
  tables known;
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
  all.known = source.directory();
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
