#include "recorder/launcher/module_table.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace mallard::recorder {
namespace {

std::string hexadecimal(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += digits[static_cast<unsigned char>(c) >> 4];
    text += digits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

}  // namespace

module_table::module_table(spool_header* spool, journal::writer& out, std::string program)
    : spool_(spool), out_(&out), program_(std::move(program)) {}

void module_table::update() {
  const std::size_t listed =
      std::min<std::size_t>(spool_->module_bytes.load(std::memory_order_acquire), module_list_bytes);
  const char* list = module_list_of(spool_);
  module_entry entry;
  while (listed - read_ >= sizeof entry) {
    std::memcpy(&entry, list + read_, sizeof entry);
    const std::size_t texts = std::size_t{entry.path_bytes} + entry.build_id_bytes;
    if (texts > listed - read_ - sizeof entry) {
      read_ = listed;  // the program wrote over it
      return;
    }
    const char* path_at = list + read_ + sizeof entry;
    std::string path(path_at, entry.path_bytes);
    const std::string_view build_id(path_at + entry.path_bytes, entry.build_id_bytes);
    constexpr std::size_t align = alignof(module_entry);
    read_ += std::min((sizeof entry + texts + align - 1) / align * align, listed - read_);
    if (path.empty()) path = program_;
    if (!known_.emplace(entry.begin, entry.end, path).second) continue;
    static_cast<void>(out_->add_module({.begin = entry.begin,
                                        .end = entry.end,
                                        .bias = entry.bias,
                                        .load_time = entry.time,
                                        .unload_time = 0,
                                        .path = std::move(path),
                                        .build_id = hexadecimal(build_id)}));
  }
}

}  // namespace mallard::recorder
