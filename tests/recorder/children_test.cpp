// What the program forks has journals of its own, and no process sees anything of it.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "journal/spool/spool.hpp"
#include "recorder/run_process.hpp"

namespace mallard::test {
namespace {

namespace fs = std::filesystem;

class children : public testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& program,
                                                 const std::vector<std::string>& options = {}) const {
    return record_command(journal_, program, options);
  }

  [[nodiscard]] std::vector<std::string> names_in_folder() const {
    std::vector<std::string> names;
    if (fs::exists(children_))
      for (const auto& file : fs::directory_iterator(children_)) names.push_back(file.path().filename());
    return names;
  }

  [[nodiscard]] std::vector<recorded> journals() const {
    std::vector<recorded> all;
    for (const std::string& name : names_in_folder()) all.push_back(read_journal(children_ / name));
    return all;
  }

  scratch_folder folder_;
  fs::path journal_ = folder_ / "journal";
  fs::path children_ = folder_ / "journal.d";
};

TEST_F(children, have_journals_of_their_own_however_they_were_made) {
  const run_result result = run(command({target("forks"), "every_way"}, {"--buffer", "4096"}));
  EXPECT_EQ(result.status, 0) << result.err;
  const std::string clean = "preload= spool=\n";
  EXPECT_EQ(result.out, clean + clean + clean);
  const recorded root = read_journal(journal_);
  EXPECT_EQ(count_kinds(root, 7777)[event_kind::malloc], 20u);
  EXPECT_EQ(count_kinds(root, 8888)[event_kind::malloc], 0u);
  EXPECT_TRUE(root.complete);
  std::size_t forked = 0;
  std::size_t shells = 0;
  for (const recorded& child : journals()) {
    EXPECT_TRUE(child.complete);
    EXPECT_EQ(child.about.parent_process, root.about.process);
    auto counts = count_kinds(child, 8888);
    forked += counts[event_kind::malloc] == 20000u;
    EXPECT_GT(child.about.figures.at("cpu_ns"), 0);
    EXPECT_EQ(counts[event_kind::malloc], count_kinds(child)[event_kind::free] >= 20000u ? 20000u : 0u);
    shells += child.about.arguments.size() == 3 && child.about.arguments.front() == "sh";
  }
  EXPECT_EQ(forked, 2u);
  EXPECT_EQ(shells, 3u);
}

TEST_F(children, are_listed_in_their_parents_journal) {
  ASSERT_EQ(run(command({target("forks"), "every_way"})).status, 0);
  const recorded root = read_journal(journal_);
  EXPECT_EQ(root.tables.children.size(), 5u);
  std::map<std::uint64_t, std::uint64_t> starts;  // by the parent's clock: the system's
  for (const journal::child_info& row : root.tables.children) {
    const recorded child = read_journal(folder_ / row.journal);
    EXPECT_EQ(child.about.process, row.process);
    EXPECT_LT(row.time, root.tables.usage.back().time);
    EXPECT_GT(child.about.start_unix_ns, root.about.start_unix_ns);
    starts[row.time] = child.about.start_unix_ns;
  }
  ASSERT_EQ(starts.size(), 5u);
  for (auto later = std::next(starts.begin()); later != starts.end(); ++later)
    EXPECT_GT(later->second, std::prev(later)->second);
}

TEST_F(children, know_their_program) {
  ASSERT_EQ(run(command({"sh", "-c", "cd /; /bin/ls >/dev/null; :"})).status, 0);
  bool found = false;
  for (const recorded& child : journals()) {
    if (child.about.arguments != std::vector<std::string>{"/bin/ls"}) continue;
    found = true;
    EXPECT_EQ(child.about.program, fs::canonical("/bin/ls").string());
    EXPECT_EQ(child.about.directory, "/");
    EXPECT_NE(std::find_if(child.tables.modules.begin(), child.tables.modules.end(),
                           [&](const auto& module) { return module.path == child.about.program; }),
              child.tables.modules.end());
  }
  EXPECT_TRUE(found);
}

