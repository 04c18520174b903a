#include "recorder/preload/process/passed_environment.hpp"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

#include "recorder/preload/spool/fixed_text.hpp"
#include "recorder/preload/spool/lineage.hpp"
#include "recorder/preload/spool/reader_watch.hpp"
#include "recorder/program_image.hpp"

namespace mallard::recorder {
using journal::spool_variable;

namespace {

constexpr char preload[] = "LD_PRELOAD=";
constexpr std::size_t preload_size = sizeof preload - 1;
constexpr std::size_t number_size = 10;  // digits of a process id or a number, at most

bool is_preload(const char* variable) noexcept { return strncmp(variable, preload, preload_size) == 0; }

bool is_spool(const char* variable) noexcept {
  constexpr std::size_t size = sizeof spool_variable - 1;
  return strncmp(variable, spool_variable, size) == 0 && variable[size] == '=';
}

// The other libraries in a value of LD_PRELOAD; null if there are none. A value that another thread has lent
// (lent_environment) begins with this library already.
const char* others_in(const char* value) noexcept {
  const std::size_t size = strlen(lineage.library);
  if (strncmp(value, lineage.library, size) != 0 || (value[size] != ':' && value[size] != '\0')) return value;
  return value[size] == ':' ? value + size + 1 : nullptr;
}

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

constexpr char shell[] = "/bin/sh";

std::atomic<bool> is_taken{false};
char** users = nullptr;  // the user's environment, while another one is lent
char* lent = nullptr;    // never unmapped: another thread may still be looking through it
std::size_t lent_bytes = 0;

bool is_lent(const char* variable) noexcept { return variable >= lent && variable < lent + lent_bytes; }

// The user's entry that the lent one replaces; null if there is none.
char* users_entry(const char* variable) noexcept {
  const std::size_t name = strcspn(variable, "=") + 1;
  for (char** entry = users; *entry != nullptr; ++entry)
    if (strncmp(*entry, variable, name) == 0) return *entry;
  return nullptr;
}

// Replaces the lent entries by the user's in an array that another thread has copied meanwhile.
void replace_lent_entries(char** variables) noexcept {
  char** out = variables;
  for (char** entry = variables; *entry != nullptr; ++entry) {
    char* kept = is_lent(*entry) ? users_entry(*entry) : *entry;
    if (kept != nullptr) *out++ = kept;
  }
  *out = nullptr;
}

// Why a program that this process becomes could not use the recording's files; 0 if it can. It may have given
// up the user that it was, or the root directory, since it was loaded.
int error_of_reaching_files() noexcept {
  const int library = raw_open(lineage.library, O_RDONLY);
  const int spool = library < 0 ? library : raw_open(lineage.spool, O_RDWR);
  if (library >= 0) raw_close(library);
  if (spool < 0) return -spool;
  raw_close(spool);
  return 0;
}

bool reserve(std::size_t bytes) noexcept {
  if (bytes <= lent_bytes) return true;
  auto* more = static_cast<char*>(map_pages(2 * bytes));
  if (more == nullptr) return false;
  lent = more;
  lent_bytes = 2 * bytes;
  return true;
}

}  // namespace

passage::passage(const char* file, char* const* variables) noexcept {
  if (!children_are_recorded() || lineage.library[0] == '\0') return;
  const int saved_errno = errno;
  int cancelability = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelability);  // looking at a file is a point for it
  char culprit[PATH_MAX] = {};
  const reach verdict = file == nullptr ? reach::recordable : examine_image(file, variables, culprit);
  const bool may_run = verdict != reach::not_found && verdict != reach::not_executable;
  if (may_run && verdict != reach::recordable)
    counted_ = count_unrecorded(file, culprit, reason_of(verdict));
  else if (const int error = may_run ? error_of_reaching_files() : 0; error != 0)
    counted_ =
        count_unrecorded(file == nullptr ? "" : file, file == nullptr ? "" : file, reason_of_error(error));
  else
    is_open_ = may_run;
  pthread_setcancelstate(cancelability, nullptr);
  errno = saved_errno;
}

std::size_t passed_environment_bytes(char* const* variables) noexcept {
  std::size_t entries = 3;  // both of ours, and the null
  std::size_t bytes = preload_size + strlen(lineage.library) + 1 + sizeof spool_variable + 2 * number_size +
                      strlen(lineage.spool) + 4;
  for (; variables != nullptr && *variables != nullptr; ++variables, ++entries)
    if (is_preload(*variables)) bytes += strlen(*variables) + 1 + strlen(lineage.library) + 1;
  return entries * sizeof(char*) + bytes;
}

char** passed_environment(char* const* variables, void* place) noexcept {
  std::size_t count = 0;
  while (variables != nullptr && variables[count] != nullptr) ++count;
  auto** const entries = static_cast<char**>(place);
  char** entry = entries;
  char* const texts = reinterpret_cast<char*>(entries + count + 3);
  fixed_text text(texts, passed_environment_bytes(variables) - (count + 3) * sizeof(char*));
  const auto append_preload = [&](const char* others) {
    *entry++ = text.end();
    text.append(preload)
        .append(lineage.library)
        .append(others == nullptr ? "" : ":")
        .append(others == nullptr ? "" : others);
    text.append("", 1);
  };
  bool preloading = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_spool(variables[i])) continue;
    if (preloading || !is_preload(variables[i])) {
      *entry++ = variables[i];
    } else {
      preloading = true;
      append_preload(others_in(variables[i] + preload_size));
    }
  }
  if (!preloading) append_preload(nullptr);
  *entry++ = text.end();
  text.append(spool_variable).append("=").append_number(lineage.number).append(":");
  text.append_number(lineage.process).append(":").append(lineage.spool);
  *entry = nullptr;
  return entries;
}

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

lent_environment::lent_environment() noexcept {
  const bool wanted = passage(shell, environ).is_open();
  while (is_taken.exchange(true, std::memory_order_acquire)) pause_for_ns(10'000);
  if (environ == nullptr || !wanted) return;
  if (!reserve(passed_environment_bytes(environ))) return;
  users = environ;
  environ = passed_environment(users, lent);
}

lent_environment::~lent_environment() noexcept { take_lent_environment_back(); }

void take_lent_environment_back() noexcept {
  if (users != nullptr) {
    if (static_cast<void*>(environ) == lent)
      environ = users;
    else if (environ != nullptr && environ != users)
      replace_lent_entries(environ);
    users = nullptr;
  }
  is_taken.store(false, std::memory_order_release);
}

}  // namespace mallard::recorder
