#include "profile/journal_pass.hpp"

#include <utility>

namespace mallard::profile {

journal_pass::journal_pass(std::unique_ptr<journal::event_source> source, std::vector<watcher*> watchers,
                           std::uint64_t events)
    : source_(std::move(source)), watchers_(std::move(watchers)), wanted_(events) {}

bool journal_pass::advance() {
  if (emitted_) return false;
  if (!read_) read_ = !read();
  if (!pairing_) {
    ns_per_tick_ = 1e9 / source_->about().ticks_per_second;
    pairing_.emplace(std::move(watchers_), *ns_per_tick_);
  }
  if (read_)
    emitted_ = !pairing_->finish(leaks_at_once);
  else
    pairing_->add(events_);
  return true;
}

journal::tick_scale journal_pass::clock() const {
  return journal::tick_scale(ns_per_tick_.value_or(1e9 / source_->about().ticks_per_second));
}

bool journal_pass::read() {
  const std::uint64_t done = pairing_ ? pairing_->counts().events : 0;
  if (done == wanted_) return false;
  if (source_->next(events_)) {
    if (events_.count() > wanted_ - done) events_.resize(wanted_ - done);
    return true;
  }
  if (wanted_ != all_events) throw journal::error("it changed while it was read");
  return false;
}

}  // namespace mallard::profile
