// However a program ends, its output and exit code are its own, and what it did is in the journal.
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <thread>

#include "journal/spool/spool.hpp"
#include "recorder/run_process.hpp"

namespace mallard::test {
namespace {

class endings : public testing::Test {
 protected:
  run_result record(const std::string& pairs, const std::string& how,
                    const std::vector<std::string>& options = {}) {
    return run(record_command(journal_, {target("blocks"), "pairs", pairs, how}, options));
  }

  void expect_pairs(std::uint64_t pairs) {
    const recorded r = read_journal(journal_);
    EXPECT_EQ(count_kinds(r, 5555)[event_kind::malloc], pairs);
    EXPECT_EQ(count_contradictions(r), 0u);
    EXPECT_TRUE(r.complete);
  }

  // How a recorder ends that has a timer from before: the timer's signal, or 7 if the program is told.
  int status_with_timer(int us) {
    std::vector<std::string> command = {"perl", "-MTime::HiRes=ualarm", "-e",
                                        "ualarm shift; exec @ARGV or die", std::to_string(us)};
    const std::vector<std::string> recorder =
        record_command(journal_, {"perl", "-e", "$SIG{ALRM} = sub { exit 7 }; sleep 30"});
    command.insert(command.end(), recorder.begin(), recorder.end());
    return run(command).status;
  }

