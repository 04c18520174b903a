// Programs that do what recorders seldom bear: their output and exit code are those of the run without one,
// and their journals are whole and hold each block, or one line says what they lack. So do programs of
// Debian's.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <sstream>

#include "recorder/run_process.hpp"
#include "slow_tests.hpp"

namespace mallard::test {
namespace {

constexpr std::uint64_t block_size = 7321;
constexpr int any_number = -1;

// `blocks` is how many blocks of that size all processes allocate; `told` is a part of the one line that says
// what is not recorded, if something is not.
struct torture {
  std::string name;
  std::vector<std::string> command;
  int blocks = any_number;
  std::string told = {};
};

void PrintTo(const torture& one, std::ostream* out) { *out << one.name; }

torture act(const std::string& name, int blocks, const std::string& argument = {}) {
  std::vector<std::string> command{target("torture"), name};
  if (!argument.empty()) command.push_back(argument);
  return {name, command, blocks};
}

// One where the mappings cannot be read, and with them where a stack ends.
torture blind_act(const std::string& name, int blocks) {
  return {name, {target("torture"), name}, blocks, "/proc/self/maps"};
}

torture shell(const std::string& name, const std::string& line, int blocks, const std::string& told = {}) {
  return {name, {"sh", "-c", line}, blocks, told};
}

std::vector<torture> usual() {
  return {
      act("address_space", 200),
      act("closed_descriptors", 200),
      act("forks_among_threads", 2200),
      act("timer_signals", 20000),
      act("vforked", 2000),
      shell("child_of_a_static_program", target("annotated_static") + " >/dev/null; exit 3", 0,
            "statically linked"),
  };
}

std::vector<torture> others() {
  const std::string plain = target("torture") + " plain";
  return {
      blind_act("descriptors", 200),
      act("file_size", 200),
      act("stack_size", 200),
      act("data_size", 200),
      act("core_size", 200),
      act("queued_signals", 200),
      act("locked_memory", 200),
      act("taken_descriptors", 200),
      act("no_standard_streams", 100),
      act("removed_directory", 100),
      blind_act("empty_root", 100),
      act("no_permissions_on_new_files", 100),
      act("signals_to_threads", 5000),
      act("allocating_handlers", 100),
      act("blocked_signals", 200),
      act("stopped_and_continued", 100),
      act("vfork_without_exec", 100),
      act("clone_sharing_memory", 200),
      act("clone_of_its_own", 200),
      act("raw_clone", 100),
      act("forks_in_forks", 100),
      act("fork_handlers", 30),
      act("chain_of_execs", 210, "20"),
      act("exec_without_environment", 110),
      act("exec_from_a_thread", 100),
      act("changed_user", 200),
      act("traced_by_its_parent", 10),
      act("many_threads", 50000),
      act("small_stacks", 2000),
      act("cancelled_threads", 500),
      blind_act("end_of_the_first_thread", 100),
      act("destructors_of_threads", 50),
      act("switched_stacks", 200),
      act("stacks_that_go", 400),
      act("deep_recursion", 100),
      act("loaded_again_and_again", 200, target("libplugin.so")),
      act("odd_sizes", 100),
      act("allocations_at_exit", 100),
      act("quick", 100),
      shell("many_arguments", "exec " + plain + " $(seq 80000)", 100),
      shell("large_environment", "x=$(seq 20000); export x; exec " + plain, 100),
      shell("empty_environment", "exec env -i " + plain, 100),
      shell("own_session", "exec setsid -w " + plain, 100),
      shell("low_priority", "exec nice -n 19 " + plain, 100),
      shell("ended_by_a_timeout", "exec timeout 2 sleep 20", 0),
      shell("broken_pipe", "for i in $(seq 5000); do echo line $i; done | head -n 2; exit 3", any_number),
      shell("background_jobs", "for i in 1 2 3 4 5 6 7 8; do " + plain + " >/dev/null & done; wait; exit 3",
            800),
      shell("another_malloc", "LD_PRELOAD=libjemalloc.so.2 exec " + plain, 100),
      shell("stripped", "strip -o $TMPDIR/stripped " + target("torture") + " && $TMPDIR/stripped plain", 100),
      shell("own_malloc_in_a_child", target("own_malloc") + " >/dev/null; exit 3", any_number,
            "malloc of its own"),
      shell("sanitized_child", target("sanitized") + " exit >/dev/null; exit 3", any_number, "Sanitizer"),
      {"holes_between_segments", {target("deep_threads_with_holes")}, any_number},
      {"a_filter_of_calls", {target("limits"), "filter"}, any_number},
      {"strict_mode", {target("limits"), "strict"}, any_number, "strict mode"},
      {"perl",
       {"perl", "-e", "$h{$_ % 997} .= 'x' x ($_ % 50) for 1..50000; print length join '', values %h"}},
      {"python", {"python3", "-c", "import json; print(len(json.dumps([str(i) for i in range(50000)])))"}},
      shell("find_and_sort", "find /usr/share/doc -maxdepth 1 | sort -r | head -n 5", any_number),
      shell("compression", "seq 50000 | xz -1 -T2 | xz -dc | md5sum", any_number),
      shell("make", "printf 'all: a b\\na b:\\n\\t@echo $@\\n' | make -s -j2 -Otarget -f - a b | sort",
            any_number),
  };
}

// Lines that are not the recorder's.
std::string own_lines(const std::string& text) {
  std::istringstream lines(text);
  std::string rest;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("mallard")) rest += line + '\n';
  return rest;
}

class tortured : public testing::TestWithParam<torture> {
 protected:
  void SetUp() override { setenv("TMPDIR", (folder_ / "").c_str(), 1); }
  void TearDown() override { unsetenv("TMPDIR"); }

