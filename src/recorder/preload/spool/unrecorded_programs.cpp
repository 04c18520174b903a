#include "recorder/preload/spool/unrecorded_programs.hpp"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "recorder/clock.hpp"
#include "recorder/preload/spool/fixed_text.hpp"
#include "recorder/preload/spool/lineage.hpp"
#include "recorder/preload/spool/raw_calls.hpp"

namespace mallard::recorder {
using namespace journal;

namespace {

constexpr std::uint64_t any_other = 1;  // the key of the last entry

std::uint64_t add_to_hash(std::uint64_t hash, const char* text) noexcept {
  for (; *text != '\0'; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3u;
  return hash * 0x100000001b3u;
}

// Copies the text, or its end where it is too long.
template <std::size_t Size>
void store_text(char (&to)[Size], const char* text) noexcept {
  const std::size_t length = strlen(text);
  const bool fits = length < Size;
  fixed_text(to, Size).append(fits ? "" : "...").append(fits ? text : text + length - (Size - 4));
}

}  // namespace

unrecorded_entry* count_unrecorded(const char* program, const char* by_way_of, const char* reason) noexcept {
  if (lineage.root == nullptr) return nullptr;
  const std::uint64_t hash =
      add_to_hash(add_to_hash(add_to_hash(0xcbf29ce484222325u, program), by_way_of), reason);
  const std::uint64_t key = hash > any_other ? hash : any_other + 1;
  unrecorded_entry* entry = unrecorded_of(lineage.root);
  for (std::size_t left = max_unrecorded; left > 0; --left, ++entry) {
    const std::uint64_t wanted = left == 1 ? any_other : key;
    std::uint64_t present = 0;
    if (entry->key.compare_exchange_strong(present, wanted)) {
      char name[2 * PATH_MAX + 32];
      fixed_text text(name, sizeof name);
      text.append(program);
      if (strcmp(program, by_way_of) != 0) text.append(" (by way of ").append(by_way_of).append(")");
      entry->ticks = ticks();
      store_text(entry->program, wanted == any_other ? "other programs" : name);
      store_text(entry->reason, wanted == any_other ? "there are too many to name" : reason);
    } else if (present != wanted) {
      continue;
    }
    entry->processes.fetch_add(1);
    return entry;
  }
  return nullptr;
}

void count_unrecorded(const char* reason) noexcept {
  char path[PATH_MAX] = {};
  const bool is_known = raw_read_link("/proc/self/exe", path, sizeof path - 1) != 0;
  const char* const program = is_known ? path : program_invocation_name;
  count_unrecorded(program, program, reason);
}

void discount(unrecorded_entry* entry) noexcept {
  if (entry != nullptr) entry->processes.fetch_sub(1);
}

const char* reason_of_error(int error) noexcept {
  switch (error) {
    case EACCES:
    case EPERM:
      return "it runs as another user, who may not write to the recording's files (Permission denied)";
    case ENOENT:
    case ENOTDIR:
      return "its root directory (chroot, container) holds none of the recording's files";
    case EROFS:
      return "the recording's files are read-only where it runs";
    case EFBIG:
      return "its limit on the size of files leaves no room for its spool";
    case ENOSPC:
    case EDQUOT:
      return "the disk has no room for its spool";
    case EMFILE:
    case ENFILE:
      return "it has no file descriptor left to make its spool with";
    case ENOMEM:
      return "it has no room in memory to map its spool";
    default:
      return strerrordesc_np(error);
  }
}

}  // namespace mallard::recorder
