// spool_copy: what a spool says at one moment, in memory of our own.
//
//     headers, modules, names, contexts so far, each ring's [tail, head)     and how much of the journal
//                                                                            holds what lies before tail
//
// The program and the launcher may go on while the spool is read, so the copy is made anew until the
// launcher has given nothing back meanwhile; then nothing in it was written over. What it says is trusted
// no more than any other input: the tails are the right ones to go on from if the launcher kept the
// invariants of spool.hpp, and its readers check the rest. Opens the file for reading and changes
// nothing. Memory: what is really in the file, pages of zeros not counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "journal/spool/spool.hpp"

namespace mallard::journal {

class spool_copy {
 public:
  // Copies the spool at `path` of the journal at `journal`, which need not exist. Throws journal::error.
  spool_copy(const std::filesystem::path& path, const std::filesystem::path& journal);
  ~spool_copy();
  spool_copy(spool_copy&& from) noexcept;
  spool_copy& operator=(spool_copy&&) = delete;

  // Whether the file at `path` begins as a spool does, of this version or another one.
  [[nodiscard]] static bool is_spool(const std::filesystem::path& path) noexcept;

  [[nodiscard]] spool_header* header() const noexcept { return header_; }
  [[nodiscard]] const spool_options& options() const noexcept { return options_; }

  // How many of the journal's first bytes hold what lies before the rings' tails.
  [[nodiscard]] std::uint64_t journal_bytes() const noexcept { return journal_bytes_; }

  // Whether the launcher lived, or the program did and was still recording.
  [[nodiscard]] bool in_progress() const noexcept { return in_progress_; }

 private:
  class file;

  void copy(const file& from, const std::filesystem::path& journal);
  void reserve(const spool_header& claimed, std::uint64_t file_size);
  void choose_tails(std::uint64_t journal_size) noexcept;
  void copy_contents(const file& from) noexcept;
  [[nodiscard]] bool is_still_so(const file& from) const;
  [[nodiscard]] bool is_going_on(const file& from) const;
  void release() noexcept;

  spool_header* header_ = nullptr;
  std::size_t bytes_ = 0;
  spool_options options_;
  std::uint32_t rings_ = 0;
  std::uint64_t journal_bytes_ = 0;
  bool by_next_tails_ = false;
  bool in_progress_ = false;
};

}  // namespace mallard::journal
