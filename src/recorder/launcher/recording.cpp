#include "recorder/launcher/recording.hpp"

#include <signal.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "journal/drain/spool_contexts.hpp"
#include "recorder/clock.hpp"

namespace mallard::recorder {
namespace {

constexpr double publication_slack = 50e-6;  // s: far longer than a store takes to reach the other cores
constexpr double longest_timing = 20e-3;     // s: how long a free that is being timed is waited for

std::string name_of_call(std::uint32_t number) {
  switch (number) {
    case SYS_rt_sigprocmask:
      return "rt_sigprocmask";
    case SYS_futex:
      return "futex";
    case SYS_nanosleep:
      return "nanosleep";
    case SYS_mmap:
      return "mmap";
    case SYS_mremap:
      return "mremap";
    case SYS_gettid:
      return "gettid";
    case SYS_clock_gettime:
      return "clock_gettime";
    default:
      return "number " + std::to_string(number);
  }
}

constexpr char without_filter[] = "; unrecorded, the program goes on: record it without its filter";

// Whether the program died of what the recorder did in it; empty if not.
std::string find_own_fault(const journal::spool_header& spool, const ending& end) {
  const bool in_a_call = spool.open_calls != 0;
  if (end.strict && (end.signal == SIGSEGV || (end.signal == SIGKILL && in_a_call)))
    return "the recorder has ended the program, which entered seccomp's strict mode by a call that the "
           "recorder does not see" +
           std::string(without_filter);
  if (end.signal == SIGSYS && in_a_call)
    return "the recorder has ended the program: a seccomp filter forbids its system call " +
           name_of_call(spool.latest_call) + without_filter;
  return {};
}

// What a recording lacks of its program's run, in one line for the user and for the journal: by the spool as
// the program has left it; `end` is empty if it is not known how the program ended. Empty if the recording
// lacks nothing.
std::string find_shortfall(const journal::spool_header& spool, const std::optional<ending>& end) {
  if (end) {
    if (std::string fault = find_own_fault(spool, *end); !fault.empty()) return fault;
  }
  if (spool.limited == journal::limitation::strict_mode)
    return "recording ends where the program limited its system calls (seccomp's strict mode)";
  if (spool.limited == journal::limitation::clock)
    return "recording ends where the program gave up reading the clock (PR_SET_TSC)";
  if (spool.gave_up != 0)
    return "recording ended early: the program waited for half a minute in which the recorder read nothing";
  if (spool.contexts_wanting != 0)
    return std::to_string(spool.contexts_wanting) +
           " times there was no room for a stack, or /proc/self/maps did not say where it ends; events there "
           "have none, or a part of it";
  return {};
}

// Which part of the program allocates past the recorder, as the spool knows it so far. Empty if none does.
std::string find_unseen(journal::spool_header& spool) {
  if (spool.bypassed != 0)
    return "the program is linked with a malloc of its own; what that allocates is not recorded";
  if (const std::uint64_t place = spool.deep_bound; place != 0)
    return std::string(journal::name_in(&spool, place)) +
           " was opened with RTLD_DEEPBIND; its allocations are not recorded";
  return {};
}

}  // namespace

void snapshot_table::flush() {
  if (rows_.empty()) return;
  std::vector<const row*> order;
  order.reserve(rows_.size());
  for (const row& each : rows_) order.push_back(&each);
  std::ranges::sort(order, {}, [](const row* r) { return std::pair(r->context, r->words[0]); });
  table_.rows = rows_.size();
  for (std::size_t i = 0; i < table_.columns.size(); ++i) {
    auto& numbers = std::get<std::vector<std::uint64_t>>(table_.columns[i].values);
    numbers.clear();
    for (const row* const r : order) numbers.push_back(r->words[i]);
  }
  out_->add_table(table_);
  rows_.clear();
}

recording::recording(const std::string& path, std::unique_ptr<spool_file> spool, journal::metadata about,
                     const clock_rate& clock, std::atomic<std::uint32_t>& heartbeat,
                     unsigned usage_interval_ms)
    : process_(static_cast<pid_t>(about.process)),
      is_visible_(spool->header()->number == 0 ||
                  (spool->header()->pid_namespace != 0 &&
                   spool->header()->pid_namespace == journal::own_pid_namespace())),
      rate_(&clock),
      heartbeat_(&heartbeat),
      path_(path),
      spool_(std::move(spool)),
      start_ticks_(spool_->header()->start_ticks),
      about_(std::move(about)),
      out_(path),
      modules_(spool_->header(), out_, is_visible_ ? process_ : 0, about_),
      snapshots_(out_),
      receiver_{&out_, &modules_, &snapshots_},
      rings_(spool_->header(), spool_->options(), receiver_),
      usage_interval_ms_(usage_interval_ms) {
  about_.ticks_per_second = rate_->ticks_per_second();
  spool_->header()->ticks_per_second = about_.ticks_per_second;
  out_.describe(about_);
  out_.on_commit([this](std::uint64_t size_after) { announce(size_after); }, [this] { give_back(); });
}

std::uint32_t recording::receiver::frame(std::uint32_t parent, std::uint64_t return_address,
                                         std::uint64_t stack_offset, std::uint64_t time) {
  const std::uint32_t generation = modules->add_caller(return_address, time);
  const std::uint32_t context = out->intern_context(parent, return_address, generation);
  if (stack_offset != 0) out->set_stack_offset(context, stack_offset);
  return context;
}

std::uint64_t recording::read() {
  const std::uint64_t now = this->now();
  const auto before = [&](double seconds) {
    const auto back = static_cast<std::uint64_t>(seconds * about_.ticks_per_second);
    return now > back ? now - back : 0;
  };
  const std::uint64_t half_a_ring = spool_->options().ring_words / 2;
  const std::uint64_t taken =
      rings_.collect(before(publication_slack), half_a_ring, UINT64_MAX, before(longest_timing));
  modules_.update(now, about_.ticks_per_second);
  if (damaged()) spool_->header()->left_alone = 1;
  if (is_visible_) cpu_seen_ = std::max(cpu_seen_, cpu_ns_of(process_));
  take_sample(now);
  if (rings_.holds(half_a_ring) || modules_.list().bytes_held() > journal::module_ring_bytes / 2) commit();
  beat();
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
  beat();
}

// Writes the account so far from time to time, if anything has happened: it outlives a launcher that is
// killed.
void recording::take_sample(std::uint64_t now) {
  const auto interval = static_cast<std::uint64_t>(about_.ticks_per_second * usage_interval_ms_ / 1000);
  if (now < sampled_ + interval || out_.events() == sampled_events_) return;
  sampled_ = now;
  sampled_events_ = out_.events();
  about_.ticks_per_second = rate_->ticks_per_second();
  spool_->header()->ticks_per_second = about_.ticks_per_second;
  out_.add_usage(usage_at(now, cpu_ns()));
  commit();
}

journal::usage_sample recording::usage_at(std::uint64_t now, std::uint64_t cpu_ns) noexcept {
  const auto to_ns = [this](std::uint64_t t) {
    return static_cast<std::uint64_t>(static_cast<double>(t) * 1e9 / about_.ticks_per_second);
  };
  // Scaled up from samples on the clock, which go on while a thread has to wait for a processor: never more
  // than the whole.
  const std::uint64_t estimate = to_ns(sum(&journal::ring_reader::sampled_ticks) * journal::timed_every);
  // A process that ends reads its clock and stores the time a moment later: a row written in between is later
  // than what it stores.
  cpu_ns = std::max(usage_.cpu_ns, cpu_ns);
  // The rate of the clock is estimated anew each time, so the same ticks may give fewer ns than before.
  usage_ = {.time = now,
            .cpu_ns = cpu_ns,
            .recording_ns = std::min(std::max(usage_.recording_ns, estimate), cpu_ns),
            .stalls = sum(&journal::ring_reader::stalls),
            .stalled_ns = std::max(usage_.stalled_ns, to_ns(sum(&journal::ring_reader::stalled_ticks)))};
  return usage_;
}

std::uint64_t recording::sum(std::uint64_t (journal::ring_reader::*account)() const noexcept) const noexcept {
  std::uint64_t total = 0;
  for (const journal::ring_reader& ring : rings_.rings()) total += (ring.*account)();
  return total;
}

std::uint64_t recording::now() const noexcept { return time_of(ticks()); }

std::uint64_t recording::cpu_ns() const noexcept {
  const std::uint64_t in_spool = state().end_cpu_ns;
  const std::uint64_t whole = in_spool != 0 ? in_spool : cpu_seen_;
  return whole > cpu_before_ ? whole - cpu_before_ : 0;
}

bool recording::is_gone() const noexcept { return is_visible_ && kill(process_, 0) != 0 && errno == ESRCH; }

std::string recording::unseen() const { return find_unseen(*spool_->header()); }

void recording::leave() {
  read();
  snapshots_.flush();
  out_.add_usage(usage_at(now(), cpu_ns()));
  commit();
  spool_->leave();
  beat();
}

void recording::finish(const std::optional<ending>& end) {
  if (end && state().replaced == 0) cpu_seen_ = end->cpu_ns;
  rings_.collect(UINT64_MAX);
  modules_.update(now(), rate_->ticks_per_second());
  about_.ticks_per_second = rate_->ticks_per_second();
  const journal::usage_sample total = usage_at(now(), cpu_ns());
  snapshots_.flush();
  out_.add_usage(total);
  about_.figures["cpu_ns"] = static_cast<std::int64_t>(total.cpu_ns);
  about_.figures["recording_ns"] = static_cast<std::int64_t>(total.recording_ns);
  about_.figures["stalls"] = static_cast<std::int64_t>(total.stalls);
  if (const std::uint64_t peak = state().peak_rss; peak != 0)
    about_.figures["program_peak_rss"] = static_cast<std::int64_t>(peak);
  if (end) {
    about_.figures["exit_code"] = end->status;
    about_.figures["signal"] = end->signal;
  }
  shortfall_ = find_shortfall(state(), end);
  if (!shortfall_.empty()) about_.facts[journal::incomplete_fact] = shortfall_;
  if (const std::string part = unseen(); !part.empty()) about_.facts[journal::unseen_fact] = part;
  out_.describe(about_);
  out_.finish();
  beat();
}

}  // namespace mallard::recorder
