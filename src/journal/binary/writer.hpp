// writer: makes a journal file, one complete chunk after the other.
//
//     journal::writer out("run.mallard");
//     out.describe(about);                                   // any number of times
//     auto thread = out.add_thread({.system_id = tid});
//     auto context = out.intern_context(outer, return_address);
//     out.append({.kind = event_kind::malloc, .thread = thread, .context = context, ...});
//     out.finish();
//
// Invariant: after each chunk the file is a valid journal, and everything that an event in it refers to
// comes before it; what is lost by a crash is at most the events since the last flush(). Without finish()
// the journal counts as cut off. append() is amortised O(1), a few ns, and writes a chunk at least every 32
// Ki events. Errors (a full disk, say) are thrown as journal::error with one line; then the file ends with
// the last complete chunk and the writer accepts nothing more. Not synchronised.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>

#include "journal/events/event_batch.hpp"
#include "journal/events/metadata.hpp"
#include "journal/events/process_tables.hpp"
#include "journal/events/table.hpp"

namespace mallard::journal {

class writer {
 public:
  explicit writer(const std::filesystem::path& path);
  ~writer();
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;

  // From now on each chunk is written between these two, either of which may be empty: `before` is
  // given the size that the file will have, `after` runs when it has it, and then all that events()
  // counts in between is in the file. The chunk goes there in one piece, so a file that is shorter
  // holds none of it. An append() can commit with or without its own event; a name, a thread, a
  // module or a child can commit as well. What describe() writes, and the end, is no chunk.
  void on_commit(std::function<void(std::uint64_t size_after)> before, std::function<void()> after);

  void describe(const metadata& about);

  // The index of the context with these three, the same for the same three. `parent` is 0 or an earlier
  // result; `generation` tells the modules apart that follow each other where the return address lies.
  [[nodiscard]] std::uint32_t intern_context(std::uint32_t parent, std::uint64_t return_address,
                                             std::uint32_t generation = 0);

  // The index of the context of the annotated scope `name` (an intern_name) inside `parent`.
  [[nodiscard]] std::uint32_t intern_scope(std::uint32_t parent, std::uint32_t name);

  // The index of `name`, the same for the same text; 0 is the empty name.
  [[nodiscard]] std::uint32_t intern_name(std::string_view name);

  // Notes the distance on the stack from this context's return address to its parent's, in bytes.
  void set_stack_offset(std::uint32_t context, std::uint64_t bytes);

  // The index of a new thread, dense from 0.
  [[nodiscard]] std::uint32_t add_thread(const thread_info& row);
  void update_thread(std::uint32_t index, const thread_info& row);

  // The index of a new module, dense from 0.
  [[nodiscard]] std::uint32_t add_module(const module_info& row);
  void update_module(std::uint32_t index, const module_info& row);

  void add_usage(const usage_sample& row);
  void add_child(const child_info& row);

  void append(const event& e);

  // Any other table, as a section of its own behind the events appended so far.
  void add_table(const table& extra);

  // Writes everything so far as complete chunks.
  void flush();

  // Flushes, writes the end of the journal and closes the file.
  void finish();

  [[nodiscard]] std::uint64_t events() const noexcept;         // appended so far
  [[nodiscard]] std::size_t pending_events() const noexcept;   // of these, not in the file yet
  [[nodiscard]] std::uint64_t bytes_written() const noexcept;  // in complete chunks so far

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace mallard::journal
