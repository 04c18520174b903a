// spool_source: a journal and what is still in its spool, as one.
//
//     journal  | evnt | evnt | evnt |
//     spool                         | ring 0 . . . |
//                                   | ring 1  . .  |   merged by time, with contexts and threads continued
//
// For recordings that were cut off or are going on: the events in the spool are those that the journal's
// file does not have. Changes neither. Says in one line of warnings() what it is that was read. Memory: the
// spool's, one batch at a time.
//
// recovered_tables: the journal's tables, gone on with what the spool says; what spool_reader reads into.
//
//     journal's tables --> contexts, names and threads by what they are --+--> the same indices
//     spool                                                               +--> new ones behind them
//
// A thread that the journal knows is found by its system's id, unless it had ended before. Hash tables
// over what is there; amortised O(1) a row.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "journal/binary/binary_source.hpp"
#include "journal/binary/context_interner.hpp"
#include "journal/drain/spool_copy.hpp"
#include "journal/drain/spool_reader.hpp"
#include "journal/events/event_batch.hpp"
#include "journal/events/process_tables.hpp"
#include "journal/spool/spool.hpp"

namespace mallard::journal {

class recovered_tables {
 public:
  recovered_tables() = default;
  explicit recovered_tables(process_tables known, std::uint64_t last_time);

  // Takes in the modules of the process that the journal does not have.
  void take_modules(spool_header* spool, const metadata& about);

  // Has the next events go to the end of `batch`. Afterwards complete() makes all that they refer to seen.
  void fill(event_batch& batch) noexcept { batch_ = &batch; }
  void complete();

  void add_child(child_info row) { tables_.children.push_back(std::move(row)); }
  void add_usage(const usage_sample& row) { tables_.usage.push_back(row); }

  [[nodiscard]] const process_tables& get() const noexcept { return tables_; }
  [[nodiscard]] std::uint64_t last_time() const noexcept { return last_time_; }

  // For spool_reader, which says what they are.
  std::uint32_t add_thread(const thread_info& info);
  void update_thread(std::uint32_t index, const thread_info& info);
  std::uint32_t frame(std::uint32_t parent, std::uint64_t return_address, std::uint64_t stack_offset,
                      std::uint64_t time);
  std::uint32_t scope(std::uint32_t parent, std::string_view name);
  void append(const event& e);
  void snapshot(std::uint64_t, std::uint32_t, std::span<const std::uint64_t>) {}

 private:
  process_tables tables_;
  context_interner contexts_;
  std::unordered_map<std::uint64_t, std::uint32_t> threads_;  // the latest one of each system id
  std::unordered_map<std::string, std::uint32_t> names_;
  event_batch* batch_ = nullptr;
  std::uint64_t last_time_ = 0;
};

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
