#include "recorder/launcher/recordings.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "journal/drain/spool_description.hpp"
#include "journal/events/event_source.hpp"
#include "recorder/launcher/recording_files.hpp"

namespace mallard::recorder {
namespace fs = std::filesystem;

// A child's recording, and its process.
struct recordings::child_recording {
  child_recording(const std::string& path, std::unique_ptr<spool_file> spool, journal::metadata about,
                  const clock_rate& clock, std::atomic<std::uint32_t>& heartbeat, unsigned usage_interval_ms)
      : number(spool->header()->number),
        parent(spool->header()->parent_number),
        begin(spool->header()->start_ticks),
        what(path, std::move(spool), std::move(about), clock, heartbeat, usage_interval_ms) {}

  std::uint32_t number;
  std::uint32_t parent;  // the number of the recording that its process, or the parent of that, had
  std::uint64_t begin;   // ticks of the clock
  recording what;
  bool is_new = true;  // its predecessor has not been looked for yet
  bool over = false;   // its process had ended, or begun to be another program, when this round began
  bool named = false;  // in its parent's journal
  bool finished = false;
};

namespace {

// Does `step`; if the journal cannot be written, tells the user and returns false.
template <class Step>
bool written(const recording& what, const char* consequence, const Step& step) {
  try {
    step();
    return true;
  } catch (const journal::error& problem) {
    print_message("cannot write " + what.path() + ": " + problem.what() + consequence);
    return false;
  }
}

// Whether opening failed for lack of something that may be freed later, and not because there is no spool
// yet.
bool may_succeed_later(const std::error_code& problem) {
  const int reason = problem.value();
  return reason == EMFILE || reason == ENFILE || reason == ENOMEM;
}

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

// Of the program that mallard-record starts.
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

// Of a child, as it says itself in its spool.
journal::metadata describe_child(journal::spool_header* spool) {
  journal::metadata about = journal::describe_process(spool);
  about.facts = describe_recording(spool->options.stacks).facts;
  return about;
}

}  // namespace

recordings::recordings(const record_options& chosen, const program_file& program, pid_t process)
    : folder_(journal_path(chosen, process) + journal::children_suffix),
      usage_interval_ms_(chosen.usage_interval_ms) {
  journal::metadata about = describe_root(chosen, program, process);
  auto spool =
      std::make_unique<spool_file>(spool_path(chosen, process), chosen.recorded, clock_.start_ticks());
  spool->header()->start_unix_ns = about.start_unix_ns;
  std::atomic<std::uint32_t>& heartbeat = spool->header()->heartbeat;
  const std::string path = journal_path(chosen, process);
  require_replaceable(path);
  while (!spool->publish()) put_aside_with_spool(path, spool->path());
  put_aside(path);
  root_ = std::make_unique<recording>(path, std::move(spool), std::move(about), clock_, heartbeat,
                                      usage_interval_ms_);
  lock_ = std::make_unique<reader_lock>(root_->spool().header()->reader);
}

recordings::~recordings() {
  if (root_) root_->spool().header()->left_alone = 1;  // those that nobody has met wait for nobody
}

// Reads a recording that still goes on; false if it ends here.
bool recordings::read_one(recording& what, std::uint64_t& taken) {
  if (what.state().stopped != 0) return false;
  const bool good =
      written(what, "; recording ends here, the program goes on", [&] { taken += what.read(); });
  if (!good) what.spool().header()->stopped = 1;
  what.spool().prepare();
  return good;
}

std::uint64_t recordings::read() {
  for (const auto& child : running_) child->over = !child->what.spool().has_writer();
  find_new();
  std::uint64_t taken = 0;
  read_one(*root_, taken);
  for (const auto& child : running_) {
    read_one(child->what, taken);
    if (!child->named && child->what.events() != 0) add_to_parent(*child);
  }
  finish_those_over();
  root_->spool().header()->heartbeat.fetch_add(1);
  return taken;
}

// A spool is ready before it is announced: one that is not ready yet will still be announced.
void recordings::find_new() {
  const std::uint32_t announced = root_->state().announced;
  if (announced == seen_ && !want_more_) return;
  seen_ = announced;
  std::error_code problem;
  const std::vector<std::string> names = names_of_children(folder_, problem);
  want_more_ = may_succeed_later(problem);
  for (const std::string& name : names)
    if (name.ends_with(journal::spool_suffix)) open(name);
  std::sort(running_.begin(), running_.end(),
            [](const auto& a, const auto& b) { return a->begin < b->begin; });
  for (const auto& child : running_) {
    if (!std::exchange(child->is_new, false)) continue;
    const recording& parent = parent_of(*child);
    const bool is_successor = parent.state().replaced != 0 && parent.process() == child->what.process() &&
                              parent.state().pid_namespace == child->what.state().pid_namespace;
    if (is_successor) child->what.succeed(parent.state().end_cpu_ns);
  }
}

// A process that has become another program keeps its recording open until that has begun its own, which the
// journal has to name. So does one that has to name a child that has just begun, until the child's first
// events.
void recordings::finish_those_over() {
  bool any = false;
  for (const auto& one : running_) {
    if (!one->over) continue;
    bool has_successor = false;
    bool has_to_wait = false;
    for (const auto& other : running_) {
      if (other->parent != one->number || other == one) continue;
      has_successor = has_successor || other->what.process() == one->what.process();
      has_to_wait = has_to_wait || !other->named;
    }
    one->finished = !has_to_wait && (one->what.state().replaced == 0 || has_successor || one->what.is_gone());
    if (one->finished) finish(*one);
    any = any || one->finished;
  }
  if (any)
    std::erase_if(running_, [&](const auto& child) {
      return child->finished && followed_.erase(child->what.path()) != 0;
    });
}

// Begins to follow a spool, unless it is being followed or is not ready.
void recordings::open(const std::string& name) {
  const std::string path = folder_ + "/" + name;
  const std::string journal = path.substr(0, path.size() - (sizeof journal::spool_suffix - 1));
  if (followed_.contains(journal)) return;
  try {
    auto spool = std::make_unique<spool_file>(path);
    journal::metadata about = describe_child(spool->header());
    running_.push_back(std::make_unique<child_recording>(journal, std::move(spool), std::move(about), clock_,
                                                         root_->spool().header()->heartbeat,
                                                         usage_interval_ms_));
    followed_.insert(journal);
  } catch (const std::system_error& problem) {
    want_more_ = want_more_ || may_succeed_later(problem.code());
    unread_ += problem.code() == std::errc::no_buffer_space ? 1u : 0u;
  } catch (const journal::error& problem) {
    print_message("cannot write " + journal + ": " + problem.what());
  }
}

// The root's if that of its parent has ended. A program that replaced another by exec is that one's child.
recording& recordings::parent_of(const child_recording& what) {
  const auto found = std::find_if(running_.begin(), running_.end(),
                                  [&](const auto& other) { return other->number == what.parent; });
  return found == running_.end() ? *root_ : (*found)->what;
}

void recordings::add_to_parent(child_recording& what) {
  recording& parent = parent_of(what);
  const fs::path path = what.what.path();
  const std::string journal = &parent == root_.get()
                                  ? (path.parent_path().filename() / path.filename()).string()
                                  : path.filename().string();
  written(parent, "", [&] {
    parent.add_child({.process = static_cast<std::uint64_t>(what.what.process()),
                      .time = parent.time_of(what.begin),
                      .journal = journal});
  });
  what.named = true;
}

void recordings::finish(child_recording& what) {
  if (what.what.state().stopped == 0) written(what.what, "", [&] { what.what.finish(std::nullopt); });
  if (what.what.events() == 0) {
    children_totals_.damaged = children_totals_.damaged || what.what.damaged();
    std::error_code ignored;
    fs::remove(what.what.path(), ignored);
    return;
  }
  if (!what.named) add_to_parent(what);
  add_to_totals(what.what);
}

void recordings::leave(child_recording& what) {
  if (what.what.state().stopped == 0) written(what.what, "", [&] { what.what.leave(); });
  if (!what.named) add_to_parent(what);
  ++children_totals_.left;
  add_to_totals(what.what);
}

std::vector<journal::child_info> recordings::unrecorded() const {
  std::vector<journal::child_info> programs = journal::unrecorded_programs(root_->spool().header());
  if (unread_ != 0)
    programs.push_back({.program = "a child",
                        .reason = "mallard-record has no address space left to read its spool (ulimit -v)",
                        .processes = unread_});
  return programs;
}

void recordings::add_to_totals(const recording& child) {
  totals& all = children_totals_;
  ++all.journals;
  all.events += child.events_in_file();
  all.damaged = all.damaged || child.damaged();
  if (all.unseen.empty() && !child.unseen().empty()) all.unseen = child.path() + ": " + child.unseen();
  if (all.shortfall.empty() && !child.shortfall().empty())
    all.shortfall = child.path() + ": " + child.shortfall();
}

void recordings::finish(const ending& end) {
  read();
  read();  // recordings that waited for children
  std::for_each(running_.rbegin(), running_.rend(),
                [this](const auto& child) {  // parents after their children
                  child->what.spool().has_writer() ? leave(*child) : finish(*child);
                });
  running_.clear();
  root_->spool().header()->left_alone = 1;
  for (const journal::child_info& program : unrecorded())
    written(*root_, "", [&] { root_->add_child(program); });
  if (root_->state().stopped == 0) written(*root_, "", [&] { root_->finish(end); });
  std::error_code not_empty;
  fs::remove(folder_, not_empty);
}

}  // namespace mallard::recorder
