// What cannot be recorded is said in one clear line, and leaves no journal.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "recorder/run_process.hpp"

namespace mallard::test {
namespace {

class reach : public testing::Test {
 protected:
  // Records `command`, which must fail with `status` and one line that contains `reason`.
  void expect_refusal(const std::vector<std::string>& command, int status, const std::string& reason) {
    const run_result result = run(record_command(folder_ / "journal", command));
    EXPECT_EQ(result.status, status);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err.rfind("mallard-record: ", 0), 0u) << result.err;
    EXPECT_NE(result.err.find(reason), std::string::npos) << result.err;
    EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "journal"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "journal.spool"));
  }

  std::filesystem::path write_file(const std::string& name, const std::string& text, mode_t mode) {
    const auto path = folder_ / name;
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path;
  }

  scratch_folder folder_;
};

TEST_F(reach, programs_that_do_not_exist) {
  expect_refusal({"no-such-program"}, 127, "cannot record no-such-program: not found");
  expect_refusal({"/no/such/program"}, 127, "cannot record /no/such/program: not found");
}

TEST_F(reach, files_that_are_no_programs) {
  expect_refusal({write_file("text", "hello\n", 0644)}, 126, "not an executable file");
  expect_refusal({"/"}, 126, "not an executable file");
}

TEST_F(reach, statically_linked_programs) {
  expect_refusal({target("annotated_static")}, 2, "statically linked");
}

TEST_F(reach, scripts_of_statically_linked_interpreters) {
  const auto script = write_file("script", "#!" + target("annotated_static") + "\n", 0755);
  expect_refusal({script}, 2, target("annotated_static"));
}

TEST_F(reach, programs_that_change_who_they_are) {
  std::string program = "/usr/bin/su";  // root's, for everybody else
  if (geteuid() == 0) {
    program = folder_ / "privileged";
    std::filesystem::copy_file(target("blocks"), program);
    ASSERT_EQ(chown(program.c_str(), 65534, 65534), 0);
    ASSERT_EQ(chmod(program.c_str(), 04755), 0);
  }
  expect_refusal({program}, 2, "setuid");
}

TEST_F(reach, programs_of_another_architecture) {
  std::string header(
      "\x7f"
      "ELF\x01\x01\x01",
      7);
  header.resize(4096);
  expect_refusal({write_file("foreign", header, 0755)}, 2, "another architecture");
}

TEST_F(reach, programs_with_their_own_malloc) {
  expect_refusal({target("own_malloc")}, 2, "malloc of its own");
}

TEST_F(reach, plug_ins_that_look_past_it_are_named) {
  const std::string plugin = target("libplugin.so");
  for (const bool deep : {true, false}) {
    std::vector<std::string> command = {target("load"), "once", plugin};
    if (deep) command.emplace_back("deep");
    const run_result result = run(record_command(folder_ / "journal", command));
    EXPECT_EQ(result.status, 0) << result.err;
    const std::string line = "mallard-record: " + plugin + " was opened with RTLD_DEEPBIND; ";
    EXPECT_EQ(result.err.find(line) != std::string::npos, deep) << result.err;
    const recorded r = read_journal(folder_ / "journal");
    EXPECT_EQ(count_kinds(r, 9999)[event_kind::malloc], deep ? 0u : 1u);
    EXPECT_EQ(r.about.facts.contains(journal::unseen_fact), deep);
  }
}

TEST_F(reach, the_loader_sees_who_opens_a_plug_in) {
  EXPECT_EQ(run(record_command(folder_ / "journal", {target("load"), "once", "$ORIGIN/libplugin.so"})).status,
            0);
}

// Records with another library in the place of the recorder's, which takes no notice of any spool.
class reach_of_another_library : public reach {
 protected:
  run_result record(const std::vector<std::string>& program) {
    const auto library = folder_ / "libmallard-record.so";
    std::filesystem::copy_file(target("libother_malloc.so"), library);
    const auto command = record_command(folder_ / "journal", program);
    std::vector<std::string> whole = {"env", "MALLARD_RECORD_LIBRARY=" + library.string()};
    whole.insert(whole.end(), command.begin(), command.end());
    return run(whole);
  }
};

TEST_F(reach_of_another_library, programs_that_hide_from_it) {
  const run_result result = record({target("blocks"), "few"});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("the recorder was not loaded into"), std::string::npos) << result.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "journal"));
}

TEST_F(reach_of_another_library, programs_that_a_signal_ends_before_it_is_at_work) {
  const run_result result = record({"sh", "-c", "kill -ALRM $$"});
  EXPECT_EQ(result.status, 128 + SIGALRM);
  EXPECT_NE(
      result.err.find("nothing recorded: signal 14 (Alarm clock) ended sh, maybe before the recorder began"),
      std::string::npos)
      << result.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "journal"));
}

TEST_F(reach, programs_with_a_sanitizer_unless_it_is_told_to_bear_others) {
  expect_refusal({target("sanitized"), "few"}, 2, "AddressSanitizer");
  std::vector<std::string> command = record_command(folder_ / "journal", {target("sanitized"), "few"});
  command.insert(command.begin(), {"env", "ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0"});
  EXPECT_EQ(run(command).status, 10);
  EXPECT_EQ(count_kinds(read_journal(folder_ / "journal"), 1001)[event_kind::malloc], 1u);
}