  // The blocks in the journals of all processes, each of which must be whole.
  [[nodiscard]] int count_blocks() const {
    std::vector<std::filesystem::path> journals{journal_};
    std::error_code none;
    for (const auto& child : std::filesystem::directory_iterator(journal_.string() + ".d", none))
      journals.push_back(child.path());
    std::uint64_t blocks = 0;
    for (const auto& path : journals) {
      const recorded r = read_journal(path);
      EXPECT_TRUE(r.complete || !GetParam().told.empty()) << path;
      if (path == journal_) {
        EXPECT_EQ(count_contradictions(r), 0u);  // a fork frees what it inherits
      }
      auto kinds = count_kinds(r, block_size);
      blocks += kinds[event_kind::malloc];
    }
    return static_cast<int>(blocks);
  }

  scratch_folder folder_;
  std::filesystem::path journal_ = folder_ / "journal";
};

TEST_P(tortured, runs_as_without_the_recorder) {
  const run_result before = run(GetParam().command);
  const run_result recorded = run(record_command(journal_, GetParam().command));
  EXPECT_NE(before.status, 90) << before.err;  // what the act needs is not to be had
  EXPECT_EQ(recorded.status, before.status) << recorded.err;
  EXPECT_EQ(recorded.out, before.out);
  EXPECT_EQ(own_lines(recorded.err), before.err);
  if (GetParam().told.empty())
    EXPECT_EQ(recorded.err.find("not recorded"), std::string::npos) << recorded.err;
  else
    EXPECT_NE(recorded.err.find(GetParam().told), std::string::npos) << recorded.err;
  const int blocks = count_blocks();
  if (GetParam().blocks != any_number) {
    EXPECT_EQ(blocks, GetParam().blocks);
  }
}

std::string name_of(const testing::TestParamInfo<torture>& one) { return one.param.name; }

INSTANTIATE_TEST_SUITE_P(usual, tortured, testing::ValuesIn(usual()), name_of);
INSTANTIATE_TEST_SUITE_P(other, tortured, testing::ValuesIn(slow_tests ? others() : std::vector<torture>{}),
                         name_of);

struct real_program {
  const char* name;
  std::vector<std::string> command;
  std::size_t at_least;  // events
};

class real_programs : public testing::TestWithParam<real_program> {};

TEST_P(real_programs, run_as_unrecorded_and_their_journals_make_sense) {
  const scratch_folder folder;
  const run_result plain = run(GetParam().command);
  const run_result result = run(record_command(folder / "journal", GetParam().command));
  EXPECT_EQ(result.status, plain.status);
  EXPECT_EQ(result.out, plain.out);
  const recorded r = read_journal(folder / "journal");
  EXPECT_GE(r.events.size(), GetParam().at_least);
  EXPECT_EQ(count_contradictions(r), 0u);
  EXPECT_TRUE(r.complete);
}

INSTANTIATE_TEST_SUITE_P(
    , real_programs,
    testing::Values(
        real_program{"perl",
                     {"perl", "-e",
                      "my %h; for my $i (1..20000) { $h{$i % 977} .= chr(65 + $i % 26) } "
                      "print join(',', map { $_ . $h{$_} } sort keys %h), qq(\\n); exit 3"},
                     5000},
        real_program{
            "perl_with_modules",
            {"perl", "-MPOSIX", "-MData::Dumper", "-e",
             "$Data::Dumper::Sortkeys = 1; print Dumper({a => [1 .. 500], b => strftime('%Y', gmtime 0)})"},
            5000},
        real_program{"sort", {"sh", "-c", "exec sort -r /etc/passwd /etc/group"}, 0},
        real_program{"sort_directly", {"sort", "-r", "/etc/passwd", "/etc/group"}, 10},
        real_program{"compiler_driver", {"c++", "-E", "-dM", "-x", "c++", "/dev/null"}, 100}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace mallard::test
