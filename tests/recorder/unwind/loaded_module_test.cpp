// The table of an address, and the bounds of its reading, are those of the program headers.
#include "recorder/preload/unwind/loaded_module.hpp"

#include <gtest/gtest.h>
#include <link.h>

#include <cstring>
#include <string>

namespace mallard::recorder {
namespace {

std::uintptr_t address_of(const void* place) { return reinterpret_cast<std::uintptr_t>(place); }

// Compares the table of one module with what its headers say; counts those that were compared.
int compare(dl_phdr_info* info, std::size_t, void* count) {
  const ElfW(Phdr)* frames = nullptr;
  const ElfW(Phdr)* code = nullptr;
  for (const ElfW(Phdr)* each = info->dlpi_phdr; each != info->dlpi_phdr + info->dlpi_phnum; ++each) {
    if (each->p_type == PT_GNU_EH_FRAME) frames = each;
    if (each->p_type == PT_LOAD && (each->p_flags & PF_X) != 0) code = each;
  }
  if (frames == nullptr || code == nullptr) return 0;
  eh_frame_table table{};
  const bool found = find_table(info->dlpi_addr + code->p_vaddr + code->p_memsz / 2, table);
  EXPECT_TRUE(found) << info->dlpi_name;
  if (!found) return 0;
  EXPECT_EQ(address_of(table.header), info->dlpi_addr + frames->p_vaddr) << info->dlpi_name;
  for (const ElfW(Phdr)* each = info->dlpi_phdr; each != info->dlpi_phdr + info->dlpi_phnum; ++each) {
    if (each->p_type != PT_LOAD || frames->p_vaddr - each->p_vaddr >= each->p_memsz) continue;
    EXPECT_EQ(address_of(table.begin), info->dlpi_addr + each->p_vaddr) << info->dlpi_name;
    EXPECT_EQ(table.end - table.begin, static_cast<std::ptrdiff_t>(each->p_memsz)) << info->dlpi_name;
    ++*static_cast<int*>(count);
  }
  return 0;
}

TEST(loaded_module, bounds_each_table_by_its_segment) {
  int compared = 0;
  dl_iterate_phdr(compare, &compared);
  EXPECT_GE(compared, 4);  // this test, libstdc++, libc, the loader
}

TEST(loaded_module, has_no_table_for_other_memory) {
  const std::string heap(100, ' ');
  eh_frame_table table{};
  EXPECT_FALSE(find_table(address_of(heap.data()), table));
  EXPECT_FALSE(find_table(address_of(&table), table));
  EXPECT_FALSE(find_table(0, table));
}

}  // namespace
}  // namespace mallard::recorder
