// spool_source: a journal and what is still in its spool, as one.
//
//     journal  | evnt | evnt | evnt |
//     spool                         | ring 0 . . . |
//                                   | ring 1  . .  |   merged by time, with contexts and threads continued
//
// For recordings that were cut off or are going on: the events in the spool are those that the journal's
// file does not have. Changes neither. Says in one line of warnings() what it is that was read. Memory: the
// spool's, one batch at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "journal/binary/binary_source.hpp"
#include "journal/drain/recovered_tables.hpp"
#include "journal/drain/spool_copy.hpp"
#include "journal/drain/spool_reader.hpp"

namespace mallard::journal {

class spool_source final : public event_source {
 public:
  // `journal` may be null: then the spool is all there is. `name` is what the user knows the spool by.
  spool_source(std::unique_ptr<binary_source> journal, spool_copy spool, std::string name);

  bool next(event_batch& batch) override;
  [[nodiscard]] const process_tables& tables() const override {
    return journal_ ? journal_->tables() : known_.get();
  }
  [[nodiscard]] const metadata& about() const override { return journal_ ? journal_->about() : about_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const override { return warnings_; }
  [[nodiscard]] bool complete() const override { return complete_; }
  [[nodiscard]] std::uint64_t recovered() const override { return recovered_; }
  [[nodiscard]] double progress() const override { return journal_ ? journal_->progress() : 1; }
  void watch(section_type type, table_receiver receive) override;

 private:
  void go_on_with_spool();
  void finish();
  [[nodiscard]] std::string explanation() const;

  std::unique_ptr<binary_source> journal_;  // null once it is read
  spool_copy spool_;
  std::string name_;
  recovered_tables known_;
  spool_reader<recovered_tables> reader_;
  metadata about_;
  std::vector<std::string> warnings_;
  std::uint64_t last_time_ = 0;  // of the journal's events
  std::uint64_t passed_ = 0;     // events before the batch
  std::uint64_t recovered_ = 0;  // events from the spool
  bool had_end_ = false;         // the journal was complete
  bool finished_ = false;
  bool complete_ = false;
};

}  // namespace mallard::journal
