#include "journal/drain/spool_description.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>

namespace mallard::journal {
namespace {

// Takes the text before the next zero off the front.
std::string take_text(std::string_view& texts) {
  const std::size_t size = std::min(texts.find('\0'), texts.size());
  std::string text(texts.substr(0, size));
  texts.remove_prefix(std::min(size + 1, texts.size()));
  return text;
}

}  // namespace

metadata describe_process(spool_header* spool) {
  metadata about;
  constexpr std::size_t most = name_bytes - sizeof(name_length);
  std::string_view texts(names_of(spool) + sizeof(name_length),
                         std::min<std::size_t>(spool->described, most));
  about.directory = take_text(texts);
  about.program = take_text(texts);
  while (!texts.empty()) about.arguments.push_back(take_text(texts));
  about.process = spool->attached;
  about.parent_process = spool->parent_process;
  about.start_unix_ns = spool->start_unix_ns;
  return about;
}

std::vector<child_info> unrecorded_programs(spool_header* spool) {
  std::vector<child_info> programs;
  for (const unrecorded_entry& entry : std::span(unrecorded_of(spool), max_unrecorded)) {
    if (entry.key == 0 || entry.processes == 0) continue;
    programs.push_back({.time = entry.ticks > spool->start_ticks ? entry.ticks - spool->start_ticks : 0,
                        .program = std::string(entry.program, strnlen(entry.program, sizeof entry.program)),
                        .reason = std::string(entry.reason, strnlen(entry.reason, sizeof entry.reason)),
                        .processes = entry.processes});
  }
  return programs;
}

// What has no slash is no file: the kernel's own module.
void complete_path(module_info& module, const metadata& about) {
  if (module.path.empty()) module.path = about.program;
  if (module.path.find('/') != std::string::npos && !about.directory.empty())
    module.path = (std::filesystem::path(about.directory) / module.path).string();
}

// Copies out of the ring, around its end.
std::string spool_modules::bytes_at(std::uint64_t at, std::size_t size) const {
  const char* ring = modules_of(spool_);
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = ring[(at + i) % module_ring_bytes];
  return bytes;
}

bool spool_modules::next(module_info& module) {
  const std::uint64_t head = spool_->modules_head.load(std::memory_order_acquire);
  const std::uint64_t published = head - position_;
  module_entry entry;
  damaged_ = damaged_ || head - tail_ > module_ring_bytes || published > module_ring_bytes;
  if (damaged_ || published < sizeof entry) return false;
  std::memcpy(&entry, bytes_at(position_, sizeof entry).data(), sizeof entry);
  const std::uint64_t whole = sizeof entry + std::uint64_t{entry.path_bytes} + entry.build_id_bytes;
  if (whole > published) {
    damaged_ = true;
    return false;
  }
  const std::string texts = bytes_at(position_ + sizeof entry, whole - sizeof entry);
  constexpr std::uint64_t align = alignof(module_entry);
  position_ += (whole + align - 1) / align * align;
  module = {.begin = entry.begin,
            .end = entry.end,
            .bias = entry.bias,
            .load_time = entry.time,
            .unload_time = 0,
            .path = texts.substr(0, entry.path_bytes),
            .build_id = hexadecimal({texts.data() + entry.path_bytes, entry.build_id_bytes})};
  return true;
}

void spool_modules::give_back() noexcept {
  tail_ = announced_;
  spool_->modules_tail.store(tail_, std::memory_order_release);
}

}  // namespace mallard::journal
