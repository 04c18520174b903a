// recovered_tables: a journal's tables, gone on with what its spool says; what spool_reader reads into.
//
//     journal's tables --> contexts, names and threads by what they are --+--> the same indices
//     spool                                                               +--> new ones behind them
//
// A thread that the journal knows is found by its system's id, unless it had ended before. Hash tables
// over what is there; amortised O(1) a row.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "journal/binary/context_interner.hpp"
#include "journal/events/event_batch.hpp"
#include "journal/events/process_tables.hpp"
#include "journal/spool/spool.hpp"

namespace mallard::journal {

class recovered_tables {
 public:
  recovered_tables() = default;
  explicit recovered_tables(process_tables known, std::uint64_t last_time);

  // Takes in the modules that the journal does not have; `program` is the path of the main one.
  void take_modules(spool_header* spool, const std::string& program);

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
  std::uint32_t frame(std::uint32_t parent, std::uint64_t return_address, std::uint64_t stack_offset);
  std::uint32_t scope(std::uint32_t parent, std::string_view name);
  void append(const event& e);
  void snapshot(std::uint64_t, std::span<const std::uint64_t>) {}

 private:
  process_tables tables_;
  context_interner contexts_;
  std::unordered_map<std::uint64_t, std::uint32_t> threads_;  // the latest one of each system id
  std::unordered_map<std::string, std::uint32_t> names_;
  event_batch* batch_ = nullptr;
  std::uint64_t last_time_ = 0;
};

}  // namespace mallard::journal
