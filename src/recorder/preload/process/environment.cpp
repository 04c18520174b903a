#include "recorder/preload/process/environment.hpp"

#include <string.h>
#include <unistd.h>

namespace mallard::recorder {
namespace {

// The entry "name=value" in the environment, null if there is none.
char** find_entry(const char* name) noexcept {
  const auto length = strlen(name);
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return entry;
  return nullptr;
}

void remove_entry(char** entry) noexcept {
  for (; *entry != nullptr; ++entry) entry[0] = entry[1];
}

}  // namespace

const char* take_out_of_environment(const char* name) noexcept {
  char** entry = find_entry(name);
  if (entry == nullptr) return nullptr;
  const char* value = *entry + strlen(name) + 1;
  remove_entry(entry);
  return value;
}

void restore_preload_variable(char* library, std::size_t size) noexcept {
  char** entry = find_entry("LD_PRELOAD");
  if (entry == nullptr) return;
  char* value = strchr(*entry, '=') + 1;
  const char* behind = strchr(value, ':');
  const std::size_t length = behind != nullptr ? static_cast<std::size_t>(behind - value) : strlen(value);
  if (length < size) {
    memcpy(library, value, length);
    library[length] = '\0';
  }
  if (behind != nullptr)
    memmove(value, behind + 1, strlen(behind + 1) + 1);
  else
    remove_entry(entry);
}

}  // namespace mallard::recorder
