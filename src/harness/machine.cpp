#include "harness/machine.hpp"

#include <gnu/libc-version.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace mallard::harness {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

// The word in brackets of "always [madvise] never".
std::string huge_page_policy() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string line;
  std::getline(file, line);
  const auto open = line.find('[');
  const auto close = line.find(']');
  return open == std::string::npos || close == std::string::npos ? "unknown"
                                                                 : line.substr(open + 1, close - open - 1);
}

std::string compiler_name() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

}  // namespace

machine_facts this_machine() {
  machine_facts facts;
  facts.cpu = cpu_model();
  facts.cores = static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN));
  struct sysinfo info{};
  ::sysinfo(&info);
  facts.memory = static_cast<std::uint64_t>(info.totalram) * info.mem_unit;
  utsname kernel{};
  ::uname(&kernel);
  facts.kernel = std::string(kernel.sysname) + " " + kernel.release + " " + kernel.machine;
  facts.transparent_huge_pages = huge_page_policy();
  facts.c_library = std::string("glibc ") + ::gnu_get_libc_version();
  facts.compiler = compiler_name();
  facts.flags = MALLARD_COMPILE_FLAGS;
  return facts;
}

nlohmann::ordered_json to_json(const machine_facts& m) {
  return {{"cpu", m.cpu},
          {"cores", m.cores},
          {"memory", m.memory},
          {"kernel", m.kernel},
          {"transparent_huge_pages", m.transparent_huge_pages},
          {"c_library", m.c_library},
          {"compiler", m.compiler},
          {"flags", m.flags}};
}

}  // namespace mallard::harness
