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

// An ELF file of this machine, read as far as is asked for.
class elf_file {
 public:
  explicit elf_file(int descriptor) noexcept : descriptor_(descriptor) {
    if (!read_at(descriptor, &header_, sizeof header_, 0)) header_ = {};
  }

  [[nodiscard]] bool is_of_this_machine() const noexcept {
    return header_.e_ident[EI_CLASS] == (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32) &&
           header_.e_machine == own_machine;
  }

  // Whether it has a segment of that type.
  [[nodiscard]] bool find_segment(unsigned type, ElfW(Phdr) & segment) const noexcept {
    for (unsigned i = 0; i < header_.e_phnum && read_segment(i, segment); ++i)
      if (segment.p_type == type) return true;
    return false;
  }

  // The text at `at` in the file, cut off where it does not fit.
  template <std::size_t Size>
  void read_text(std::uint64_t at, char (&text)[Size]) const noexcept {
    const ssize_t got = pread(descriptor_, text, Size - 1, static_cast<off_t>(at));
    text[got < 0 ? 0 : got] = '\0';
  }

  // Whether it needs a sanitizer's library that refuses to be loaded behind another one.
  [[nodiscard]] bool has_sanitizer() const noexcept {
    ElfW(Phdr) dynamic{};
    if (!find_segment(PT_DYNAMIC, dynamic)) return false;
    std::uint64_t texts = 0;
    for_each_entry(dynamic, [&](const ElfW(Dyn) & entry) {
      if (entry.d_tag == DT_STRTAB) texts = entry.d_un.d_ptr;
      return texts != 0;
    });
    return to_offset(texts) && for_each_entry(dynamic, [&](const ElfW(Dyn) & entry) {
             if (entry.d_tag != DT_NEEDED) return false;
             char library[64];
             read_text(texts + entry.d_un.d_val, library);
             constexpr const char* runtimes[] = {"libasan.", "libhwasan.", "libclang_rt.asan",
                                                 "libclang_rt.hwasan"};
             for (const char* beginning : runtimes)
               if (strncmp(library, beginning, strlen(beginning)) == 0) return true;
             return false;
           });
  }

 private:
  bool read_segment(unsigned number, ElfW(Phdr) & segment) const noexcept {
    return read_at(descriptor_, &segment, sizeof segment, header_.e_phoff + number * sizeof segment);
  }

  // From an address that the file is linked for to where that stands in the file; false if it does not.
  bool to_offset(std::uint64_t& address) const noexcept {
    ElfW(Phdr) segment{};
    for (unsigned i = 0; i < header_.e_phnum && read_segment(i, segment); ++i) {
      if (segment.p_type != PT_LOAD || address - segment.p_vaddr >= segment.p_filesz) continue;
      address = address - segment.p_vaddr + segment.p_offset;
      return true;
    }
    return false;
  }

  // Calls `use` with the entries of the dynamic section until it returns true; whether it did.
  template <class Use>
  bool for_each_entry(const ElfW(Phdr) & dynamic, Use use) const noexcept {
    ElfW(Dyn) entry{};
    for (std::uint64_t at = 0; at + sizeof entry <= dynamic.p_filesz; at += sizeof entry) {
      if (!read_at(descriptor_, &entry, sizeof entry, dynamic.p_offset + at) || entry.d_tag == DT_NULL) break;
      if (use(entry)) return true;
    }
    return false;
  }

  int descriptor_;
  ElfW(Ehdr) header_ {};
};

reach examine_elf(int descriptor) noexcept {
  const elf_file file(descriptor);
  if (!file.is_of_this_machine()) return reach::foreign;
  ElfW(Phdr) interpreter{};
  if (!file.find_segment(PT_INTERP, interpreter)) return reach::statically_linked;
  char linker[256];
  file.read_text(interpreter.p_offset, linker);
  if (strstr(linker, own_linker) == nullptr) return reach::foreign;
  return file.has_sanitizer() ? reach::sanitized : reach::recordable;
}

// Whether the sanitizer's options allow other libraries before its own.
bool bears_others(char* const* variables) noexcept {
  constexpr char options[] = "ASAN_OPTIONS=";
  for (; variables != nullptr && *variables != nullptr; ++variables)
    if (strncmp(*variables, options, sizeof options - 1) == 0)
      return strstr(*variables, "verify_asan_link_order=0") != nullptr;
  return false;
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

const char* reason_of(reach verdict) noexcept {
  switch (verdict) {
    case reach::recordable:
      break;
    case reach::not_found:
      return "not found";
    case reach::not_executable:
      return "not an executable file";
    case reach::statically_linked:
      return "it is statically linked, so nothing can be loaded into it";
    case reach::privileged:
      return "it is setuid, setgid or has capabilities, so the system preloads nothing into it";
    case reach::foreign:
      return "it is built for another architecture or another libc than mallard";
    case reach::sanitized:
      return "it is built with AddressSanitizer, which refuses to run behind another library";
  }
  return "";
}

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

reach examine_image(const char* file, char* const* variables, char (&culprit)[PATH_MAX]) noexcept {
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
    if (is_elf) return verdict == reach::sanitized && bears_others(variables) ? reach::recordable : verdict;
  }
  return reach::not_executable;
}

}  // namespace mallard::recorder
