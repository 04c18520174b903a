// spool_description: what a spool says of its process and of the modules that it loaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "journal/events/metadata.hpp"
#include "journal/events/process_tables.hpp"
#include "journal/spool/spool.hpp"

namespace mallard::journal {

// Of a child it holds the folder, the program and the arguments too, in front of the names; those of the root
// are in the journal alone.
[[nodiscard]] metadata describe_process(spool_header* spool);

// The programs that ran unrecorded, as the root's spool lists them.
[[nodiscard]] std::vector<child_info> unrecorded_programs(spool_header* spool);

// Gives a listed module the path by which others find its file: that of the program, which has none of its
// own, and of a library that was found by a relative path one from the process's working directory.
void complete_path(module_info& module, const metadata& about);

// The entries of a spool's ring of modules, in the order in which the program wrote them.
//
//     tail .... [entry|path|build id|..][entry|path| .... head       bytes, around the end of the ring
//
// Nothing in it is trusted: an entry that does not fit into the ring, or into what was published, is damage.
class spool_modules {
 public:
  // Begins at `tail`.
  explicit spool_modules(spool_header* spool, std::uint64_t tail = 0) noexcept
      : spool_(spool), position_(tail), tail_(tail) {}

  // Reads the next entry; false if there is none. One with an `end` of 0 says that the module at `begin`
  // was unloaded at its load_time; one without a path is the program itself.
  [[nodiscard]] bool next(module_info& module);

  // Whether the program has written over it.
  [[nodiscard]] bool damaged() const noexcept { return damaged_; }

  // Bytes that were read, and the program cannot use yet.
  [[nodiscard]] std::uint64_t bytes_held() const noexcept { return position_ - tail_; }

  // Notes that what was read is about to be written; then, that it is.
  void announce() noexcept { announced_ = position_; }
  void give_back() noexcept;

 private:
  [[nodiscard]] std::string bytes_at(std::uint64_t at, std::size_t size) const;

  spool_header* spool_;
  std::uint64_t position_;
  std::uint64_t tail_;
  std::uint64_t announced_ = 0;
  bool damaged_ = false;
};

}  // namespace mallard::journal
