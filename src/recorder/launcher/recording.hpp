// recording: the reading end of the spool and the writing end of the journal, for one process.
//
//     rings --> reader -----+--> journal
//     module list ----------+
//
// However the process ends, what it has published is still in the rings: finish() reads it, then describes
// the run and completes the journal. If a program has written over its spool, the spool is read no further
// and the launcher tells the program not to wait for that. Each step, and each chunk of a long one, advances
// the heartbeat by which programs see that the launcher is alive. Throws journal::error when the journal
// cannot be written.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "journal/binary/writer.hpp"
#include "journal/drain/spool_reader.hpp"
#include "journal/events/metadata.hpp"
#include "journal/events/table.hpp"
#include "journal/spool/ring_record.hpp"
#include "recorder/clock.hpp"
#include "recorder/launcher/child.hpp"
#include "recorder/launcher/module_table.hpp"
#include "recorder/launcher/spool_file.hpp"

namespace mallard::recorder {

// snapshot_table: the registers and stack words behind some events, as sections of the journal.
//
//     events, as they come   a b a a c b a ...       context a has the same words again and again,
//     rows of a section      a a a a b b c ...       which a column then need not repeat
//
// Rows are gathered some thousand to a section, which is written behind the events that it is about.
// FORMAT.md, `wtns`, has the columns. Sorting by context takes a quarter to a half off their size:
// 6 to 40 bytes a snapshot remain.
class snapshot_table {
 public:
  explicit snapshot_table(journal::writer& out) : out_(&out) {
    table_.type = journal::sections::snapshots;
    for (std::uint16_t id = 1; id <= journal::snapshot_words; ++id) table_.columns.push_back({.id = id});
  }

  // `words` are those of a snapshot record: the registers, then the words of the stack.
  void add(std::uint64_t event, std::uint32_t context, std::span<const std::uint64_t> words) {
    row& next = rows_.emplace_back();
    next.context = context;
    next.words[0] = event;
    std::copy(words.begin(), words.end(), next.words.begin() + 1);
    if (rows_.size() == rows_at_once) flush();
  }

  // Writes what was gathered, if anything.
  void flush();

 private:
  static constexpr std::size_t rows_at_once = 8192;

  struct row {
    std::uint32_t context;
    std::array<std::uint64_t, journal::snapshot_words> words;  // the event, then those of the snapshot
  };

  journal::writer* out_;
  std::vector<row> rows_;
  journal::table table_;
};

class recording {
 public:
  // Makes the journal at `path`; `about` says what is known of the process so far. `clock` and `heartbeat`
  // outlive this.
  recording(const std::string& path, std::unique_ptr<spool_file> spool, journal::metadata about,
            const clock_rate& clock, std::atomic<std::uint32_t>& heartbeat, unsigned usage_interval_ms);

  // One round of reading; returns the number of records taken.
  std::uint64_t read();

  // Reads what the program has left behind, and completes the journal. `end` is empty for children, since
  // only their parents know how they ended.
  void finish(const std::optional<ending>& end);

  // Writes what there is so far. The program goes on and records into what room is left.
  void leave();

  void add_child(const journal::child_info& row) { out_.add_child(row); }

  // From ticks of the clock to those since recording began.
  [[nodiscard]] std::uint64_t time_of(std::uint64_t ticks) const noexcept {
    return ticks > start_ticks_ ? ticks - start_ticks_ : 0;
  }

  // The process was another program before, which took `cpu_ns`. Stored in the spool, for a recovery.
  void succeed(std::uint64_t cpu_ns) noexcept { spool_->header()->cpu_before_ns = cpu_before_ = cpu_ns; }

  [[nodiscard]] spool_file& spool() noexcept { return *spool_; }
  [[nodiscard]] const spool_file& spool() const noexcept { return *spool_; }
  [[nodiscard]] const journal::spool_header& state() const noexcept { return *spool_->header(); }
  [[nodiscard]] pid_t process() const noexcept { return process_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t events() const noexcept { return out_.events(); }
  [[nodiscard]] std::uint64_t events_in_file() const noexcept {
    return out_.events() - out_.pending_events();
  }

  // Whether nothing of its process is left, as far as the launcher can see it.
  [[nodiscard]] bool is_gone() const noexcept;

  // What the journal lacks of the run, known once it is finished; empty: nothing.
  [[nodiscard]] const std::string& shortfall() const noexcept { return shortfall_; }

  // Which part of the program the recorder cannot see, as far as is known; empty: none.
  [[nodiscard]] std::string unseen() const;
  [[nodiscard]] bool damaged() const noexcept { return rings_.damaged() || modules_.damaged(); }

 private:
  // Puts what the spool's reader finds into the journal.
  struct receiver {
    journal::writer* out;
    module_table* modules;
    snapshot_table* snapshots;

    std::uint32_t add_thread(const journal::thread_info& row) { return out->add_thread(row); }
    void update_thread(std::uint32_t index, const journal::thread_info& row) {
      out->update_thread(index, row);
    }
    std::uint32_t frame(std::uint32_t parent, std::uint64_t return_address, std::uint64_t stack_offset,
                        std::uint64_t time);
    std::uint32_t scope(std::uint32_t parent, std::string_view name) {
      return out->intern_scope(parent, out->intern_name(name));
    }
    void append(const journal::event& e) { out->append(e); }
    void snapshot(std::uint64_t event, std::uint32_t context, std::span<const std::uint64_t> words) {
      snapshots->add(event, context, words);
    }
  };

  void commit();
  void announce(std::uint64_t size_after);
  void give_back();
  void beat() noexcept { heartbeat_->fetch_add(1); }
  void take_sample(std::uint64_t now);

  // The account so far, which never falls below the previous one.
  [[nodiscard]] journal::usage_sample usage_at(std::uint64_t now, std::uint64_t cpu_ns) noexcept;
  [[nodiscard]] std::uint64_t sum(std::uint64_t (journal::ring_reader::*account)()
                                      const noexcept) const noexcept;

  // CPU time of the process as this program, as far as it is known; once it has ended, what is in the spool.
  [[nodiscard]] std::uint64_t cpu_ns() const noexcept;
  [[nodiscard]] std::uint64_t now() const noexcept;

  pid_t process_;
  bool is_visible_;  // its process id means the same to the launcher
  const clock_rate* rate_;
  std::atomic<std::uint32_t>* heartbeat_;
  std::string path_;
  std::unique_ptr<spool_file> spool_;
  std::uint64_t start_ticks_;
  std::uint64_t cpu_before_ = 0;
  std::uint64_t cpu_seen_ = 0;  // of the process, all its programs
  journal::metadata about_;
  journal::writer out_;
  module_table modules_;
  snapshot_table snapshots_;
  receiver receiver_;
  journal::spool_reader<receiver> rings_;
  unsigned usage_interval_ms_;
  std::string shortfall_;
  journal::usage_sample usage_{};  // of the latest account
  std::uint64_t sampled_ = 0;      // when, in ticks since recording began
  std::uint64_t sampled_events_ = 0;
};

}  // namespace mallard::recorder
