#include "recorder/launcher/recording.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "recorder/clock.hpp"
#include "recorder/launcher/version.hpp"

namespace mallard::recorder {
namespace {

constexpr double publication_slack = 50e-6;  // s: far longer than a store takes to reach the other cores

// What is known of the process before it runs.
journal::metadata describe_start(const options& chosen, const program_file& program, pid_t process) {
  using namespace std::chrono;
  journal::metadata about;
  about.program = std::filesystem::absolute(program.culprit).string();
  about.arguments = chosen.command;
  about.directory = std::filesystem::current_path().string();
  about.process = static_cast<std::uint64_t>(process);
  about.parent_process = static_cast<std::uint64_t>(getpid());
  about.start_unix_ns =
      static_cast<std::uint64_t>(duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count());
  utsname system{};
  if (uname(&system) == 0) {
    about.facts["kernel"] = std::string(system.sysname) + " " + system.release;
    about.facts["architecture"] = system.machine;
  }
  about.facts["recorder"] = recorder_version;
  about.facts["stack"] = "caller";
  return about;
}

std::int64_t to_ns(const timeval& t) noexcept {
  return std::int64_t{t.tv_sec} * 1'000'000'000 + std::int64_t{t.tv_usec} * 1000;
}

}  // namespace

std::string journal_path(const options& chosen, pid_t process) {
  return chosen.output.empty() ? "mallard." + std::to_string(process) + ".mlrd" : chosen.output;
}

std::string spool_path(const options& chosen, pid_t process) {
  return std::filesystem::absolute(journal_path(chosen, process)).string() + ".spool";
}

recording::recording(const options& chosen, const program_file& program, pid_t process)
    : spool_(spool_path(chosen, process), {chosen.ring_bytes, rate_.start_ticks(), chosen.free_stacks}),
      about_(describe_start(chosen, program, process)),
      out_(journal_path(chosen, process)),
      modules_(spool_.header(), out_, process, about_.program),
      collector_(spool_.header(), out_, modules_) {
  about_.ticks_per_second = rate_.ticks_per_second();
  out_.describe(about_);
}

std::uint64_t recording::read() {
  const std::uint64_t now = ticks() - rate_.start_ticks();
  const auto slack = static_cast<std::uint64_t>(publication_slack * about_.ticks_per_second);
  const std::uint64_t taken = collector_.collect(now > slack ? now - slack : 0);
  modules_.update(now, about_.ticks_per_second);
  return taken;
}

void recording::finish(const ending& end) {
  collector_.collect(UINT64_MAX);
  collector_.finish();
  modules_.update(ticks() - rate_.start_ticks(), rate_.ticks_per_second());
  about_.ticks_per_second = rate_.ticks_per_second();
  const std::int64_t cpu_ns = to_ns(end.usage.ru_utime) + to_ns(end.usage.ru_stime);
  const double stalled_seconds = static_cast<double>(collector_.stalled_ticks()) / about_.ticks_per_second;
  out_.add_usage({.time = ticks() - rate_.start_ticks(),
                  .cpu_ns = static_cast<std::uint64_t>(cpu_ns),
                  .recording_ns = 0,
                  .stalls = collector_.stalls(),
                  .stalled_ns = static_cast<std::uint64_t>(stalled_seconds * 1e9)});
  about_.figures["cpu_ns"] = cpu_ns;
  about_.figures["exit_code"] = end.status;
  about_.figures["signal"] = end.signal;
  about_.figures["stalls"] = static_cast<std::int64_t>(collector_.stalls());
  out_.describe(about_);
  out_.finish();
}

}  // namespace mallard::recorder
