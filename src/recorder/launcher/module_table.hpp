// module_table: the program's modules, into the journal, each once.
//
//     list in the spool (at the beginning, at exit) --+--> journal
//     the kernel's map, when a caller lies in none ---+
//
// A module that the program lists while it runs is seen when the first call comes from it, or when it is
// gone; one that the kernel's map tells of was loaded at an unknown time.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "journal/spool/spool.hpp"
#include "journal/writer.hpp"

namespace mallard::recorder {

class module_table {
 public:
  // `program` is the path of the main module, which does not know its own.
  module_table(journal::spool_header* spool, journal::writer& out, pid_t process, std::string program);

  // Notes an address that calls came from.
  void note_caller(std::uint64_t address);

  // Adds what the program has listed since the last time, and looks at the process if calls came from
  // elsewhere, at most every tenth of a second: code made at run time lies in no module.
  void update(std::uint64_t now, double ticks_per_second);

  // Notes that what was read of the list is about to be written; then, that it is.
  void announce() noexcept { announced_ = read_; }
  void give_back() noexcept;

  // Whether the program could be short of room in the list.
  [[nodiscard]] bool holds_much() const noexcept {
    return read_ - given_back_ > journal::module_ring_bytes / 2;
  }

 private:
  void read_list();
  [[nodiscard]] std::string listed(std::uint64_t at, std::size_t size) const;
  void add(journal::module_info module);
  [[nodiscard]] bool knows(std::uint64_t address) const;

  journal::spool_header* spool_;
  journal::writer* out_;
  pid_t process_;
  std::string program_;
  std::uint64_t read_ = 0;  // bytes of the list
  std::uint64_t announced_ = 0;
  std::uint64_t given_back_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_;  // [begin, end) of each module
  std::set<std::pair<std::uint64_t, std::string>> known_;        // begin and build id, or path without one
  bool stranger_ = false;                                        // a caller lies in no known module
  std::uint64_t next_look_ = 0;                                  // ticks since recording began
};

}  // namespace mallard::recorder
