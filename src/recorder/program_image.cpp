#include "recorder/program_image.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mallard::recorder {
namespace {

#if defined(__x86_64__)
constexpr unsigned own_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr unsigned own_machine = EM_AARCH64;
#endif

constexpr char shell[] = "/bin/sh";
constexpr char own_linker[] = "/ld-linux";  // how the name of glibc's dynamic linker begins
constexpr int deepest = 4;                  // interpreters of interpreters, as the kernel allows

bool is_file(const char* path) noexcept {
  struct stat status{};
  return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

bool may_execute(const char* path) noexcept { return is_file(path) && access(path, X_OK) == 0; }

// Whether executing the file changes who the process is.
bool is_privileged(const char* path) noexcept {
  struct stat status{};
  if (stat(path, &status) != 0) return false;
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) return true;
  if ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid()) return true;
  return geteuid() != 0 && getxattr(path, "security.capability", nullptr, 0) > 0;
}

bool read_at(int descriptor, void* out, std::size_t size, std::uint64_t at) noexcept {
  return pread(descriptor, out, size, static_cast<off_t>(at)) == static_cast<ssize_t>(size);
}

reach examine_elf(int descriptor) noexcept {
  ElfW(Ehdr) header{};
  if (!read_at(descriptor, &header, sizeof header, 0)) return reach::not_executable;
  if (header.e_ident[EI_CLASS] != (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32) ||
      header.e_machine != own_machine)
    return reach::foreign;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment{};
    if (!read_at(descriptor, &segment, sizeof segment, header.e_phoff + i * sizeof segment))
      return reach::not_executable;
    if (segment.p_type != PT_INTERP) continue;
    char linker[256] = {};
    const std::size_t size = segment.p_filesz < sizeof linker - 1 ? segment.p_filesz : sizeof linker - 1;
    if (!read_at(descriptor, linker, size, segment.p_offset)) return reach::not_executable;
    return strstr(linker, own_linker) != nullptr ? reach::recordable : reach::foreign;
  }
  return reach::statically_linked;
}

// The interpreter that a script's first line names; the shell where it names none.
void find_interpreter(int descriptor, char (&interpreter)[PATH_MAX]) noexcept {
  char line[PATH_MAX];
  const ssize_t got = pread(descriptor, line, sizeof line - 1, 0);
  line[got < 0 ? 0 : got] = '\0';
  line[strcspn(line, "\n")] = '\0';
  if (strncmp(line, "#!", 2) != 0) {
    memcpy(interpreter, shell, sizeof shell);
    return;
  }
  const char* begin = line + 2;
  begin += strspn(begin, " \t");
  const std::size_t size = strcspn(begin, " \t");
  memcpy(interpreter, begin, size);
  interpreter[size] = '\0';
}

}  // namespace

bool find_executable(const char* name, const char* path, char (&found)[PATH_MAX]) noexcept {
  found[0] = '\0';
  const std::size_t length = strlen(name);
  if (strchr(name, '/') != nullptr) {
    if (length >= sizeof found || access(name, F_OK) != 0) return false;
    memcpy(found, name, length + 1);
    return true;
  }
  if (length == 0) return false;
  for (const char* folder = path;; ++folder) {
    const std::size_t size = strcspn(folder, ":");
    char candidate[PATH_MAX] = ".";  // an empty folder
    const std::size_t stem = size == 0 ? 1 : size;
    if (stem + length + 2 <= sizeof candidate) {
      memcpy(candidate, folder, size);
      candidate[stem] = '/';
      memcpy(candidate + stem + 1, name, length + 1);
      const bool good = may_execute(candidate);
      if (good || (found[0] == '\0' && is_file(candidate))) memcpy(found, candidate, stem + length + 2);
      if (good) return true;
    }
    folder += size;
    if (*folder == '\0') return found[0] != '\0';
  }
}

reach examine_image(const char* file, char (&culprit)[PATH_MAX]) noexcept {
  if (strlen(file) >= sizeof culprit) return reach::not_found;
  memmove(culprit, file, strlen(file) + 1);
  for (int depth = 0; depth <= deepest; ++depth) {
    if (!may_execute(culprit)) return reach::not_executable;
    if (is_privileged(culprit)) return reach::privileged;
    const int descriptor = open(culprit, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return reach::recordable;
    char magic[SELFMAG] = {};
    const bool is_elf = read_at(descriptor, magic, sizeof magic, 0) && memcmp(magic, ELFMAG, SELFMAG) == 0;
    const reach verdict = is_elf ? examine_elf(descriptor) : reach::not_executable;
    if (!is_elf) find_interpreter(descriptor, culprit);
    close(descriptor);
    if (is_elf) return verdict;
  }
  return reach::not_executable;
}

}  // namespace mallard::recorder
