#include "recorder/launcher/module_table.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "recorder/build_id.hpp"
#include "recorder/launcher/hexadecimal.hpp"
#include "recorder/launcher/process_modules.hpp"

namespace mallard::recorder {

module_table::module_table(journal::spool_header* spool, journal::writer& out, pid_t process,
                           std::string program)
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

// Copies out of the ring of modules at a position, around its end.
std::string module_table::listed(std::uint64_t at, std::size_t size) const {
  const char* ring = journal::modules_of(spool_);
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = ring[(at + i) % journal::module_ring_bytes];
  return bytes;
}

void module_table::read_list() {
  const std::uint64_t head = spool_->modules_head.load(std::memory_order_acquire);
  journal::module_entry entry;
  while (head - read_ >= sizeof entry && head - given_back_ <= journal::module_ring_bytes) {
    std::memcpy(&entry, listed(read_, sizeof entry).data(), sizeof entry);
    const std::uint64_t whole = sizeof entry + std::uint64_t{entry.path_bytes} + entry.build_id_bytes;
    if (whole > head - read_) {
      read_ = head;  // the program wrote over it
      break;
    }
    const std::string texts = listed(read_ + sizeof entry, whole - sizeof entry);
    read_ += round_up(whole, alignof(journal::module_entry));
    add({.begin = entry.begin,
         .end = entry.end,
         .bias = entry.bias,
         .load_time = entry.time,
         .unload_time = 0,
         .path = entry.path_bytes == 0 ? program_ : texts.substr(0, entry.path_bytes),
         .build_id = hexadecimal({texts.data() + entry.path_bytes, entry.build_id_bytes})});
  }
}

void module_table::give_back() noexcept {
  given_back_ = announced_;
  spool_->modules_tail.store(given_back_, std::memory_order_release);
}

void module_table::add(journal::module_info module) {
  if (!known_.emplace(module.begin, module.build_id.empty() ? module.path : module.build_id).second) return;
  ranges_.emplace_back(module.begin, module.end);
  static_cast<void>(out_->add_module(module));
}

}  // namespace mallard::recorder