TEST_F(children, see_the_environment_the_user_gave_in_every_generation) {
  const std::vector<std::string> program = {"sh", "-c", "env; sh -c 'env; exec env'; perl -e 'print `env`'"};
  EXPECT_EQ(run(command(program)).out, run(program).out);
  const std::string library = target("libother_malloc.so");
  EXPECT_EQ(run(with_preload(library, command(program))).out, run(with_preload(library, program)).out);
}

TEST_F(children, are_left_alone_on_demand) {
  const run_result result = run(command({target("forks"), "every_way"}, {"--no-children"}));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"journal"});
  EXPECT_EQ(read_journal(journal_).tables.children.size(), 0u);
}

TEST_F(children, that_record_nothing_leave_nothing) {
  ASSERT_EQ(run(command({target("forks"), "many", "20", "0"})).status, 0);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"journal"});
}

TEST_F(children, of_a_moment_are_complete_by_the_hundred) {
  ASSERT_EQ(run(command({target("forks"), "many", "110", "3"})).status, 0);
  const std::vector<recorded> all = journals();
  EXPECT_EQ(all.size(), 110u);
  for (const recorded& child : all) {
    EXPECT_TRUE(child.complete);
    EXPECT_EQ(child.events.size(), 6u);
  }
  EXPECT_EQ(read_journal(journal_).tables.children.size(), 110u);
}

TEST_F(children, forked_while_other_threads_allocate_have_what_they_allocated) {
  ASSERT_EQ(run(command({target("forks"), "among_threads", "24"})).status, 0);
  EXPECT_EQ(count_kinds(read_journal(journal_), 7000)[event_kind::malloc], 24u * 200);
  std::map<std::uint64_t, std::size_t> children_with;
  for (const recorded& child : journals()) {
    EXPECT_TRUE(child.complete);
    ++children_with[count_kinds(child, 7000)[event_kind::malloc]];
  }
  EXPECT_EQ(children_with, (std::map<std::uint64_t, std::size_t>{{200, 16}, {400, 8}}));
}

TEST_F(children, of_an_earlier_run_go_aside_with_their_parent) {
  ASSERT_EQ(run(command({target("forks"), "many", "3", "1"})).status, 0);
  ASSERT_EQ(run(command({target("forks"), "many", "2", "1"})).status, 0);
  EXPECT_EQ(journals().size(), 2u);
  EXPECT_EQ(read_journal(folder_ / "journal.old").tables.children.size(), 3u);
  const auto count_old = [&] {
    return std::distance(fs::directory_iterator(folder_ / "journal.old.d"), fs::directory_iterator());
  };
  EXPECT_EQ(count_old(), 3);
  ASSERT_EQ(run(command({target("forks"), "many", "1", "1"})).status, 0);
  EXPECT_EQ(count_old(), 2);
}

TEST_F(children, of_an_earlier_run_give_way_and_nothing_of_the_users) {
  fs::create_directory(children_);
  std::ofstream(children_ / "1234") << "letters\n";
  std::ofstream(children_ / "1234.spool") << "more of them\n";
  ASSERT_EQ(run(command({target("forks"), "many", "2", "1"})).status, 0);
  ASSERT_EQ(run(command({"/bin/true"})).status, 0);
  EXPECT_EQ(names_in_folder().size(), 2u);
  EXPECT_EQ(read_journal(folder_ / "journal.old").tables.children.size(), 2u);
  EXPECT_TRUE(fs::exists(children_ / "1234"));
  EXPECT_TRUE(fs::exists(children_ / "1234.spool"));
}

TEST_F(children, for_whom_there_are_too_few_descriptors_do_not_wait_for_ever) {
  for (int descriptors = 10; descriptors < 16; ++descriptors) {
    std::vector<std::string> limited = command({target("forks"), "many", "12", "500"}, {"--buffer", "4096"});
    const std::string limit = std::to_string(descriptors);
    limited.insert(limited.begin(), {"prlimit", "--nofile=" + limit + ":" + limit});
    EXPECT_EQ(run(limited).status, 0) << limit;
  }
}

