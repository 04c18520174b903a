#include "recorder/launcher/recording.hpp"

#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "recorder/clock.hpp"
#include "recorder/launcher/version.hpp"

namespace mallard::recorder {
namespace {

constexpr double publication_slack = 50e-6;  // s: far longer than a store takes to reach the other cores

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
  about.facts["stack"] = name_of(chosen.recorded.stacks);
  return about;
}

// CPU time of a process that may be gone: then 0.
std::uint64_t cpu_ns_of(pid_t process) noexcept {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(used.tv_nsec);
}

std::int64_t in_ns(const timeval& t) noexcept {
  return std::int64_t{t.tv_sec} * 1'000'000'000 + std::int64_t{t.tv_usec} * 1000;
}

}  // namespace

std::string journal_path(const options& chosen, pid_t process) {
  return chosen.output.empty() ? "mallard." + std::to_string(process) + ".mlrd" : chosen.output;
}

std::string spool_path(const options& chosen, pid_t process) {
  return std::filesystem::absolute(journal_path(chosen, process)).string() + journal::spool_suffix;
}

recording::recording(const options& chosen, const program_file& program, pid_t process)
    : process_(process),
      spool_(spool_path(chosen, process), chosen.recorded, rate_.start_ticks()),
      about_(describe_start(chosen, program, process)),
      out_(journal_path(chosen, process)),
      modules_(spool_.header(), out_, process, about_.program),
      receiver_{&out_, &modules_},
      rings_(spool_.header(), chosen.recorded.ring_words, receiver_) {
  about_.ticks_per_second = rate_.ticks_per_second();
  spool_.header()->start_unix_ns = about_.start_unix_ns;
  spool_.header()->ticks_per_second = about_.ticks_per_second;
  out_.describe(about_);
  out_.on_commit([this](std::uint64_t size_after) { announce(size_after); }, [this] { give_back(); });
}

std::uint32_t recording::receiver::frame(std::uint32_t parent, std::uint64_t return_address,
                                         std::uint64_t stack_offset) {
  modules->note_caller(return_address);
  const std::uint32_t context = out->intern_context(parent, return_address);
  if (stack_offset != 0) out->set_stack_offset(context, stack_offset);
  return context;
}

std::uint64_t recording::read() {
  const std::uint64_t now = ticks() - rate_.start_ticks();
  const auto slack = static_cast<std::uint64_t>(publication_slack * about_.ticks_per_second);
  const std::uint64_t half_a_ring = spool_.header()->options.ring_words / 2;
  const std::uint64_t taken = rings_.collect(now > slack ? now - slack : 0, half_a_ring);
  modules_.update(now, about_.ticks_per_second);
  take_sample(now);
  if (rings_.holds(half_a_ring) || modules_.list().bytes_held() > journal::module_ring_bytes / 2) commit();
  return taken;
}

// Writes what was read, and gives the room in the spool back. Records that are no events need no chunk.
void recording::commit() {
  out_.flush();
  announce(out_.bytes_written());
  give_back();
}

void recording::announce(std::uint64_t size_after) {
  modules_.list().announce();
  rings_.announce(out_.bytes_written(), size_after, out_.events());
}

void recording::give_back() {
  rings_.give_back();
  modules_.list().give_back();
}

// Once a second notes the account so far, if anything has happened: it outlives a launcher that is killed.
void recording::take_sample(std::uint64_t now) {
  const auto second = static_cast<std::uint64_t>(about_.ticks_per_second);
  if (now < sampled_ + second || out_.events() == sampled_events_) return;
  sampled_ = now;
  sampled_events_ = out_.events();
  about_.ticks_per_second = rate_.ticks_per_second();
  spool_.header()->ticks_per_second = about_.ticks_per_second;
  out_.add_usage(usage_at(now, cpu_ns_of(process_)));
  commit();
}

journal::usage_sample recording::usage_at(std::uint64_t now, std::uint64_t cpu_ns) const noexcept {
  const auto to_ns = [this](std::uint64_t t) {
    return static_cast<std::uint64_t>(static_cast<double>(t) * 1e9 / about_.ticks_per_second);
  };
  return {.time = now,
          .cpu_ns = cpu_ns,
          .recording_ns = to_ns(sum(&journal::ring_reader::sampled_ticks) * journal::timed_every),
          .stalls = sum(&journal::ring_reader::stalls),
          .stalled_ns = to_ns(sum(&journal::ring_reader::stalled_ticks))};
}

std::uint64_t recording::sum(std::uint64_t (journal::ring_reader::*account)() const noexcept) const noexcept {
  std::uint64_t total = 0;
  for (const journal::ring_reader& ring : rings_.rings()) total += (ring.*account)();
  return total;
}

void recording::finish(const ending& end) {
  rings_.collect(UINT64_MAX);
  modules_.update(ticks() - rate_.start_ticks(), rate_.ticks_per_second());
  about_.ticks_per_second = rate_.ticks_per_second();
  const std::int64_t cpu_ns = in_ns(end.usage.ru_utime) + in_ns(end.usage.ru_stime);
  const journal::usage_sample total =
      usage_at(ticks() - rate_.start_ticks(), static_cast<std::uint64_t>(cpu_ns));
  out_.add_usage(total);
  about_.figures["cpu_ns"] = cpu_ns;
  about_.figures["recording_ns"] = static_cast<std::int64_t>(total.recording_ns);
  about_.figures["exit_code"] = end.status;
  about_.figures["signal"] = end.signal;
  about_.figures["stalls"] = static_cast<std::int64_t>(total.stalls);
  out_.describe(about_);
  out_.finish();
}

}  // namespace mallard::recorder
