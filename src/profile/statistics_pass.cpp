#include "profile/statistics_pass.hpp"
#include "journal/open.hpp"

#include <utility>

namespace mallard::profile {
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