// Of the programs that ran in children without being recorded: their names' ends, how many processes ran
// each, and why.
class unrecorded_children : public children {
 protected:
  void expect(const run_result& result, const std::string& program, std::uint64_t processes,
              const std::string& reason) {
    bool found = false;
    for (const journal::child_info& row : read_journal(journal_).tables.children) {
      if (!row.journal.empty() || !row.program.ends_with(program)) continue;
      found = found || row.reason.find(reason) != std::string::npos;
      EXPECT_EQ(row.processes, processes) << row.program << ": " << row.reason;
    }
    EXPECT_TRUE(found) << program << ": " << reason;
    EXPECT_NE(result.err.find("not recorded, nor what"), std::string::npos) << result.err;
  }
};

TEST_F(unrecorded_children, that_can_make_no_spool_are_told_of) {
  const run_result result = run(command({"sh", "-c", "ulimit -f 8; perl -e 'print 7'; echo"}));
  EXPECT_EQ(result.out, "7\n");
  expect(result, "/perl", 1, "limit on the size of files");
}

TEST_F(unrecorded_children, that_are_statically_linked_are_named_however_they_are_started) {
  const std::string program = target("annotated_static");
  for (const std::string how : {"vfork", "spawn", "spawnp", "system", "popen", "exec", "execvpe"}) {
    const run_result result = run(command({target("starts"), how, program}));
    expect(result, program, 1, "it is statically linked");
    EXPECT_NE(result.err.find(program + " was not recorded, nor what it started: it is statically linked"),
              std::string::npos)
        << result.err;
  }
}

TEST_F(unrecorded_children, of_several_programs_are_all_in_the_journal) {
  const std::string script = folder_ / "script";
  std::ofstream(script) << "#!" << target("annotated_static") << "\n";
  fs::permissions(script, fs::perms::owner_all);
  const std::string fixed = target("annotated_static");
  const run_result result =
      run(command({"sh", "-c", fixed + "; " + fixed + "; " + script + "; " + target("own_malloc") + "; :"}));
  expect(result, fixed, 2, "it is statically linked");
  expect(result, script + " (by way of " + fixed + ")", 1, "it is statically linked");
  expect(result, "/own_malloc", 1, "malloc of its own");
  EXPECT_NE(result.err.find("3 programs were not recorded"), std::string::npos) << result.err;
}

TEST_F(unrecorded_children, that_could_not_be_executed_do_not_count) {
  const run_result result = run(command({"perl", "-e", "exec {q(/etc/passwd)} q(x) or exit 0"}));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err.find("not recorded"), std::string::npos) << result.err;
  EXPECT_TRUE(read_journal(journal_).tables.children.empty());
}

TEST_F(unrecorded_children, are_as_many_as_there_is_room_for_and_the_others_together) {
  std::string script;
  for (int i = 0; i < 100; ++i) {
    const std::string name = folder_ / ("static" + std::to_string(i));
    fs::create_hard_link(target("annotated_static"), name);
    script += name + ";";
  }
  const run_result result = run(command({"sh", "-c", script + ":"}));
  expect(result, "/static0", 1, "it is statically linked");
  expect(result, "other programs", 100 - (journal::max_unrecorded - 1), "too many to name");
}

TEST_F(unrecorded_children, with_a_sanitizer_that_must_come_first_run_as_before) {
  const std::string program = target("sanitized");
  const std::string line = program + " few; echo $?";
  const run_result result = run(command({"sh", "-c", line}));
  EXPECT_EQ(result.out, run({"sh", "-c", line}).out);
  expect(result, program, 1, "AddressSanitizer");
  const run_result allowed =
      run(command({"sh", "-c", "ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 " + line}));
  EXPECT_EQ(allowed.out, "10\n");
  EXPECT_EQ(allowed.err.find("not recorded"), std::string::npos) << allowed.err;
}

