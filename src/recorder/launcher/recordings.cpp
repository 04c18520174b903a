#include "recorder/launcher/recordings.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "journal/event_source.hpp"
#include "recorder/launcher/description.hpp"
#include "recorder/launcher/tell.hpp"

namespace mallard::recorder {
namespace fs = std::filesystem;

// A child's recording, and its process.
class recordings::child_recording {
 public:
  child_recording(const std::string& path, std::unique_ptr<spool_file> spool, journal::metadata about,
                  const clock_rate& clock)
      : parent(static_cast<pid_t>(about.parent_process)),
        begin(spool->header()->start_ticks),
        process_file_(static_cast<int>(syscall(SYS_pidfd_open, about.process, 0))),
        what(path, std::move(spool), std::move(about), clock) {}
  ~child_recording() {
    if (process_file_ >= 0) close(process_file_);
  }
  child_recording(const child_recording&) = delete;
  child_recording& operator=(const child_recording&) = delete;

  [[nodiscard]] bool is_over() const {
    pollfd process{.fd = process_file_, .events = POLLIN, .revents = 0};
    return process_file_ < 0 || poll(&process, 1, 0) == 1;
  }

  pid_t parent;
  std::uint64_t begin;  // ticks of the clock
  bool over = false;    // its process was, when this round began
  bool noted = false;   // in its parent's journal
  bool finished = false;

 private:
  int process_file_;

 public:
  recording what;
};

namespace {

// Does `step`; false if the journal could not be written, which the user is told.
template <class Step>
bool written(const recording& what, const char* consequence, Step&& step) {
  try {
    step();
    return true;
  } catch (const journal::error& problem) {
    tell("cannot write " + what.path() + ": " + problem.what() + consequence);
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

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (fs::directory_iterator entry(folder, none), end; !none && entry != end; entry.increment(none))
    if (std::string name = entry->path().filename().string(); is_childs(name))
      names.push_back(std::move(name));
  return names;
}

void remove_children(const std::string& folder) {
  std::error_code ignored;
  for (const std::string& name : names_in(folder)) fs::remove(fs::path(folder) / name, ignored);
  fs::remove(folder, ignored);
}

}  // namespace

std::string journal_path(const options& chosen, pid_t process) {
  return chosen.output.empty() ? "mallard." + std::to_string(process) + ".mlrd" : chosen.output;
}

std::string spool_path(const options& chosen, pid_t process) {
  return fs::absolute(journal_path(chosen, process)).string() + journal::spool_suffix;
}

recordings::recordings(const options& chosen, const program_file& program, pid_t process)
    : folder_(journal_path(chosen, process) + journal::children_suffix) {
  remove_children(folder_);
  journal::metadata about = describe_root(chosen, program, process);
  auto spool =
      std::make_unique<spool_file>(spool_path(chosen, process), chosen.recorded, clock_.start_ticks());
  spool->header()->start_unix_ns = about.start_unix_ns;
  root_ =
      std::make_unique<recording>(journal_path(chosen, process), std::move(spool), std::move(about), clock_);
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
  for (const auto& child : running_) child->over = child->is_over();
  find_new();
  std::uint64_t taken = 0;
  read_one(*root_, taken);
  for (const auto& child : running_) {
    read_one(child->what, taken);
    if (!child->noted && child->what.events() != 0) note_in_parent(*child);
  }
  finish_those_over();
  root_->spool().header()->heartbeat.fetch_add(1);
  return taken;
}

void recordings::find_new() {
  const std::uint32_t announced = root_->state().announced;
  if (announced == seen_) return;
  bool all = true;
  for (const std::string& name : names_in(folder_))
    if (name.ends_with(journal::spool_suffix)) all = open(name) && all;
  std::sort(running_.begin(), running_.end(),
            [](const auto& a, const auto& b) { return a->begin < b->begin; });
  if (all) seen_ = announced;
}

// Of one process, only the latest program still runs. Whose journal is to name a child that has just begun,
// waits for its first events.
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
                     return !other.noted && other.parent == one.what.process();
                   });
    if (one.finished) finish(one);
    any = any || one.finished;
  }
  if (any) std::erase_if(running_, [](const auto& child) { return child->finished; });
}

// Begins to follow a spool, unless it is being followed; false if it is not ready.
bool recordings::open(const std::string& name) {
  const std::string path = folder_ + "/" + name;
  const std::string journal = path.substr(0, path.size() - (sizeof journal::spool_suffix - 1));
  for (const auto& child : running_)
    if (child->what.path() == journal) return true;
  try {
    auto spool = std::make_unique<spool_file>(path, root_->spool().ring_words());
    journal::metadata about = describe_child(spool->header());
    running_.push_back(
        std::make_unique<child_recording>(journal, std::move(spool), std::move(about), clock_));
  } catch (const std::system_error&) {
    return false;
  } catch (const journal::error& problem) {
    tell("cannot write " + journal + ": " + problem.what());
    return true;
  }
  return true;
}

// The latest recording of its parent that began before it; the root's if there is none any more. That of a
// program that took another one's place by exec is a child of that.
recording& recordings::parent_of(const child_recording& what) {
  const auto found = std::find_if(running_.rbegin(), running_.rend(), [&](const auto& other) {
    return other->begin < what.begin && other->what.process() == what.parent;
  });
  return found == running_.rend() ? *root_ : (*found)->what;
}

void recordings::note_in_parent(child_recording& what) {
  recording& parent = parent_of(what);
  const fs::path path = what.what.path();
  const std::string journal = &parent == root_.get()
                                  ? (path.parent_path().filename() / path.filename()).string()
                                  : path.filename().string();
  written(parent, "", [&] { parent.add_child(what.what.process(), what.begin, journal); });
  if (parent.process() == what.what.process()) what.what.succeed(parent.state().end_cpu_ns);
  what.noted = true;
}

void recordings::finish(child_recording& what) {
  if (what.what.state().stopped == 0) written(what.what, "", [&] { what.what.finish(std::nullopt); });
  children_totals_.damaged = children_totals_.damaged || what.what.damaged();
  if (what.what.events() == 0) {
    std::error_code ignored;
    fs::remove(what.what.path(), ignored);
    return;
  }
  if (!what.noted) note_in_parent(what);
  ++children_totals_.journals;
  children_totals_.events += what.what.events();
}

void recordings::leave(child_recording& what) {
  if (what.what.state().stopped == 0) written(what.what, "", [&] { what.what.leave(); });
  ++children_totals_.left;
  ++children_totals_.journals;
  children_totals_.events += what.what.events();
}

void recordings::finish(const ending& end) {
  read();
  read();  // what waited for its children
  for (const auto& child : running_) child->is_over() ? finish(*child) : leave(*child);
  running_.clear();
  root_->spool().header()->left_alone = 1;
  if (root_->state().stopped == 0) written(*root_, "", [&] { root_->finish(end); });
  std::error_code not_empty;
  fs::remove(folder_, not_empty);
}

}  // namespace mallard::recorder
