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
#include <vector>

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

// symbol_table: functions by their addresses, from the symbols of an ELF file; function_table: what is code,
// and where functions begin, which even files without a single symbol say.
//
//     .symtab, else .dynsym with .gnu_debugdata        --> sorted by address --> binary search
//     .eh_frame_hdr: (function, unwind rule) pairs     --> likewise
//
// A symbol with a size names what lies inside it, one without what lies before the next. Of several names of
// one address the most public is taken, then the plainest. Names live as long as the file.
//
// Programs keep .eh_frame_hdr to unwind their stacks. With it, all calls from one nameless function are
// reported as calls from one function. Only the form that all linkers write is read; without it every look-up
// is empty. Bounds are checked, whatever the file says.
class symbol_table {
 public:
  explicit symbol_table(const object_file& file);

  // The name as the file has it; empty: there is none.
  [[nodiscard]] std::string_view find(std::uint64_t address) const noexcept;

 private:
  struct symbol {
    std::uint64_t begin;
    std::uint64_t size;  // 0: unknown
    int rank;            // lower is better
    std::string_view name;
  };

  static bool before(const symbol& a, const symbol& b) noexcept;

  std::vector<symbol> symbols_;
};

class function_table {
 public:
  explicit function_table(const object_file& file);

  [[nodiscard]] bool is_code(std::uint64_t address) const noexcept { return segment_of(address) != nullptr; }

  // Where the last function of its segment that begins at or before the address begins.
  [[nodiscard]] std::optional<std::uint64_t> find(std::uint64_t address) const noexcept;

 private:
  struct range {
    std::uint64_t begin;
    std::uint64_t end;
  };

  [[nodiscard]] const range* segment_of(std::uint64_t address) const noexcept;

  std::vector<range> code_;            // executable segments
  std::vector<std::uint64_t> begins_;  // of functions, sorted
};

}  // namespace mallard::symbols
