// text_form: the text form of a journal, one event a line: text_source reads it, write_text writes it.
//
//     a <size> <pointer, hex> <thread> <ns>      an allocation; pointer 0: it failed
//     f <pointer, hex> <thread> <ns>             a free
//
// Hex digits in either case. The thread is any number below 2^64, the clock counts nanoseconds.
// A line of any other form is an error that names its number.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "journal/events/event_source.hpp"
#include "journal/text/line_reader.hpp"

namespace mallard::journal {

class text_source final : public event_source {
 public:
  explicit text_source(input from) : lines_(std::move(from)) {}

  bool next(event_batch& batch) override;
  [[nodiscard]] const process_tables& tables() const override { return tables_; }
  [[nodiscard]] const metadata& about() const override { return about_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const override { return warnings_; }
  [[nodiscard]] bool complete() const override { return finished_ && whole_; }
  [[nodiscard]] double progress() const override { return lines_.progress(); }
  void watch(section_type, table_receiver) override {}

 private:
  void take(std::string_view line, event_batch& batch);
  void finish();
  std::uint32_t thread_index(std::uint64_t number);

  line_reader lines_;
  std::uint64_t delivered_ = 0;  // events
  std::uint64_t null_frees_ = 0;
  bool finished_ = false;  // all lines are read, and what is to be said about them is said
  std::unordered_map<std::uint64_t, std::uint32_t> thread_indices_;
  bool whole_ = true;
  process_tables tables_;
  metadata about_;
  std::vector<std::string> warnings_;
};

struct text_written {
  std::uint64_t lines = 0;
  std::uint64_t left_out = 0;  // region events
};

// Writes `from`, read to its end, as text. What the form cannot say is left out and counted: a reallocation
// becomes the free of the old block and an allocation; entry points, alignments and contexts are lost. Times
// become ns by the clock's rate as it is known when writing begins. The state of `to` says whether writing
// failed. `heard`, if it is not empty, is called after every batch with the share that is done, 0..1, and may
// throw.
text_written write_text(event_source& from, std::ostream& to, const std::function<void(double)>& heard = {});

}  // namespace mallard::journal
