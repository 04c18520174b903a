#include "profile/census_pass.hpp"
#include "journal/open.hpp"

#include <utility>

namespace mallard::profile {
namespace {

std::vector<std::unique_ptr<census>> censuses_of(std::vector<census_plan> plans) {
  std::vector<std::unique_ptr<census>> made;
  made.reserve(plans.size());
  for (census_plan& plan : plans) made.push_back(std::make_unique<census>(std::move(plan)));
  return made;
}

std::uint64_t events_of(const std::vector<census_plan>& plans) {
  return plans.empty() ? 0 : plans.front().events;
}

}  // namespace

census_pass::census_pass(const std::filesystem::path& path, std::vector<census_plan> plans)
    : events_(events_of(plans)),
      censuses_(censuses_of(std::move(plans))),
      pass_(journal::open(path), watchers(), events_) {}

bool census_pass::advance() {
  if (pass_.advance()) return true;
  for (const std::unique_ptr<census>& one : censuses_) one->finish();
  complete_ = true;
  return false;
}

std::vector<watcher*> census_pass::watchers() const {
  std::vector<watcher*> found;
  found.reserve(censuses_.size());
  for (const std::unique_ptr<census>& one : censuses_) found.push_back(one.get());
  return found;
}

}  // namespace mallard::profile
