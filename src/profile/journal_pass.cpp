#include "profile/journal_pass.hpp"

#include <utility>

#include "journal/open.hpp"

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

namespace {

std::vector<std::unique_ptr<group_statistics>> statistics_of(std::vector<statistics_plan> plans) {
  std::vector<std::unique_ptr<group_statistics>> made;
  made.reserve(plans.size());
  for (statistics_plan& plan : plans) made.push_back(std::make_unique<group_statistics>(std::move(plan)));
  return made;
}

std::uint64_t events_of(const std::vector<statistics_plan>& plans) {
  return plans.empty() ? 0 : plans.front().events;
}

}  // namespace

statistics_pass::statistics_pass(const std::filesystem::path& path, std::vector<statistics_plan> plans)
    : events_(events_of(plans)),
      statistics_(statistics_of(std::move(plans))),
      pass_(journal::open(path), watchers(), events_) {}

bool statistics_pass::advance() {
  if (pass_.advance()) return true;
  for (const std::unique_ptr<group_statistics>& one : statistics_) one->finish();
  complete_ = true;
  return false;
}

std::vector<watcher*> statistics_pass::watchers() const {
  std::vector<watcher*> found;
  found.reserve(statistics_.size());
  for (const std::unique_ptr<group_statistics>& one : statistics_) found.push_back(one.get());
  return found;
}

}  // namespace mallard::profile
