#include "recorder/preload/module_list.hpp"

#include <link.h>
#include <string.h>

#include "recorder/build_id.hpp"

namespace mallard::recorder {
namespace {

int list_module(dl_phdr_info* info, std::size_t, void* argument) noexcept {
  auto* spool = static_cast<spool_header*>(argument);
  module_entry entry{};
  entry.begin = UINT64_MAX;
  entry.bias = info->dlpi_addr;
  byte_range id;
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const std::uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD) {
      if (begin < entry.begin) entry.begin = begin;
      if (begin + segment.p_memsz > entry.end) entry.end = begin + segment.p_memsz;
    } else if (segment.p_type == PT_NOTE && id.size == 0) {
      id = build_id_among({reinterpret_cast<const char*>(begin), segment.p_memsz}, segment.p_align);
    }
  }
  const byte_range path{info->dlpi_name, strlen(info->dlpi_name)};
  entry.path_bytes = static_cast<std::uint32_t>(path.size);
  entry.build_id_bytes = static_cast<std::uint32_t>(id.size);

  const std::size_t at = spool->module_bytes.load(std::memory_order_relaxed);
  const std::size_t whole = round_up(sizeof entry + path.size + id.size, alignof(module_entry));
  if (entry.end == 0 || at + whole > module_list_bytes) return 0;
  char* place = module_list_of(spool) + at;
  memcpy(place, &entry, sizeof entry);
  memcpy(place + sizeof entry, path.data, path.size);
  if (id.size != 0) memcpy(place + sizeof entry + path.size, id.data, id.size);
  spool->module_bytes.store(static_cast<std::uint32_t>(at + whole), std::memory_order_release);
  return 0;
}

}  // namespace

void list_modules(spool_header* spool) noexcept { dl_iterate_phdr(list_module, spool); }

}  // namespace mallard::recorder
