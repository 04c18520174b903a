#include "recorder/launcher/process_modules.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "journal/events/process_tables.hpp"
#include "recorder/build_id.hpp"

namespace mallard::recorder {
namespace {

struct mapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool executable = false;
  std::string path;
};

// "begin-end permissions offset device inode   path"; false for what has no file behind it.
bool parse_mapping(const std::string& line, mapping& parsed) {
  const char* end = line.data() + line.size();
  const auto [dash, first] = std::from_chars(line.data(), end, parsed.begin, 16);
  if (first != std::errc() || dash == end || *dash != '-') return false;
  const auto [space, second] = std::from_chars(dash + 1, end, parsed.end, 16);
  const std::size_t path = line.find('/');
  if (second != std::errc() || end - space < 5 || path == std::string::npos) return false;
  parsed.executable = space[3] == 'x';
  parsed.path = line.substr(path);
  return true;
}

}  // namespace

void read_module_file(journal::module_info& module) {
  std::ifstream file(module.path, std::ios::binary);
  ElfW(Ehdr) header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr))) return;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));  // segments are mapped by whole pages
  constexpr std::size_t longest_notes = std::size_t{64} * 1024;
  bool linked_for = false;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof segment));
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) return;
    if (segment.p_type == PT_LOAD && !std::exchange(linked_for, true)) {
      module.bias = module.begin - (segment.p_vaddr & ~(page - 1));
    } else if (segment.p_type == PT_NOTE && module.build_id.empty()) {
      std::string notes(std::min<std::size_t>(segment.p_filesz, longest_notes), '\0');
      file.seekg(static_cast<std::streamoff>(segment.p_offset));
      if (!file.read(notes.data(), static_cast<std::streamsize>(notes.size()))) return;
      const byte_range id = build_id_among({notes.data(), notes.size()}, segment.p_align);
      module.build_id = journal::hexadecimal({id.data, id.size});
    }
  }
}

std::vector<journal::module_info> read_process_modules(pid_t process) {
  std::ifstream map("/proc/" + std::to_string(process) + "/maps");
  std::vector<journal::module_info> modules;
  std::string line;
  bool executable = false;
  const auto close_module = [&] {
    if (!modules.empty() && !executable) modules.pop_back();  // a data file
    executable = false;
  };
  while (std::getline(map, line)) {
    mapping part;
    if (!parse_mapping(line, part)) continue;
    if (modules.empty() || modules.back().path != part.path) {
      close_module();
      modules.emplace_back();
      modules.back().begin = part.begin;
      modules.back().path = part.path;
    }
    modules.back().end = part.end;
    executable = executable || part.executable;
  }
  close_module();
  for (journal::module_info& module : modules) read_module_file(module);
  return modules;
}

}  // namespace mallard::recorder
