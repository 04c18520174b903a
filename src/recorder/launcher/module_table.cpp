#include "recorder/launcher/module_table.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "recorder/build_id.hpp"
#include "recorder/launcher/hexadecimal.hpp"
#include "recorder/launcher/process_modules.hpp"

namespace mallard::recorder {

module_table::module_table(spool_header* spool, journal::writer& out, pid_t process, std::string program)
    : spool_(spool), out_(&out), process_(process), program_(std::move(program)) {}

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
  const std::size_t listed =
      std::min<std::size_t>(spool_->module_bytes.load(std::memory_order_acquire), module_list_bytes);
  const char* list = module_list_of(spool_);
  module_entry entry;
  while (read_ < listed && listed - read_ >= sizeof entry) {
    std::memcpy(&entry, list + read_, sizeof entry);
    const std::size_t whole = sizeof entry + entry.path_bytes + entry.build_id_bytes;
    if (whole > listed - read_) {
      read_ = listed;  // the program wrote over it
      return;
    }
    const char* path = list + read_ + sizeof entry;
    read_ = std::min(read_ + round_up(whole, alignof(module_entry)), listed);
    add({.begin = entry.begin,
         .end = entry.end,
         .bias = entry.bias,
         .load_time = 0,
         .unload_time = 0,
         .path = entry.path_bytes == 0 ? program_ : std::string(path, entry.path_bytes),
         .build_id = hexadecimal({path + entry.path_bytes, entry.build_id_bytes})});
  }
}

void module_table::add(journal::module_info module) {
  if (!known_.emplace(module.begin, module.build_id.empty() ? module.path : module.build_id).second) return;
  ranges_.emplace_back(module.begin, module.end);
  static_cast<void>(out_->add_module(module));
}

}  // namespace mallard::recorder
