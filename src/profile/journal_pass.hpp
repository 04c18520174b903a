// journal_pass: a journal read through pairing, a piece at a time.
//
//     journal_pass pass(journal::open(path), {&watcher, ...});
//     while (pass.advance()) { ... }             // room for a progress bar, or for stopping
//
// A piece is a batch of events or, at the end, a number of objects that live on: some ms of work.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "journal/event_source.hpp"
#include "profile/pairing.hpp"

namespace mallard::profile {

class journal_pass {
 public:
  static constexpr std::size_t survivors_at_once = std::size_t{1} << 18;

  // `watchers` outlive the pass.
  journal_pass(std::unique_ptr<journal::event_source> source, std::vector<watcher*> watchers);

  // Reads on; false when there was nothing left. Throws journal::error.
  bool advance();

  [[nodiscard]] const journal::event_source& source() const noexcept { return *source_; }

  // What has been paired; from the first advance() on.
  [[nodiscard]] const pairing& objects() const { return *pairing_; }

 private:
  std::unique_ptr<journal::event_source> source_;
  std::vector<watcher*> watchers_;
  std::optional<pairing> pairing_;  // once the clock is known
  journal::event_batch events_;
  bool read_ = false;  // all events
  bool told_ = false;  // of all objects
};

}  // namespace mallard::profile
