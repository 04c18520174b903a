#include "recorder/preload/module_list.hpp"

#include <link.h>
#include <string.h>

#include "recorder/build_id.hpp"
#include "recorder/preload/reader_watch.hpp"

namespace mallard::recorder {
using namespace journal;

namespace {

// Copies into the ring of modules at a position, around its end.
void copy_in(spool_header* spool, std::uint64_t at, const void* data, std::size_t size) noexcept {
  const auto* from = static_cast<const char*>(data);
  char* ring = modules_of(spool);
  for (std::size_t i = 0; i < size; ++i) ring[(at + i) % module_ring_bytes] = from[i];
}

// An entry for which there is no room, since the reader is gone, is left out.
void put_module(spool_header* spool, const module_entry& entry, const byte_range& path,
                const byte_range& build_id) noexcept {
  const std::uint64_t at = spool->modules_head.load(std::memory_order_relaxed);
  const std::size_t whole = round_up(sizeof entry + path.size + build_id.size, alignof(module_entry));
  if (whole > module_ring_bytes || !wait_for_module_room(spool, at + whole)) return;
  copy_in(spool, at, &entry, sizeof entry);
  copy_in(spool, at + sizeof entry, path.data, path.size);
  copy_in(spool, at + sizeof entry + path.size, build_id.data, build_id.size);
  spool->modules_head.store(at + whole, std::memory_order_release);
}

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
  if (entry.end != 0) put_module(spool, entry, path, id);
  return 0;
}

}  // namespace

void list_modules(spool_header* spool) noexcept { dl_iterate_phdr(list_module, spool); }

}  // namespace mallard::recorder
