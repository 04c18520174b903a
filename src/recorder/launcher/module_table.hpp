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

#include "journal/spool_modules.hpp"
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

  // What the program has listed, for giving it back.
  [[nodiscard]] journal::spool_modules& list() noexcept { return list_; }

 private:
  void read_list();
  void add(journal::module_info module);
  [[nodiscard]] bool knows(std::uint64_t address) const;

  journal::spool_modules list_;
  journal::writer* out_;
  pid_t process_;
  std::string program_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_;  // [begin, end) of each module
  std::set<std::pair<std::uint64_t, std::string>> known_;        // begin and build id, or path without one
  bool stranger_ = false;                                        // a caller lies in no known module
  std::uint64_t next_look_ = 0;                                  // ticks since recording began
};

}  // namespace mallard::recorder
