#include "recorder/launcher/module_table.hpp"

#include <algorithm>

#include "recorder/launcher/process_modules.hpp"

namespace mallard::recorder {

namespace {

bool overlap(const journal::module_info& a, const journal::module_info& b) noexcept {
  return a.begin < b.end && b.begin < a.end;
}

}  // namespace

module_table::module_table(journal::spool_header* spool, journal::writer& out, pid_t process,
                           std::string program)
    : list_(spool), out_(&out), process_(process), program_(std::move(program)) {}

bool module_table::knows(std::uint64_t address) const {
  return std::any_of(places_.begin(), places_.end(), [=](const place& one) {
    return one.module.begin <= address && address < one.module.end;
  });
}

void module_table::add_caller(std::uint64_t address) {
  if (!knows(address)) strangers_.push_back(address);
}

void module_table::update(std::uint64_t now, double ticks_per_second) {
  read_list();
  std::erase_if(strangers_, [this](std::uint64_t address) { return knows(address); });
  if (strangers_.empty() || now < next_look_) return;
  strangers_.clear();
  next_look_ = now + static_cast<std::uint64_t>(ticks_per_second / 10);
  for (journal::module_info& module : read_process_modules(process_)) {
    const bool is_listed = std::any_of(places_.begin(), places_.end(), [&](const place& one) {
      return one.module.unload_time == 0 && overlap(one.module, module);
    });
    if (!is_listed) add(std::move(module));
  }
}

void module_table::read_list() {
  journal::module_info module;
  while (list_.next(module)) {
    if (module.path.empty()) module.path = program_;
    if (module.end == 0)
      unload(module.begin, module.begin + 1, module.load_time);
    else
      add(std::move(module));
  }
}

// Ends the rows of what cannot be there any more. A module that the program did not see unloaded was gone
// when the next one came.
void module_table::unload(std::uint64_t begin, std::uint64_t end, std::uint64_t time) {
  for (place& one : places_) {
    if (one.module.unload_time != 0 || one.module.begin >= end || one.module.end <= begin) continue;
    one.module.unload_time = time;
    out_->update_module(one.index, one.module);
  }
}

// Calls that came from a module before it was first seen still came after its predecessor was gone.
void module_table::add(journal::module_info module) {
  const auto overlaps = [&](const place& one) { return overlap(one.module, module); };
  const auto is_same = [&](const place& one) {
    return one.module.unload_time == 0 && one.module.begin == module.begin &&
           one.module.path == module.path && one.module.build_id == module.build_id;
  };
  if (std::any_of(places_.begin(), places_.end(), is_same)) return;
  unload(module.begin, module.end, std::max<std::uint64_t>(module.load_time, 1));
  std::uint64_t vacant_since = 0;
  for (const place& one : places_)
    if (overlaps(one)) vacant_since = std::max(vacant_since, one.module.unload_time);
  if (vacant_since != 0) module.load_time = vacant_since;
  std::erase_if(places_, overlaps);
  const std::uint32_t index = out_->add_module(module);
  places_.push_back({index, std::move(module)});
}

}  // namespace mallard::recorder
