// A process that becomes another program has a journal for each, and each program sees what it would
// unrecorded.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "recorder/run_process.hpp"

namespace mallard::test {
namespace {

namespace fs = std::filesystem;

class exec : public testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& program,
                                                 const std::vector<std::string>& options = {}) const {
    return record_command(journal_, program, options);
  }

  // What the program shows recorded is what it shows unrecorded.
  void expect_same(const std::vector<std::string>& program) {
    const run_result plain = run(program);
    const run_result result = run(command(program));
    EXPECT_EQ(result.status, plain.status) << result.err;
    EXPECT_EQ(result.out, plain.out);
    std::string err = result.err;
    for (std::size_t at = 0; (at = err.find("mallard-record: ")) != std::string::npos;)
      err.erase(at, err.find('\n', at) + 1 - at);
    EXPECT_EQ(err, plain.err);
  }

  scratch_folder folder_;
  fs::path journal_ = folder_ / "journal";
  fs::path children_ = folder_ / "journal.d";
};

TEST_F(exec, chains_of_programs_are_each_others_children) {
  const run_result result =
      run(command({"sh", "-c", "exec perl -e 'exec q(sh), q(-c), q(exec ls / >/dev/null)'"}));
  ASSERT_EQ(result.status, 0) << result.err;
  fs::path path = journal_;
  std::vector<std::string> programs;
  for (;;) {
    const recorded one = read_journal(path);
    EXPECT_TRUE(one.complete);
    programs.push_back(fs::canonical(one.about.program));
    if (one.tables.children.empty()) break;
    ASSERT_EQ(one.tables.children.size(), 1u);
    EXPECT_EQ(one.tables.children.front().process, one.about.process);
    path = path.parent_path() / one.tables.children.front().journal;
  }
  const std::string shell = fs::canonical("/bin/sh");
  EXPECT_EQ(programs, (std::vector<std::string>{shell, fs::canonical("/usr/bin/perl"), shell,
                                                fs::canonical("/bin/ls")}));
}

TEST_F(exec, each_program_has_the_cpu_time_that_it_took) {
  const std::string busy = "my $x = 0; $x += $_ for 1..2000000;";
  const auto cpu_times = [&](const std::string& first_program, const std::string& second_program) {
    const std::string become = first_program + "exec q(perl), q(-e), q(" + second_program + ")";
    EXPECT_EQ(run(command({"perl", "-e", become})).status, 0);
    const recorded first = read_journal(journal_);
    const recorded second = read_journal(folder_ / first.tables.children.at(0).journal);
    return std::pair(first.about.figures.at("cpu_ns"), second.about.figures.at("cpu_ns"));
  };
  const auto [long_first, short_second] = cpu_times(busy, "1");
  EXPECT_GT(long_first, short_second);
  const auto [short_first, long_second] = cpu_times("", busy);
  EXPECT_LT(short_first, long_second);
}

TEST_F(exec, programs_that_cannot_be_recorded_get_the_users_environment) {
  expect_same({"sh", "-c", target("annotated_static") + "; echo $?; exec " + target("annotated_static")});
  EXPECT_TRUE(read_journal(journal_).complete);
}

TEST_F(exec, privileged_programs_do_too) {
  if (geteuid() != 0) {  // only root can make one
    expect_same({"sh", "-c", "su --version"});
    return;
  }
  const std::string program = folder_ / "env";
  fs::copy_file("/usr/bin/env", program);
  ASSERT_EQ(chown(program.c_str(), 65534, 65534), 0);
  ASSERT_EQ(chmod(program.c_str(), 04755), 0);
  ASSERT_EQ(chmod((folder_ / "").c_str(), 0755), 0);
  expect_same({"sh", "-c", program + "; exec " + program});
}

TEST_F(exec, programs_without_an_environment_see_none_and_are_recorded) {
  expect_same({"env", "-i", "/usr/bin/env"});
  EXPECT_EQ(read_journal(journal_).tables.children.size(), 1u);
}

TEST_F(exec, what_fails_changes_nothing) {
  expect_same({"perl", "-e",
               "exec {q(/no/such/program)} q(x) or print qq(no\\n); print `env`; my @a = (1..1000); exit 3"});
  const recorded r = read_journal(journal_);
  EXPECT_EQ(r.tables.children.size(), 1u);  // the one in backquotes
  EXPECT_EQ(r.about.figures.at("exit_code"), 3);
}

TEST_F(exec, without_a_path_is_refused_as_the_kernel_does) {
  const std::string by_number = "print syscall(" + std::to_string(SYS_execve) +
                                ", 0, 0, 0), ' ', $!+0, ' ', syscall(" + std::to_string(SYS_execveat) +
                                ", -100, 0, 0, 0, 0), ' ', $!+0";
  expect_same({"perl", "-e", by_number});
}

TEST_F(exec, what_fails_takes_no_place_from_programs_that_are_not_recorded) {
  const std::string fail_often = "for i in $(seq 100); do /no/such/$i; done 2>/dev/null; ";
  EXPECT_EQ(run(command({"sh", "-c", fail_often + target("annotated_static") + "; true"})).status, 0);
  std::vector<std::string> unrecorded;
  for (const journal::child_info& child : read_journal(journal_).tables.children)
    if (!child.reason.empty()) unrecorded.push_back(child.program);
  EXPECT_EQ(unrecorded, std::vector{target("annotated_static")});
}

TEST_F(exec, files_without_a_first_line_are_the_shells) {
  const std::string script = folder_ / "script";
  FILE* file = fopen(script.c_str(), "w");
  fputs("echo \"$0 $1\"; exec ls /\n", file);
  fclose(file);
  chmod(script.c_str(), 0755);
  expect_same({"perl", "-e", "system { $ARGV[0] } @ARGV; exec { $ARGV[0] } @ARGV", script, "word"});
}

TEST_F(exec, the_program_may_wait_with_others_while_it_becomes_another) {
  expect_same(
      {"sh", "-c",
       "for i in 1 2 3; do (exec sort /etc/passwd | exec tail -1) & done; wait; exec sort /etc/passwd"});
}

TEST_F(exec, without_children_no_program_but_the_first_is_recorded) {
  const run_result result = run(command({"sh", "-c", "ls / >/dev/null; exec env"}, {"--no-children"}));
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, run({"sh", "-c", "ls / >/dev/null; exec env"}).out);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"journal"});
}

TEST_F(exec, popen_and_system_leave_the_environment_as_it_was) { expect_same({target("starts"), "shells"}); }

}  // namespace
}  // namespace mallard::test
