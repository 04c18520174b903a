// object_file: one ELF file with the debug information that belongs to it, opened through libdwfl.
//
//     /usr/bin/tool ---+--> its own .symtab, .dynsym, .gnu_debugdata, .debug_info
//                      +--> /usr/lib/debug/.build-id/ab/cdef.debug      by build id
//                      +--> tool.debug beside it, in .debug/ or below /usr/lib/debug, by .gnu_debuglink
//                      +--> debuginfod, where DEBUGINFOD_URLS names one
//
// It is the build it was asked for, or it is not opened. Addresses are those that the file itself uses: it
// is placed at address 0. Debug information is looked for when it is first needed.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

namespace mallard::symbols {

struct debug_information {
  Dwarf* dwarf = nullptr;  // null: there is none
  std::uint64_t bias = 0;  // an address of the file less the same one in here
};

class object_file {
 public:
  // `build_id` in lower-case hex, empty for a file without one. Throws error.
  object_file(const std::filesystem::path& path, std::optional<std::string_view> build_id);

  [[nodiscard]] Dwfl_Module* module() const noexcept { return module_; }
  [[nodiscard]] Elf* elf() const noexcept { return elf_; }
  [[nodiscard]] debug_information debug() const noexcept;

 private:
  struct ended {
    void operator()(Dwfl* session) const noexcept { dwfl_end(session); }
  };

  std::unique_ptr<Dwfl, ended> session_;
  Dwfl_Module* module_ = nullptr;
  Elf* elf_ = nullptr;
};

}  // namespace mallard::symbols
