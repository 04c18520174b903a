// journal_contents: a whole journal in memory, for comparing what was read with what was written.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "journal/bytes/input.hpp"
#include "journal/events/event_batch.hpp"
#include "journal/open.hpp"

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
