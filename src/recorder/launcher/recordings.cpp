#include "recorder/launcher/recordings.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "journal/drain/spool_copy.hpp"
#include "journal/events/event_source.hpp"
#include "mallard/journal/layout.hpp"
#include "recorder/launcher/message.hpp"
#include "recorder/launcher/process_metadata.hpp"
#include "recorder/launcher/process_watch.hpp"

namespace mallard::recorder {
namespace fs = std::filesystem;

// A child's recording, and its process.
struct recordings::child_recording {
  child_recording(const std::string& path, std::unique_ptr<spool_file> spool, journal::metadata about,
                  const clock_rate& clock, std::atomic<std::uint32_t>& heartbeat, unsigned usage_interval_ms)
      : parent(static_cast<pid_t>(about.parent_process)),
        begin(spool->header()->start_ticks),
        process(static_cast<pid_t>(about.process)),
        what(path, std::move(spool), std::move(about), clock, heartbeat, usage_interval_ms) {}

  pid_t parent;
  std::uint64_t begin;  // ticks of the clock
  process_watch process;
  recording what;
  bool is_new = true;  // its predecessor has not been looked for yet
  bool over = false;   // its process was, when this round began
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

// The name of a child's journal or spool: PID or PID.NUMBER, with the suffix of a spool or without.
bool is_childs(const std::string& name) {
  const std::string stem = name.ends_with(journal::spool_suffix)
                               ? name.substr(0, name.size() - (sizeof journal::spool_suffix - 1))
                               : name;
  return !stem.empty() && stem.find_first_not_of("0123456789.") == std::string::npos;
}

// Also empty if the folder cannot be read; `problem` says why.
std::vector<std::string> names_in(const std::string& folder, std::error_code& problem) {
  std::vector<std::string> names;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem))
    if (std::string name = entry->path().filename().string(); is_childs(name))
      names.push_back(std::move(name));
  return names;
}

// Whether a recording made the file: the user may have one of that name.
bool is_ours(const fs::path& path) {
  std::error_code unknown;
  if (!fs::is_regular_file(fs::symlink_status(path, unknown))) return false;
  if (journal::spool_copy::is_spool(path)) return true;
  std::array<unsigned char, journal::file_magic.size()> magic{};
  std::ifstream file(path, std::ios::binary);
  return file.read(reinterpret_cast<char*>(magic.data()), magic.size()) && magic == journal::file_magic;
}

void remove_children(const std::string& folder) {
  std::error_code ignored;
  for (const std::string& name : names_in(folder, ignored))
    if (const fs::path path = fs::path(folder) / name; is_ours(path)) fs::remove(path, ignored);
  fs::remove(folder, ignored);
}

// Whether opening failed for lack of something that may be freed later, and not because there is no spool
// yet.
bool may_succeed_later(const std::error_code& problem) {
  const int reason = problem.value();
  return reason == EMFILE || reason == ENFILE || reason == ENOMEM;
}

}  // namespace

std::string journal_path(const record_options& chosen, pid_t process) {
  return chosen.output.empty() ? "mallard." + std::to_string(process) + ".mlrd" : chosen.output;
}

std::string spool_path(const record_options& chosen, pid_t process) {
  return fs::absolute(journal_path(chosen, process)).string() + journal::spool_suffix;
}

recordings::recordings(const record_options& chosen, const program_file& program, pid_t process)
    : folder_(journal_path(chosen, process) + journal::children_suffix),
      usage_interval_ms_(chosen.usage_interval_ms) {
  journal::metadata about = describe_root(chosen, program, process);
  auto spool =
      std::make_unique<spool_file>(spool_path(chosen, process), chosen.recorded, clock_.start_ticks());
  spool->header()->start_unix_ns = about.start_unix_ns;
  std::atomic<std::uint32_t>& heartbeat = spool->header()->heartbeat;
  root_ = std::make_unique<recording>(journal_path(chosen, process), std::move(spool), std::move(about),
                                      clock_, heartbeat, usage_interval_ms_);
  remove_children(folder_);
}

recordings::~recordings() = default;

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
  for (const auto& child : running_) child->over = child->process.is_over();
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
  const std::vector<std::string> names = names_in(folder_, problem);
  want_more_ = may_succeed_later(problem);
  for (const std::string& name : names)
    if (name.ends_with(journal::spool_suffix)) open(name);
  std::sort(running_.begin(), running_.end(),
            [](const auto& a, const auto& b) { return a->begin < b->begin; });
  for (const auto& child : running_) {
    if (!std::exchange(child->is_new, false)) continue;
    const recording& parent = parent_of(*child);
    if (parent.process() == child->what.process()) child->what.succeed(parent.state().end_cpu_ns);
  }
}

// Of one process, only the latest program still runs. A recording whose journal has to name a child that has
// just begun waits for the child's first events.
void recordings::finish_those_over() {
  bool any = false;
  for (std::size_t i = 0; i < running_.size(); ++i) {
    child_recording& one = *running_[i];
    const auto later = running_.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    const auto has_later = [&](auto&& holds) {
      return std::any_of(later, running_.end(), [&](const auto& other) { return holds(*other); });
    };
    one.over = one.over || (one.what.state().replaced != 0 && has_later([&](const child_recording& other) {
                              return other.what.process() == one.what.process();
                            }));
    one.finished = one.over && !has_later([&](const child_recording& other) {
                     return !other.named && other.parent == one.what.process();
                   });
    if (one.finished) finish(one);
    any = any || one.finished;
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
    if (problem.code() == std::errc::no_buffer_space) root_->spool().header()->children_lost.fetch_add(1);
  } catch (const journal::error& problem) {
    print_message("cannot write " + journal + ": " + problem.what());
  }
}

// The latest recording of its parent that began before it; the root's if that one has ended. A program that
// replaced another by exec is that one's child.
recording& recordings::parent_of(const child_recording& what) {
  const auto found = std::find_if(running_.rbegin(), running_.rend(), [&](const auto& other) {
    return other->begin < what.begin && other->what.process() == what.parent;
  });
  return found == running_.rend() ? *root_ : (*found)->what;
}

void recordings::add_to_parent(child_recording& what) {
  recording& parent = parent_of(what);
  const fs::path path = what.what.path();
  const std::string journal = &parent == root_.get()
                                  ? (path.parent_path().filename() / path.filename()).string()
                                  : path.filename().string();
  written(parent, "", [&] { parent.add_child(what.what.process(), what.begin, journal); });
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

void recordings::add_to_totals(const recording& child) {
  totals& all = children_totals_;
  ++all.journals;
  all.events += child.events_in_file();
  all.damaged = all.damaged || child.damaged();
  if (all.deep_bound.empty()) all.deep_bound = child.deep_bound();
  if (all.shortfall.empty() && !child.shortfall().empty())
    all.shortfall = child.path() + ": " + child.shortfall();
}

void recordings::finish(const ending& end) {
  read();
  read();  // recordings that waited for children
  std::for_each(running_.rbegin(), running_.rend(),
                [this](const auto& child) {  // parents after their children
                  child->process.is_over() ? finish(*child) : leave(*child);
                });
  running_.clear();
  root_->spool().header()->left_alone = 1;
  if (root_->state().stopped == 0) written(*root_, "", [&] { root_->finish(end); });
  std::error_code not_empty;
  fs::remove(folder_, not_empty);
}

}  // namespace mallard::recorder
