// recording: the reading end of the spool and the writing end of the journal, for one process.
//
//     rings --> reader -----+--> journal
//     module list ----------+
//
// Whatever ends the process, what it has published is still in the rings: finish() reads it, then
// describes the run and completes the journal. Throws journal::error when the journal cannot be written.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "journal/metadata.hpp"
#include "journal/spool_reader.hpp"
#include "journal/writer.hpp"
#include "recorder/launcher/child.hpp"
#include "recorder/launcher/clock_rate.hpp"
#include "recorder/launcher/module_table.hpp"
#include "recorder/launcher/options.hpp"
#include "recorder/launcher/program_file.hpp"
#include "recorder/launcher/spool_file.hpp"

namespace mallard::recorder {

// Where the journal of `process` goes, and its spool.
[[nodiscard]] std::string journal_path(const options& chosen, pid_t process);
[[nodiscard]] std::string spool_path(const options& chosen, pid_t process);

class recording {
 public:
  recording(const options& chosen, const program_file& program, pid_t process);

  // One round of reading; returns the number of records taken.
  std::uint64_t read();

  // Reads what the ended program has left, and completes the journal.
  void finish(const ending& end);

  [[nodiscard]] spool_file& spool() noexcept { return spool_; }
  [[nodiscard]] const spool_header& state() const noexcept { return *spool_.header(); }
  [[nodiscard]] std::uint64_t events() const noexcept { return out_.events(); }
  [[nodiscard]] bool damaged() const noexcept { return rings_.damaged(); }

 private:
  // Puts what the spool's reader finds into the journal.
  struct receiver {
    journal::writer* out;
    module_table* modules;

    std::uint32_t add_thread(const journal::thread_info& row) { return out->add_thread(row); }
    void update_thread(std::uint32_t index, const journal::thread_info& row) {
      out->update_thread(index, row);
    }
    std::uint32_t frame(std::uint32_t parent, std::uint64_t return_address, std::uint64_t stack_offset);
    std::uint32_t scope(std::uint32_t parent, std::string_view name) {
      return out->intern_scope(parent, out->intern_name(name));
    }
    void append(const journal::event& e) { out->append(e); }
    void witness(std::span<const std::uint64_t>) {}
  };

  void commit();
  void announce(std::uint64_t size_after);
  void give_back();
  void take_sample(std::uint64_t now);
  [[nodiscard]] journal::usage_sample usage_at(std::uint64_t now, std::uint64_t cpu_ns) const noexcept;
  [[nodiscard]] std::uint64_t sum(std::uint64_t (journal::ring_reader::*account)()
                                      const noexcept) const noexcept;

  pid_t process_;
  clock_rate rate_;
  spool_file spool_;
  journal::metadata about_;
  journal::writer out_;
  module_table modules_;
  receiver receiver_;
  journal::spool_reader<receiver> rings_;
  std::uint64_t sampled_ = 0;  // when, in ticks since recording began
  std::uint64_t sampled_events_ = 0;
};

}  // namespace mallard::recorder