  scratch_folder folder_;
  std::filesystem::path journal_ = folder_ / "journal";
};

struct ending_case {
  const char* how;
  int status;
};

class every_ending : public endings, public testing::WithParamInterface<ending_case> {};

TEST_P(every_ending, keeps_the_exit_code_and_all_events) {
  EXPECT_EQ(record("20000", GetParam().how).status, GetParam().status);
  expect_pairs(20000);
}

INSTANTIATE_TEST_SUITE_P(, every_ending,
                         testing::Values(ending_case{"return", 5}, ending_case{"exit", 6},
                                         ending_case{"_exit", 7}, ending_case{"abort", 128 + SIGABRT},
                                         ending_case{"segv", 128 + SIGSEGV},
                                         ending_case{"kill", 128 + SIGKILL}),
                         [](const auto& one) { return std::string("by_") + one.param.how; });

TEST_F(endings, a_full_ring_waits_and_drops_nothing) {
  record("50000", "return", {"--buffer", "4096"});
  expect_pairs(50000);
  EXPECT_GT(read_journal(journal_).tables.usage.back().stalls, 0u);
}

TEST_F(endings, a_program_killed_from_outside_leaves_its_events) {
  running recorder(record_command(journal_, {target("blocks"), "pairs", "1000", "wait"}));
  recorder.wait_for_output("ready");
  kill(child_of(recorder.process()), SIGKILL);
  EXPECT_EQ(recorder.finish().status, 128 + SIGKILL);
  expect_pairs(1000);
}

TEST_F(endings, a_signal_to_the_recorder_is_passed_on_and_the_journal_completed) {
  running recorder(record_command(journal_, {target("blocks"), "pairs", "1000", "wait"}));
  recorder.wait_for_output("ready");
  kill(recorder.process(), SIGTERM);
  EXPECT_EQ(recorder.finish().status, 128 + SIGTERM);
  expect_pairs(1000);
}

TEST_F(endings, an_interrupt_that_the_program_survives_does_not_end_the_recorder) {
  running recorder(record_command(
      journal_,
      {"perl", "-e",
       "$|=1; $SIG{INT}=sub{$n++}; print qq(ready\\n); sleep 1 until $n; print qq(got it\\n); exit 4"}));
  recorder.wait_for_output("ready");
  kill(recorder.process(), SIGINT);
  const run_result result = recorder.finish();
  EXPECT_EQ(result.status, 4);
  EXPECT_EQ(result.out, "ready\ngot it\n");
  EXPECT_TRUE(read_journal(journal_).complete);
}

// A program that counts how often it is interrupted, until its input ends. Once it says "all", the recorder
// has passed on whatever reached it before the SIGUSR1. Perl runs a handler when the system call that it is
// in returns; of a signal just before the call it would not know in it, so no call lasts long.
class interrupts : public endings {
 protected:
  [[nodiscard]] std::vector<std::string> counting(const std::vector<std::string>& in_front = {}) const {
    const std::string program =
        "$|=1; $SIG{INT}=sub{ $n++; print qq(int\n) }; $SIG{USR1}=sub{ print qq(all\n) }; print qq(ready\n); "
        "vec($input, 0, 1) = 1; 1 until select($r = $input, undef, undef, 0.01) > 0; print qq($n in all\n)";
    std::vector<std::string> command = record_command(journal_, {"perl", "-e", program});
    command.insert(command.begin(), in_front.begin(), in_front.end());
    return command;
  }
};

TEST_F(interrupts, of_the_process_group_reach_the_program_once_and_do_not_stand_for_later_ones) {
  running recorder(counting({"setsid"}));
  recorder.wait_for_output("ready\n");
  kill(-recorder.process(), SIGINT);
  recorder.wait_for_output("ready\nint\n");
  kill(recorder.process(), SIGUSR1);
  recorder.wait_for_output("all\n");
  kill(recorder.process(), SIGINT);
  recorder.wait_for_output("all\nint\n");
  EXPECT_EQ(recorder.finish().out, "ready\nint\nall\nint\n2 in all\n");
}

TEST_F(interrupts, of_the_recorder_reach_the_program_once) {
  running recorder(counting());
  recorder.wait_for_output("ready\n");
  kill(recorder.process(), SIGINT);
  recorder.wait_for_output("int\n");
  EXPECT_EQ(recorder.finish().out, "ready\nint\n1 in all\n");
}

TEST_F(endings, signals_by_which_others_tell_the_program_something_reach_it) {
  const std::map<std::string, int> signals = {{"ALRM", SIGALRM},   {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF},
                                              {"IO", SIGIO},       {"PWR", SIGPWR},       {"HUP", SIGHUP},
                                              {"RTMIN", SIGRTMIN}, {"RTMAX", SIGRTMAX}};
  std::string names;
  for (const auto& [name, number] : signals) names += name + " ";
  const std::string program = "$|=1; for my $s (qw(" + names +
                              ")) { $SIG{$s} = sub { print qq(got $s\n) } } print qq(ready\n); "
                              "vec($input, 0, 1) = 1; 1 until select($r = $input, undef, undef, 0.01) > 0";
  running recorder(record_command(journal_, {"perl", "-e", program}));
  recorder.wait_for_output("ready\n");
  for (const auto& [name, number] : signals) {
    kill(recorder.process(), number);
    recorder.wait_for_output("got " + name + "\n");
  }
  EXPECT_EQ(recorder.finish().status, 0);
}

// Its time may be over before the recorder or the program is ready for it: then they get more.
TEST_F(endings, a_timer_that_was_set_before_the_recorder_began_reaches_the_program) {
  int status = 128 + SIGALRM;
  for (int us = 100'000; status == 128 + SIGALRM && us < 20'000'000; us *= 2) status = status_with_timer(us);
  EXPECT_EQ(status, 7);
}

TEST_F(endings, a_signal_at_an_early_moment_leaves_no_spool) {
  for (int us = 1000; us < 16'000; us += 500) {
    const int status = status_with_timer(us);
    EXPECT_TRUE(status == 128 + SIGALRM || status == 7) << status << " after " << us << " us";
    for (const auto& file : std::filesystem::directory_iterator(journal_.parent_path()))
      EXPECT_EQ(file.path().filename().string().find(".spool"), std::string::npos) << file << us << " us";
  }
}

TEST_F(endings, signals_while_the_journal_is_completed_do_no_harm) {
  running recorder(record_command(
      journal_, {"perl", "-e",
                 "$SIG{HUP} = 'IGNORE'; $|=1; print qq(ready\n); select(undef, undef, undef, 0.1); exit 7"}));
  recorder.wait_for_output("ready\n");
  for (siginfo_t ended{}; ended.si_pid == 0;) {
    kill(recorder.process(), SIGHUP);
    std::this_thread::sleep_for(std::chrono::microseconds(20));  // so that it has a turn between two of them
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(recorder.process()), &ended, WEXITED | WNOHANG | WNOWAIT), 0);
  }
  EXPECT_EQ(recorder.finish().status, 7);
  EXPECT_TRUE(read_journal(journal_).complete);
}

TEST_F(interrupts, by_the_terminal_reach_the_program_once) {
  std::vector<std::string> words = counting();
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int terminal = -1;
  const pid_t process = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (process == 0) {
    execvp(arguments[0], arguments.data());
    _exit(125);
  }
  std::string seen;
  const auto wait_for = [&](const std::string& text) {
    char buffer[1000];
    ssize_t got = 0;
    while (seen.find(text) == std::string::npos && (got = read(terminal, buffer, sizeof buffer)) > 0)
      seen.append(buffer, static_cast<std::size_t>(got));
  };
  wait_for("ready");
  ASSERT_EQ(write(terminal, "\x03", 1), 1);  // Ctrl-C
  wait_for("int\r");
  kill(process, SIGUSR1);
  wait_for("all\r");
  ASSERT_EQ(write(terminal, "\x04", 1), 1);  // Ctrl-D
  wait_for(" events, ");
  EXPECT_NE(seen.find("\n1 in all\r"), std::string::npos) << seen;
  close(terminal);
  waitpid(process, nullptr, 0);
}

TEST_F(endings, without_the_recorder_the_program_goes_on_and_warns_once) {
  running recorder(record_command(journal_, {target("blocks"), "goes_on"}, {"--buffer", "65536"}));
  recorder.wait_for_output("ready");
  kill(recorder.process(), SIGKILL);
  const run_result result = recorder.finish();  // once all output is closed: the program has ended too
  EXPECT_EQ(result.out, "ready\ndone\n");
  EXPECT_EQ(result.err, "mallard: recording ended, since mallard-record has died; the program goes on\n");
}

TEST_F(endings, a_recorder_that_was_stopped_goes_on_without_loss) {
  running recorder(record_command(journal_,
                                  {"perl", "-e", "$|=1; print qq(ready\n); push @x, qq(a$_) for 1..100000"},
                                  {"--buffer", "65536"}));
  recorder.wait_for_output("ready");
  kill(recorder.process(), SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  kill(recorder.process(), SIGCONT);
  const run_result result = recorder.finish();
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err.find("recording ended"), std::string::npos) << result.err;
  const recorded r = read_journal(journal_);
  EXPECT_TRUE(r.complete);
  EXPECT_GT(r.events.size(), 100'000u);
}

class jumps_to_deeper_calls : public endings, public testing::WithParamInterface<const char*> {};

TEST_P(jumps_to_deeper_calls, do_not_stop_the_recording) {
  const run_result result = run(with_preload(target("libother_malloc.so"),
                                             record_command(journal_, {target("jumps_deep"), GetParam()})));
  EXPECT_EQ(result.status, 0) << result.err;
  const recorded r = read_journal(journal_);
  auto deep = count_kinds(r, 6666);
  EXPECT_EQ(deep[event_kind::malloc] + deep[event_kind::new_], 1000u);
  auto interrupted = count_kinds(r, 16);
  const std::uint64_t events = interrupted[event_kind::malloc] + interrupted[event_kind::new_];
  const std::uint64_t returned = std::stoull(result.out);
  EXPECT_GE(events, returned);
  EXPECT_LE(events, returned + 200);  // jumps
}

INSTANTIATE_TEST_SUITE_P(, jumps_to_deeper_calls, testing::Values("malloc", "new"),
                         [](const auto& one) { return std::string("out_of_") + one.param; });

// A program that writes `bytes` bytes over its spool at `at`.
class overwriting : public endings {
 protected:
  void expect_end(std::size_t at, std::size_t bytes) {
    const run_result result =
        run(record_command(journal_,
                           {target("overwrites"), std::to_string(offsetof(journal::spool_header, heartbeat)),
                            std::to_string(at), std::to_string(bytes), target("libplugin.so")},
                           {"--buffer", "65536"}));
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out, "done\n");
    EXPECT_NE(result.err.find("has overwritten a part of the recording"), std::string::npos) << result.err;
    const recorded r = read_journal(journal_);
    EXPECT_TRUE(r.complete);
    EXPECT_EQ(count_kinds(r, 3333)[event_kind::malloc], 1u);
  }
};

TEST_F(overwriting, its_ring_does_not_hold_the_program_up) {
  expect_end(journal::ring_headers_at + sizeof(journal::ring_header),
             sizeof(std::uint64_t));  // the first thread's
}

TEST_F(overwriting, its_list_of_modules_does_not_hold_the_program_up) {
  expect_end(offsetof(journal::spool_header, modules_head), sizeof(std::uint64_t));
}

TEST_F(endings, a_disk_too_full_to_begin_with_is_told_in_one_line) {
  std::filesystem::create_symlink("/dev/full", journal_);
  const run_result result = record("1000", "exit");
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "mallard-record: cannot write " + journal_.string() + ": No space left on device\n");
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"journal"});
}

