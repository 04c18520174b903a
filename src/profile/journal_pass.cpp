#include "profile/journal_pass.hpp"

#include <utility>

namespace mallard::profile {

journal_pass::journal_pass(std::unique_ptr<journal::event_source> source, std::vector<watcher*> watchers)
    : source_(std::move(source)), watchers_(std::move(watchers)) {}

bool journal_pass::advance() {
  if (told_) return false;
  if (!read_) read_ = !source_->next(events_);
  if (!pairing_) pairing_.emplace(std::move(watchers_), 1e9 / source_->about().ticks_per_second);
  if (read_)
    told_ = !pairing_->finish(survivors_at_once);
  else
    pairing_->add(events_);
  return true;
}

}  // namespace mallard::profile
