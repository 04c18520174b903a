// ring_reader: one ring of the spool, read record by record and in place.
//
// The ring lies in memory that the program can write to, wild pointers included, so nothing in it is
// trusted: a ring whose contents make no sense is left alone from then on. Copies nothing but the
// record at hand; gives room back to the program every eighth of the ring.
#pragma once

#include <cstdint>

#include "recorder/record.hpp"
#include "recorder/spool.hpp"

namespace mallard::recorder {

struct record {
  unsigned kind = 0;  // an event_kind, thread_begin or thread_end
  std::uint64_t time = 0;
  std::uint64_t address = 0;  // [number:32|system id:32] of a thread record
  std::uint64_t caller = 0;
  std::uint64_t size = 0;
  std::uint64_t alignment = 0;
  std::uint64_t old_address = 0;
};

class ring_reader {
 public:
  // `ring_words` is the launcher's own knowledge of the size, not what the shared header says by now.
  ring_reader(spool_header* spool, std::uint32_t index, std::uint64_t ring_words) noexcept;

  // Looks how far the program has written.
  void look() noexcept;

  [[nodiscard]] bool empty() const noexcept { return position_ == end_; }
  [[nodiscard]] bool damaged() const noexcept { return damaged_; }

  // Of the next record; precondition: not empty. Never falls from one record to the next.
  [[nodiscard]] std::uint64_t next_time() const noexcept { return time_; }

  // Takes the next record out; precondition: not empty.
  [[nodiscard]] record take() noexcept;

  // Gives the room of everything taken back to the program.
  void give_back() noexcept;

  // The thread whose records come next, by its index in the journal; kept here for the collector.
  std::uint32_t thread = 0;

  [[nodiscard]] std::uint64_t stalls() const noexcept { return header_->stalls; }
  [[nodiscard]] std::uint64_t stalled_ticks() const noexcept { return header_->stalled_ticks; }

 private:
  [[nodiscard]] std::uint64_t word(std::uint64_t position) const noexcept { return words_[position & mask_]; }
  void examine_next() noexcept;

  ring_header* header_;
  const std::uint64_t* words_;
  std::uint64_t mask_;
  std::uint64_t position_ = 0;  // of the next record
  std::uint64_t end_ = 0;       // read up to here
  std::uint64_t given_back_ = 0;
  std::uint64_t time_ = 0;
  std::uint64_t first_ = 0;  // first word of the next record, as it was checked
  bool damaged_ = false;
};

}  // namespace mallard::recorder
