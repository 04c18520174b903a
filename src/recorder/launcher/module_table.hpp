// module_table: the program's modules over time, into the journal.
//
//     list in the spool: what is loaded, what is gone --+--> journal
//     the kernel's map, when a caller lies in none -----+
//
// Several modules can follow each other at one place. Each is a row, with the times at which it was first
// seen there and at which it was gone; one that follows another begins when that one was gone. A module found
// in the kernel's map was loaded at an unknown time.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "journal/binary/writer.hpp"
#include "journal/drain/spool_description.hpp"
#include "journal/events/metadata.hpp"
#include "journal/events/process_tables.hpp"

namespace mallard::recorder {

// The executable modules in the kernel's map of a running process, without times; empty if the process is
// gone. For what the program loads between its own lists, in case it is killed. Reads /proc and the head of
// each module's file.
[[nodiscard]] std::vector<journal::module_info> read_process_modules(pid_t process);

// Reads the module's bias, from the address that its file is linked for, and its build id. Leaves both as
// they are if the file is no ELF file of this machine's word size.
void read_module_file(journal::module_info& module);

class module_table {
 public:
  // Modules do not know all of their paths: `about` completes them. A process of 0 cannot be looked at.
  module_table(journal::spool_header* spool, journal::writer& out, pid_t process, journal::metadata about);

  // An address that a call came from at `time`, which the program has listed by then. Returns which of the
  // modules that follow each other at that place it was, 0 for the first.
  std::uint32_t add_caller(std::uint64_t address, std::uint64_t time);

  // Adds what the program has listed since the last call. If calls came from elsewhere, reads the process's
  // map, at most every tenth of a second: code made at run time lies in no module.
  void update(std::uint64_t now, double ticks_per_second);

  // Whether the program has written over its list.
  [[nodiscard]] bool damaged() const noexcept { return list_.damaged(); }

  // What the program has listed, for giving it back.
  [[nodiscard]] journal::spool_modules& list() noexcept { return list_; }

 private:
  struct place {
    std::uint32_t index;       // of the journal's row
    std::uint32_t generation;  // 0: nothing was there before; or that index
    journal::module_info module;

    [[nodiscard]] bool holds(std::uint64_t address) const noexcept {
      return module.begin <= address && address < module.end;
    }
  };

  void read_list();
  void add(journal::module_info module);
  void unload(std::uint64_t begin, std::uint64_t end, std::uint64_t time);
  [[nodiscard]] bool knows(std::uint64_t address) const;

  journal::spool_modules list_;
  journal::writer* out_;
  pid_t process_;
  journal::metadata about_;
  std::vector<place> places_;             // that do not overlap
  std::vector<place> former_;             // which others have taken, in that order
  std::vector<std::uint64_t> strangers_;  // callers that lie in no known module
  std::uint64_t next_look_ = 0;           // ticks since recording began
};

}  // namespace mallard::recorder
