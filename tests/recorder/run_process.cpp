#include "recorder/run_process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <unordered_set>

#include "journal/open.hpp"

namespace mallard::test {
running::running(const std::vector<std::string>& command) {
  const std::string err_file = folder_ / "err";
  int in[2];
  int out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  process_ = fork();
  if (process_ == 0) {
    const int err = open(err_file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    dup2(in[0], 0);
    dup2(out[1], 1);
    dup2(err, 2);
    for (const int signal : {SIGINT, SIGQUIT, SIGHUP, SIGPIPE})
      std::signal(signal, SIG_DFL);  // ignored below a shell's "&", nohup, or a service's manager
    close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
    execvp(arguments[0], arguments.data());
    _exit(125);
  }
  close(in[0]);
  close(out[1]);
  input_ = in[1];
  output_ = out[0];
}

void running::wait_for_output(const std::string& text) {
  char buffer[4096];
  while (out_.find(text) == std::string::npos) {
    const ssize_t got = read(output_, buffer, sizeof buffer);
    if (got <= 0) return;
    out_.append(buffer, static_cast<std::size_t>(got));
  }
}

void running::wait_for_end() const {
  siginfo_t about{};
  waitid(P_PID, static_cast<id_t>(process_), &about, WEXITED | WNOWAIT);
}

void running::close_input() {
  if (input_ >= 0) close(input_);
  input_ = -1;
}

run_result running::finish() {
  close_input();
  char buffer[65536];
  for (ssize_t got = 0; (got = read(output_, buffer, sizeof buffer)) > 0;)
    out_.append(buffer, static_cast<std::size_t>(got));
  close(output_);
  int status = 0;
  waitpid(process_, &status, 0);
  run_result result;
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  result.out = out_;
  result.err = contents(folder_ / "err");
  return result;
}

run_result run(const std::vector<std::string>& command) { return running(command).finish(); }

pid_t child_of(pid_t process) {
  const std::string id = std::to_string(process);
  for (;;) {
    std::istringstream children(contents("/proc/" + id + "/task/" + id + "/children"));
    if (pid_t child = 0; children >> child) return child;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string recorder() { return MALLARD_RECORD; }

std::string preload_library() { return MALLARD_RECORD_PRELOAD; }

std::string target(const std::string& name) { return std::string(MALLARD_TARGETS) + "/" + name; }

std::vector<std::string> record_command(const std::filesystem::path& journal,
                                        const std::vector<std::string>& command,
                                        const std::vector<std::string>& options) {
  std::vector<std::string> whole = {recorder(), "-o", journal.string()};
  whole.insert(whole.end(), options.begin(), options.end());
  whole.push_back("--");
  whole.insert(whole.end(), command.begin(), command.end());
  return whole;
}

std::vector<std::string> with_preload(const std::string& library, const std::vector<std::string>& command) {
  std::vector<std::string> whole = {"env", "ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0",
                                    "LD_PRELOAD=" + library};
  whole.insert(whole.end(), command.begin(), command.end());
  return whole;
}

recorded read_journal(const std::filesystem::path& path) {
  const auto source = journal::open(path);
  recorded r;
  source->watch(journal::sections::snapshots,
                [&](const journal::table& rows) { r.snapshots.push_back(rows); });
  journal::event_batch batch;
  while (source->next(batch)) {
    for (std::size_t i = 0; i < batch.count(); ++i) {
      r.events.push_back({.kind = batch.kind[i],
                          .thread = batch.thread[i],
                          .context = batch.context[i],
                          .time = batch.time[i],
                          .address = batch.address[i],
                          .size = batch.size[i],
                          .alignment = batch.alignment[i],
                          .old_address = batch.old_address[i],
                          .region = batch.region[i],
                          .parent = batch.parent[i],
                          .duration = batch.duration[i]});
    }
  }
  r.tables = source->tables();
  r.about = source->about();
  r.complete = source->complete();
  return r;
}

std::map<event_kind, std::uint64_t> count_kinds(const recorded& r, std::uint64_t size) {
  std::map<event_kind, std::uint64_t> counts;
  for (const journal::event& e : r.events)
    if (size == 0 || e.size == size) ++counts[e.kind];
  return counts;
}

std::uint64_t count_contradictions(const recorded& r) {
  std::unordered_set<std::uint64_t> live;
  std::uint64_t found = 0;
  for (const journal::event& e : r.events) {
    const bool frees_old = e.old_address != 0 && (e.address != 0 || e.size == 0);
    if (frees_old) found += live.erase(e.old_address) == 0;
    if (is_free(e.kind))
      found += live.erase(e.address) == 0;
    else if (e.address != 0)
      found += !live.insert(e.address).second;
  }
  return found;
}

}  // namespace mallard::test
