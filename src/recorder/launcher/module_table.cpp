#include "recorder/launcher/module_table.hpp"

#include <algorithm>

#include "recorder/launcher/process_modules.hpp"

namespace mallard::recorder {

module_table::module_table(journal::spool_header* spool, journal::writer& out, pid_t process,
                           std::string program)
    : list_(spool), out_(&out), process_(process), program_(std::move(program)) {}

bool module_table::knows(std::uint64_t address) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [=](const auto& range) { return range.first <= address && address < range.second; });
}

void module_table::note_caller(std::uint64_t address) { stranger_ = stranger_ || !knows(address); }

void module_table::update(std::uint64_t now, double ticks_per_second) {
  read_list();
  if (!stranger_ || now < next_look_) return;
  stranger_ = false;
  next_look_ = now + static_cast<std::uint64_t>(ticks_per_second / 10);
  for (journal::module_info& module : read_process_modules(process_)) add(std::move(module));
}

void module_table::read_list() {
  journal::module_info module;
  while (list_.next(module)) {
    if (module.path.empty()) module.path = program_;
    add(std::move(module));
  }
}

void module_table::add(journal::module_info module) {
  if (!known_.emplace(module.begin, module.build_id.empty() ? module.path : module.build_id).second) return;
  ranges_.emplace_back(module.begin, module.end);
  static_cast<void>(out_->add_module(module));
}

}  // namespace mallard::recorder
