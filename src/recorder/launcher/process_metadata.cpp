#include "recorder/launcher/process_metadata.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "journal/drain/spool_description.hpp"
#include "recorder/launcher/message.hpp"

namespace mallard::recorder {
namespace {

const char* name_of(journal::stack_mode mode) noexcept {
  switch (mode) {
    case journal::stack_mode::none:
      return "none";
    case journal::stack_mode::caller:
      return "caller";
    case journal::stack_mode::full:
      return "full";
  }
  return "";
}

journal::metadata describe_recording(journal::stack_mode stacks) {
  journal::metadata about;
  utsname system{};
  if (uname(&system) == 0) {
    about.facts["kernel"] = std::string(system.sysname) + " " + system.release;
    about.facts["architecture"] = system.machine;
  }
  about.facts["recorder"] = recorder_version;
  about.facts["stack"] = name_of(stacks);
  return about;
}

}  // namespace

journal::metadata describe_root(const record_options& chosen, const program_file& program, pid_t process) {
  journal::metadata about = describe_recording(chosen.recorded.stacks);
  about.program = std::filesystem::absolute(program.culprit).string();
  about.arguments = chosen.command;
  about.directory = std::filesystem::current_path().string();
  about.process = static_cast<std::uint64_t>(process);
  about.parent_process = static_cast<std::uint64_t>(getpid());
  about.start_unix_ns = static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
  return about;
}

journal::metadata describe_child(journal::spool_header* spool) {
  journal::metadata about = journal::describe_process(spool);
  about.facts = describe_recording(spool->options.stacks).facts;
  return about;
}

}  // namespace mallard::recorder
