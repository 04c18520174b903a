#include "recorder/launcher/program_file.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace mallard::recorder {
namespace {

// What the user can do about it.
const char* way_out(reach verdict) noexcept {
  switch (verdict) {
    case reach::statically_linked:
      return "; link it without -static";
    case reach::privileged:
      return "; run it as its owner, or write `sudo mallard-record ... PROGRAM` where it starts another "
             "program";
    case reach::sanitized:
      return "; build it without -fsanitize=address, or set ASAN_OPTIONS=verify_asan_link_order=0";
    default:
      return "";
  }
}

}  // namespace

program_file find_program(const std::string& name) {
  char found[PATH_MAX];
  char culprit[PATH_MAX];
  const char* path = std::getenv("PATH");
  if (!find_executable(name.c_str(), path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin", found))
    return {{}, reach::not_found, {}};
  const reach verdict = examine_image(found, environ, culprit);
  return {found, verdict, culprit};
}

std::string explain(const program_file& program, const std::string& name) {
  const std::string what = program.culprit.empty() || program.culprit == program.path
                               ? name
                               : name + " (by way of " + program.culprit + ")";
  return "cannot record " + what + ": " + reason_of(program.verdict) + way_out(program.verdict);
}

std::string caution(const program_file& program) {
  const std::string name = std::filesystem::path(program.path).filename().string();
  for (const char* client : {"docker", "kubectl", "ssh", "systemd-run"})
    if (name == client)
      return name +
             " has another process start the program, which is not recorded; run mallard-record there, in "
             "front of the program itself";
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
