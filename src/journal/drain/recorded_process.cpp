#include "journal/drain/recorded_process.hpp"

#include <unistd.h>

#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

namespace mallard::journal {
namespace {

constexpr std::uint64_t second = 1'000'000'000;  // ns

std::uint64_t now_ns(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * second + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

bool is_running(std::uint64_t process, std::uint64_t unix_ns) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (process == 0 || !std::getline(file, line)) return false;
  const auto name_end = line.rfind(')');  // the name before it may hold anything
  if (name_end == std::string::npos) return false;
  std::istringstream fields(line.substr(name_end + 1));
  std::string state;
  fields >> state;
  if (state == "Z" || state == "X") return false;
  std::uint64_t since_boot = 0;
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  if (!(fields >> since_boot)) return false;
  if (unix_ns == 0) return true;
  const std::uint64_t began_ns = since_boot * (second / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK)));
  const std::uint64_t age_ns = now_ns(CLOCK_BOOTTIME) - began_ns;
  return now_ns(CLOCK_REALTIME) - age_ns <= unix_ns + second;  // of which clocks may be apart
}

}  // namespace mallard::journal
