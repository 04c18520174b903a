// binary_source: the sections of a journal as batches of events.
//
//     file header | meta | ctxt | thrd | evnt | ctxt | evnt | ... | end
//                   \_____ tables, about ______/ \_ batch _/
//
// What is damaged is skipped, reported once and never guessed at: a section whose payload does not
// match its checksum; bytes that belong to no section (the search goes on for the next header that
// is intact); a file that ends without its end.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "journal/binary/collected_tables.hpp"
#include "journal/binary/event_columns.hpp"
#include "journal/binary/section.hpp"
#include "journal/bytes/file.hpp"
#include "journal/events/event_source.hpp"

namespace mallard::journal {

class binary_source final : public event_source {
 public:
  // Reads the file header; throws journal::error. If the journal has no end, `cut_off` is a line of
  // warnings(); empty: there is none, since the journal continues elsewhere.
  explicit binary_source(input from,
                         std::string cut_off = "the journal has no end: its recording was cut off");

  bool next(event_batch& batch) override;
  [[nodiscard]] const process_tables& tables() const override { return tables_.get(); }
  [[nodiscard]] const metadata& about() const override { return about_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const override { return warnings_; }
  [[nodiscard]] bool complete() const override {
    return has_end_ && !damaged_ && !about_.facts.contains(incomplete_fact);
  }
  [[nodiscard]] double progress() const override { return from_.progress(); }
  void watch(section_type type, table_receiver receive) override { receivers_[type] = std::move(receive); }

  // Events delivered or lost so far: the number of the next one.
  [[nodiscard]] std::uint64_t passed() const noexcept { return passed_; }

 private:
  bool take(const section_header& header, byte_span payload, event_batch& batch);
  void take_events(const section_header& header, event_batch& batch);
  void take_end();
  void skip_to_section();
  void finish();
  void lose_events(const section_header& header);
  void damage(std::string line);

  input from_;
  std::string cut_off_;
  table_decoder decoder_;
  collected_tables tables_;
  metadata about_;
  std::map<section_type, table_receiver> receivers_;
  std::vector<std::string> warnings_;
  std::uint64_t events_ = 0;    // delivered so far
  std::uint64_t passed_ = 0;    // delivered or lost so far: the number of the next event
  std::uint64_t orphaned_ = 0;  // events whose context is lost
  std::uint64_t expected_ = 0;  // as the end says
  bool has_end_ = false;
  bool ended_ = false;
  bool finished_ = false;
  bool damaged_ = false;
};

}  // namespace mallard::journal
