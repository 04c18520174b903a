#include "recorder/launcher/program_file.hpp"

#include <elf.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace mallard::recorder {
namespace {

#if defined(__x86_64__)
constexpr unsigned own_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr unsigned own_machine = EM_AARCH64;
#endif

bool is_file(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool may_execute(const std::string& path) { return is_file(path) && access(path.c_str(), X_OK) == 0; }

// The file `name` stands for; empty if there is none. The first executable one on PATH wins, the first
// one that is not executable is the second choice.
std::string resolve(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), F_OK) == 0 ? name : std::string();
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  std::string folder;
  std::string second_choice;
  while (std::getline(folders, folder, ':')) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (may_execute(candidate)) return candidate;
    if (second_choice.empty() && is_file(candidate)) second_choice = candidate;
  }
  return second_choice;
}

// Whether executing the file changes who the process is.
bool is_privileged(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return false;
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) return true;
  if ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid()) return true;
  return geteuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

reach examine_elf(std::ifstream& file) {
  ElfW(Ehdr) header{};
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return reach::not_executable;
  if (header.e_ident[EI_CLASS] != (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32) ||
      header.e_machine != own_machine)
    return reach::foreign;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof segment));
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) return reach::not_executable;
    if (segment.p_type == PT_INTERP) return reach::recordable;
  }
  return reach::statically_linked;
}

// The interpreter that a script's first line names; the shell where it names none.
std::string interpreter_of(std::ifstream& file) {
  file.clear();
  file.seekg(0);
  std::string line;
  std::getline(file, line);
  if (!line.starts_with("#!")) return "/bin/sh";
  std::istringstream words(line.substr(2));
  std::string interpreter;
  words >> interpreter;
  return interpreter;
}

void examine(program_file& program) {
  constexpr int deepest = 4;  // interpreters of interpreters, as the kernel allows
  for (int depth = 0; depth <= deepest; ++depth) {
    const std::string& path = program.culprit;
    if (!may_execute(path)) break;
    std::ifstream file(path, std::ios::binary);
    if (is_privileged(path)) {
      program.verdict = reach::privileged;
      return;
    }
    char magic[SELFMAG] = {};
    file.read(magic, SELFMAG);
    if (file.gcount() == SELFMAG && std::memcmp(magic, ELFMAG, SELFMAG) == 0) {
      program.verdict = examine_elf(file);
      return;
    }
    if (!file.is_open()) {  // executable but not readable: nothing can be said, so it is tried
      program.verdict = reach::recordable;
      return;
    }
    program.culprit = interpreter_of(file);
  }
  program.verdict = reach::not_executable;
}

}  // namespace

program_file find_program(const std::string& name) {
  program_file program{resolve(name), reach::not_found, {}};
  if (program.path.empty()) return program;
  program.culprit = program.path;
  examine(program);
  return program;
}

std::string explain(const program_file& program, const std::string& name) {
  const std::string what = program.culprit.empty() || program.culprit == program.path
                               ? name
                               : name + " (by way of " + program.culprit + ")";
  switch (program.verdict) {
    case reach::not_found:
      return "cannot record " + what + ": not found";
    case reach::not_executable:
      return "cannot record " + what + ": not an executable file";
    case reach::statically_linked:
      return "cannot record " + what + ": it is statically linked, so nothing can be loaded into it";
    case reach::privileged:
      return "cannot record " + what +
             ": it is setuid, setgid or has capabilities, so the system loads nothing into it; run it as its "
             "owner";
    case reach::foreign:
      return "cannot record " + what + ": it is built for another architecture than the recorder";
    case reach::recordable:
      break;
  }
  return {};
}

int exit_code_of(reach verdict) noexcept {
  switch (verdict) {
    case reach::recordable:
      return 0;
    case reach::not_found:
      return 127;
    case reach::not_executable:
      return 126;
    default:
      return 2;
  }
}

}  // namespace mallard::recorder
