#include "recorder/launcher/module_table.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <utility>

#include "recorder/program_image.hpp"

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

bool overlap(const journal::module_info& a, const journal::module_info& b) noexcept {
  return a.begin < b.end && b.begin < a.end;
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

module_table::module_table(journal::spool_header* spool, journal::writer& out, pid_t process,
                           journal::metadata about)
    : list_(spool), out_(&out), process_(process), about_(std::move(about)) {}

bool module_table::knows(std::uint64_t address) const {
  return std::any_of(places_.begin(), places_.end(), [=](const place& one) { return one.holds(address); });
}

std::uint32_t module_table::add_caller(std::uint64_t address, std::uint64_t time) {
  read_list();
  if (!knows(address)) strangers_.push_back(address);
  const auto was_there = [=](const place& one) { return one.holds(address) && one.module.load_time <= time; };
  const auto now = std::find_if(places_.begin(), places_.end(), was_there);
  if (now != places_.end()) return now->generation;
  const auto before = std::find_if(former_.rbegin(), former_.rend(), was_there);
  return before != former_.rend() ? before->generation : 0;
}

void module_table::update(std::uint64_t now, double ticks_per_second) {
  read_list();
  std::erase_if(strangers_, [this](std::uint64_t address) { return knows(address); });
  if (strangers_.empty() || now < next_look_) return;
  strangers_.clear();
  next_look_ = now + static_cast<std::uint64_t>(ticks_per_second / 10);
  for (journal::module_info& module : read_process_modules(process_)) {
    const bool is_listed = std::any_of(places_.begin(), places_.end(), [&](const place& one) {
      return one.module.unload_time == 0 && overlap(one.module, module);
    });
    if (!is_listed) add(std::move(module));
  }
}

void module_table::read_list() {
  journal::module_info module;
  while (list_.next(module)) {
    journal::complete_path(module, about_);
    if (module.end == 0)
      unload(module.begin, module.begin + 1, module.load_time);
    else
      add(std::move(module));
  }
}

// Ends the rows of what cannot be there any more. A module that the program did not see unloaded was gone
// when the next one came.
void module_table::unload(std::uint64_t begin, std::uint64_t end, std::uint64_t time) {
  for (place& one : places_) {
    if (one.module.unload_time != 0 || one.module.begin >= end || one.module.end <= begin) continue;
    one.module.unload_time = time;
    out_->update_module(one.index, one.module);
  }
}

// Calls that came from a module before it was first seen still came after its predecessor was gone.
void module_table::add(journal::module_info module) {
  const auto overlaps = [&](const place& one) { return overlap(one.module, module); };
  const auto is_same = [&](const place& one) {
    return one.module.unload_time == 0 && one.module.begin == module.begin &&
           one.module.path == module.path && one.module.build_id == module.build_id;
  };
  if (std::any_of(places_.begin(), places_.end(), is_same)) return;
  unload(module.begin, module.end, std::max<std::uint64_t>(module.load_time, 1));
  std::uint64_t vacant_since = 0;
  for (const place& one : places_)
    if (overlaps(one)) vacant_since = std::max(vacant_since, one.module.unload_time);
  if (vacant_since != 0) module.load_time = vacant_since;
  const auto replaced = std::partition(places_.begin(), places_.end(), std::not_fn(overlaps));
  const bool is_first = replaced == places_.end();
  std::move(replaced, places_.end(), std::back_inserter(former_));
  places_.erase(replaced, places_.end());
  const std::uint32_t index = out_->add_module(module);
  places_.push_back({index, is_first ? 0 : index, std::move(module)});
}

}  // namespace mallard::recorder
