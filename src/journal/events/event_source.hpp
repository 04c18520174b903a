// event_source: a journal in any of its forms, read front to back.
//
//     auto source = journal::open("run.mallard");          // journal/open.hpp
//     event_batch batch;
//     while (source->next(batch)) { ... }
//
// Errors that leave nothing to read throw journal::error with one line for the user. A journal cut
// off in its middle is read up to the cut and then says so in warnings().
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "journal/bytes/wire.hpp"
#include "journal/events/event_batch.hpp"
#include "journal/events/metadata.hpp"
#include "journal/events/process_tables.hpp"
#include "journal/events/table.hpp"

namespace mallard::journal {

class event_source {
 public:
  virtual ~event_source() = default;

  // Replaces the contents of `batch` by the next events, in order; false at the end.
  virtual bool next(event_batch& batch) = 0;

  // What the events delivered so far refer to: contexts, threads, modules ...
  [[nodiscard]] virtual const process_tables& tables() const = 0;

  // What is known of the recorded process; complete only after next() has returned false.
  [[nodiscard]] virtual const metadata& about() const = 0;

  // Lines worth telling the user once, such as a missing end; complete after next() has returned false.
  [[nodiscard]] virtual const std::vector<std::string>& warnings() const = 0;

  // Whether the journal has its end, nothing in it is damaged, and it lacks nothing of the run; known after
  // next() has returned false.
  [[nodiscard]] virtual bool complete() const = 0;

  // Of the events delivered so far, how many were not in the journal's file but still in its spool.
  [[nodiscard]] virtual std::uint64_t recovered() const { return 0; }

  // The share of the journal that has been read, 0..1: of its file's bytes, ahead of the events by a few
  // blocks.
  [[nodiscard]] virtual double progress() const = 0;

  // Has `receive` called with each table of a type that tables does not hold, in the order of the
  // file, while next() runs. Other such tables are skipped. Forms without tables ignore it.
  using table_receiver = std::function<void(const table&)>;
  virtual void watch(section_type type, table_receiver receive) = 0;
};

}  // namespace mallard::journal
