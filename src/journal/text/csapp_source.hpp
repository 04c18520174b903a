// csapp_source: the traces of the malloc lab of CS:APP (.rep), which many courses and heaps are tested with.
//
//     20000           suggested heap size  \  the header; where the fourth number is missing, it is the last.
//     3               ids                   > Only the operations are compared with what follows; later
//     8               operations           /  editions have the weight first and the most live bytes last
//     1               weight
//     a 0 512         allocate block 0
//     r 0 640         reallocate it; of an id that names nothing: allocate
//     f 0             free it; f -1 frees null
//
// Ids need not be dense. Blank lines, lines that begin with #, spaces around and Windows' line ends are
// passed over; any other line is an error that names its number. A trace has neither addresses, nor times,
// nor threads; about().facts say so, and these are made up instead:
// - Addresses: each block lies right behind the one before, in units of 16 bytes, and no address comes
//   back. A reallocation stays where the block is if its units are enough, and else moves.
// - Times: operation n, counted from 0, is at n microseconds.
// - An allocation that takes the id of a live block leaves that block alive forever, as the lab's driver
// does.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "journal/events/event_source.hpp"
#include "journal/text/line_reader.hpp"

namespace mallard::journal {

// Whether a file that begins with `head` is such a trace: three or four numbers, one a line, and an
// operation.
[[nodiscard]] bool looks_like_csapp(std::string_view head);

class csapp_source final : public event_source {
 public:
  explicit csapp_source(input from);

  bool next(event_batch& batch) override;
  [[nodiscard]] const process_tables& tables() const override { return tables_; }
  [[nodiscard]] const metadata& about() const override { return about_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const override { return warnings_; }
  [[nodiscard]] bool complete() const override { return finished_ && whole_; }
  [[nodiscard]] double progress() const override { return lines_.progress(); }
  void watch(section_type, table_receiver) override {}

 private:
  struct block {
    std::uint64_t address = 0;
    std::uint64_t room = 0;  // bytes
  };

  void read_header();
  void take(std::string_view line, event_batch& batch);
  void allocate(std::uint64_t id, std::uint64_t size, event_batch& batch);
  void reallocate(std::uint64_t id, std::uint64_t size, event_batch& batch);
  void deallocate(std::uint64_t id, event_batch& batch);
  void deliver(event_kind kind, std::uint64_t address, std::uint64_t size, std::uint64_t old_address,
               event_batch& batch) const;
  [[nodiscard]] block place(std::uint64_t size);
  void finish();

  line_reader lines_;
  std::vector<std::uint64_t> header_;  // empty until it is read
  std::string first_operation_;        // the line behind the header
  std::uint64_t operations_ = 0;
  std::uint64_t delivered_ = 0;  // events
  std::uint64_t next_address_;
  std::unordered_map<std::uint64_t, block> blocks_;  // alive, by id
  std::uint64_t null_frees_ = 0;
  std::uint64_t unknown_frees_ = 0;  // of ids that name no block
  std::uint64_t taken_ids_ = 0;      // allocations that took the id of a live block
  bool finished_ = false;
  bool whole_ = true;
  process_tables tables_;
  metadata about_;
  std::vector<std::string> warnings_;
};

}  // namespace mallard::journal
