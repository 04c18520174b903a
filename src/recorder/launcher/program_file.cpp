#include "recorder/launcher/program_file.hpp"

#include <cstdlib>

namespace mallard::recorder {

program_file find_program(const std::string& name) {
  char found[PATH_MAX];
  char culprit[PATH_MAX];
  const char* path = std::getenv("PATH");
  if (!find_executable(name.c_str(), path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin", found))
    return {{}, reach::not_found, {}};
  const reach verdict = examine_image(found, culprit);
  return {found, verdict, culprit};
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
             ": it is setuid, setgid or has capabilities, so the system preloads nothing into it; run it as "
             "its "
             "owner";
    case reach::foreign:
      return "cannot record " + what +
             ": it is built for another architecture or another libc than the recorder";
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
