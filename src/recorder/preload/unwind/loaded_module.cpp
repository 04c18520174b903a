#include "recorder/preload/unwind/loaded_module.hpp"

#include <dlfcn.h>
#include <link.h>

namespace mallard::recorder {

namespace {

// Narrows the module's bounds to the readable segment that holds the header, if the module's first page
// tells of one.
void narrow_to_segment(eh_frame_table& table) noexcept {
  constexpr std::size_t first_page = 4096;
  const std::uint8_t* module = table.begin;
  const auto module_size = static_cast<std::size_t>(table.end - module);
  const auto place = static_cast<std::size_t>(table.header - module);
  ElfW(Ehdr) elf;
  if (module_size < first_page) return;
  __builtin_memcpy(&elf, module, sizeof elf);
  if (__builtin_memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_phentsize != sizeof(ElfW(Phdr))) return;
  if (elf.e_phoff > first_page || elf.e_phnum > (first_page - elf.e_phoff) / sizeof(ElfW(Phdr))) return;
  bool is_first = true;
  std::size_t module_address = 0;  // as linked: the page of the first segment
  for (std::size_t i = 0; i < elf.e_phnum; ++i) {
    ElfW(Phdr) segment;
    __builtin_memcpy(&segment, module + elf.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type != PT_LOAD) continue;
    if (is_first) module_address = segment.p_vaddr & -first_page;
    is_first = false;
    const std::size_t begin = segment.p_vaddr - module_address;
    if (begin > module_size || segment.p_memsz > module_size - begin) return;
    if (place - begin >= segment.p_memsz || (segment.p_flags & PF_R) == 0) continue;
    table.begin = module + begin;
    table.end = table.begin + segment.p_memsz;
    return;
  }
}

}  // namespace

bool find_table(std::uintptr_t pc, eh_frame_table& out) noexcept {
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(pc), &found) != 0 || found.dlfo_eh_frame == nullptr)
    return false;
  out.header = static_cast<const std::uint8_t*>(found.dlfo_eh_frame);
  out.begin = static_cast<const std::uint8_t*>(found.dlfo_map_start);
  out.end = static_cast<const std::uint8_t*>(found.dlfo_map_end);
  if (out.header < out.begin || out.header >= out.end) return false;
  narrow_to_segment(out);
  return true;
}

}  // namespace mallard::recorder