TEST_F(endings, a_limit_too_small_to_begin_with_is_told_in_one_line) {
  std::vector<std::string> command = record_command(journal_, {target("blocks"), "pairs", "1000", "exit"});
  command.insert(command.begin(), {"prlimit", "--fsize=100000"});
  const run_result result = run(command);
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err.rfind("mallard-record: cannot make ", 0), 0u) << result.err;
  EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
  EXPECT_EQ(folder_.names(), std::vector<std::string>{});
}

TEST_F(endings, a_journal_that_cannot_grow_ends_the_recording_and_not_the_program) {
  running recorder(record_command(journal_, {target("blocks"), "goes_on"}));
  recorder.wait_for_output("ready");
  const rlimit small{.rlim_cur = 8192, .rlim_max = 8192};
  ASSERT_EQ(prlimit(recorder.process(), RLIMIT_FSIZE, &small, nullptr), 0);
  const run_result result = recorder.finish();
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "ready\ndone\n");
  EXPECT_NE(result.err.find("recording ends here, the program goes on\n"), std::string::npos) << result.err;
  const recorded r = read_journal(journal_);
  EXPECT_FALSE(r.complete);
  EXPECT_NE(result.err.find(" " + std::to_string(r.events.size()) + " events, "), std::string::npos)
      << result.err;
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"journal"});
}

}  // namespace
}  // namespace mallard::test
