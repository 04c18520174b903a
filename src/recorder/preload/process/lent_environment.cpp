#include "recorder/preload/process/lent_environment.hpp"

#include <string.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>

#include "recorder/preload/process/passed_environment.hpp"
#include "recorder/preload/spool/raw_calls.hpp"
#include "recorder/preload/spool/reader_watch.hpp"

namespace mallard::recorder {
namespace {

constexpr char shell[] = "/bin/sh";

std::atomic<bool> is_taken{false};
char** users = nullptr;  // the user's environment, while another one is lent
char* lent = nullptr;    // never unmapped: another thread may still be looking through it
std::size_t lent_bytes = 0;

bool is_lent(const char* variable) noexcept { return variable >= lent && variable < lent + lent_bytes; }

// The user's entry that the lent one stands for; null if there is none.
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

bool reserve(std::size_t bytes) noexcept {
  if (bytes <= lent_bytes) return true;
  auto* more = static_cast<char*>(map_pages(2 * bytes));
  if (more == nullptr) return false;
  lent = more;
  lent_bytes = 2 * bytes;
  return true;
}

}  // namespace

lent_environment::lent_environment() noexcept {
  const bool wanted = is_to_be_passed_to(shell);
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