TEST_F(unrecorded_children, as_another_user_or_in_another_root_are_told_of_with_that_reason) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const run_result user =
      run(command({"perl", "-e",
                   "$) = $( = 65534; $> = $< = 65534; if (!fork) { my @a = (1..1000); exit } wait; "
                   "exec q(/bin/true)"}));
  expect(user, "perl", 1, "another user");
  expect(user, "/bin/true", 1, "another user");
  EXPECT_EQ(user.err.find("ld.so"), std::string::npos) << user.err;
  const run_result root =
      run(command({"perl", "-e", "if (!fork) { chroot q(/usr); exec q(/bin/true) } wait"}));
  expect(root, "/bin/true", 1, "chroot");
  EXPECT_EQ(root.err.find("ld.so"), std::string::npos) << root.err;
}

TEST_F(children, in_namespaces_of_equal_process_ids_are_complete) {
  const std::vector<std::string> own_ids = {"unshare", "--pid", "--fork"};
  std::vector<std::string> probe = own_ids;
  probe.emplace_back("true");
  if (run(probe).status != 0) GTEST_SKIP() << "this user may not make a namespace of process ids";
  const std::string container = "unshare --pid --fork perl -e 'if (!fork) { my @b = (1..3000); exit } wait'";
  const run_result result = run(command({"sh", "-c", container + " & " + container + "; wait"}));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err.find("still run"), std::string::npos) << result.err;
  std::map<std::uint64_t, std::size_t> processes;
  for (const std::string& name : names_in_folder()) EXPECT_FALSE(name.ends_with(".spool")) << name;
  for (const recorded& child : journals()) {
    EXPECT_TRUE(child.complete);
    if (child.about.arguments.front() != "perl") continue;
    ++processes[child.about.process];
    if (child.about.process == 1) {  // it names the one that it has made
      ASSERT_EQ(child.tables.children.size(), 1u);
      EXPECT_EQ(read_journal(children_ / child.tables.children[0].journal).about.process, 2u);
    }
    for (const journal::module_info& module : child.tables.modules)
      EXPECT_EQ(module.path.find("mallard-record\n"), std::string::npos);
  }
  EXPECT_EQ(processes, (std::map<std::uint64_t, std::size_t>{{1, 2}, {2, 2}}));
}

TEST_F(children, are_named_by_parents_that_end_with_the_program) {
  const std::string waits = "$|=1; my @a=(1..1000); print qq(up\\n); sleep 1000";
  running recorder(command(
      {"perl", "-e", "if(!fork){ my @b=(1..1000); if(!fork){ " + waits + " } sleep 1000 } sleep 1000"}));
  recorder.wait_for_output("up");
  kill(child_of(recorder.process()), SIGKILL);
  recorder.wait_for_end();
  std::size_t children_of_children = 0;
  for (const std::string& name : names_in_folder()) {
    if (name.ends_with(".spool")) continue;
    for (const journal::child_info& row : read_journal(children_ / name).tables.children) {
      ++children_of_children;
      EXPECT_TRUE(fs::exists(children_ / row.journal));
      kill(static_cast<pid_t>(row.process), SIGKILL);
    }
    kill(static_cast<pid_t>(read_journal(children_ / name).about.process), SIGKILL);
  }
  EXPECT_EQ(children_of_children, 1u);
  EXPECT_EQ(recorder.finish().status, 128 + SIGKILL);
}

TEST_F(children, that_outlive_the_program_keep_their_spools) {
  const std::string up = folder_ / "up";
  const std::string perl =
      "open F, '>', q(" + up + "); print F qq(up\n); close F; <STDIN>; my @a = (1..100000)";
  running recorder(
      command({"sh", "-c",
               "mkfifo " + up + "; exec 3<&0; perl -e \"" + perl + "\" <&3 & read x <" + up + "; echo bye"}));
  recorder.wait_for_output("bye");
  while (!fs::exists(journal_) || !read_journal(journal_).complete)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::vector<std::string> names = names_in_folder();
  const auto is_spool = [](const std::string& name) { return name.ends_with(".spool"); };
  EXPECT_TRUE(std::any_of(names.begin(), names.end(), is_spool));
  const run_result result = recorder.finish();
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.err.find("still run"), std::string::npos) << result.err;
  for (const std::string& name : names)
    if (!is_spool(name)) {
      EXPECT_GT(read_journal(children_ / name).events.size(), 0u);
    }
}

}  // namespace
}  // namespace mallard::test