TEST_F(reach, clients_of_what_starts_the_program_elsewhere_are_told_of) {
  write_file("docker", "#!/bin/sh\necho asked\n", 0755);
  const run_result result = run(record_command(folder_ / "journal", {folder_ / "docker", "run"}));
  EXPECT_EQ(result.out, "asked\n");
  EXPECT_NE(result.err.find("docker has another process start the program"), std::string::npos) << result.err;
}

TEST_F(reach, files_that_are_no_journals_are_not_replaced) {
  const auto letter = write_file("letter", "dear reader\n", 0644);
  const auto journal = folder_ / "journal";
  EXPECT_EQ(run(record_command(letter, {"true"})).err,
            "mallard-record: cannot record into " + letter.string() +
                ": it exists and is no journal; name another file with -o\n");
  ASSERT_EQ(run(record_command(journal, {"true"})).status, 0);
  write_file("journal.old", "dear reader\n", 0644);
  const run_result result = run(record_command(journal, {"true"}));
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("cannot keep the journal " + journal.string()), std::string::npos) << result.err;
  EXPECT_TRUE(read_journal(journal).complete);
  std::filesystem::rename(folder_ / "journal.old", folder_ / "journal.spool");
  EXPECT_EQ(run(record_command(journal, {"true"})).status, 2);
  for (const char* kept : {"journal", "journal.spool", "letter"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / kept)) << kept;
  write_file("empty", "", 0644);
  EXPECT_EQ(run(record_command(folder_ / "empty", {"true"})).status, 0);
}

TEST_F(reach, a_journal_of_before_is_kept_beside_the_new_one) {
  const auto journal = folder_ / "journal";
  for (const char* pairs : {"1", "2", "3"})
    EXPECT_EQ(run(record_command(journal, {target("blocks"), "pairs", pairs, "exit"})).status, 6);
  EXPECT_EQ(count_kinds(read_journal(journal), 5555)[event_kind::malloc], 3u);
  EXPECT_EQ(count_kinds(read_journal(folder_ / "journal.old"), 5555)[event_kind::malloc], 2u);
}

TEST_F(reach, a_run_that_was_cut_off_is_kept_with_its_spool) {
  const auto journal = folder_ / "journal";
  running cut_off(record_command(journal, {target("blocks"), "pairs", "1000", "wait"}));
  cut_off.wait_for_output("ready");
  const pid_t program = child_of(cut_off.process());
  kill(cut_off.process(), SIGKILL);
  cut_off.wait_for_end();
  EXPECT_EQ(run(record_command(journal, {"true"})).status, 0);
  kill(program, SIGKILL);
  EXPECT_EQ(count_kinds(read_journal(folder_ / "journal.old"), 5555)[event_kind::malloc], 1000u);
  EXPECT_TRUE(read_journal(journal).complete);
  static_cast<void>(cut_off.finish());
}

TEST_F(reach, a_journal_that_is_being_recorded_is_left_to_that_recording) {
  const auto journal = folder_ / "journal";
  running first(record_command(journal, {target("blocks"), "pairs", "1000", "wait"}));
  first.wait_for_output("ready");
  const run_result second = run(record_command(journal, {"true"}));
  EXPECT_EQ(second.status, 2);
  EXPECT_EQ(second.err, "mallard-record: cannot record into " + journal.string() +
                            ": another mallard-record is recording into it; name another file with -o\n");
  kill(child_of(first.process()), SIGKILL);
  static_cast<void>(first.finish());
  EXPECT_EQ(count_kinds(read_journal(journal), 5555)[event_kind::malloc], 1000u);
  EXPECT_TRUE(read_journal(journal).complete);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"journal"});
}

TEST_F(reach, journals_that_cannot_be_made) {
  const run_result result = run(record_command("/no/such/folder/journal", {target("blocks"), "few"}));
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("/no/such/folder/journal"), std::string::npos) << result.err;
}

TEST_F(reach, a_folder_in_the_place_of_the_journal_is_named) {
  std::filesystem::create_directory(folder_ / "journal");
  const run_result result = run(record_command(folder_ / "journal", {target("blocks"), "few"}));
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err,
            "mallard-record: cannot write " + (folder_ / "journal").string() + ": Is a directory\n");
  EXPECT_TRUE(std::filesystem::is_directory(folder_ / "journal"));
}

TEST_F(reach, what_is_no_regular_file_is_not_removed) {
  std::filesystem::create_symlink("/dev/null", folder_ / "journal");
  EXPECT_EQ(run(record_command(folder_ / "journal", {target("own_malloc")})).status, 2);
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "journal"));
}

TEST_F(reach, scripts_are_recorded_through_their_interpreters) {
  const auto with_line = write_file("with_line", "#!/usr/bin/perl\nprint qq(perl\\n);", 0755);
  const run_result perl = run(record_command(folder_ / "journal", {with_line}));
  EXPECT_EQ(perl.out, "perl\n");
  EXPECT_GT(read_journal(folder_ / "journal").events.size(), 100u);
  const auto without_line = write_file("without_line", "echo shell $0 $1", 0755);
  const run_result shell = run(record_command(folder_ / "journal", {without_line, "word"}));
  EXPECT_EQ(shell.out, "shell " + without_line.string() + " word\n");
  EXPECT_EQ(shell.status, 0);
}

}  // namespace
}  // namespace mallard::test
