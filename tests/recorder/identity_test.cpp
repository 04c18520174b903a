// A recorded program does and shows what it does and shows unrecorded, and its journals hold as many
// events of each kind as an independent counter sees calls, for each of its processes; exceptions that pass
// through the library cost none. The counter counts what a program says it called, however its processes come
// into being and end.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "recorder/counted_runs.hpp"

namespace mallard::test {
namespace {

struct program {
  const char* name;
  std::vector<std::string> command;  // words that begin with "IN/" name inputs
  std::vector<std::string> variables = {};
};

void PrintTo(const program& p, std::ostream* out) { *out << p.name; }

// Inputs of the programs below, the same in every run.
void write_inputs(const scratch_folder& folder) {
  std::ofstream xml(folder / "book.xml");
  xml << "<book>\n";
  for (int i = 0; i < 1500; ++i)
    xml << "<part id='" << i << "'><t lang='en'>title " << i % 97 << "</t><n>" << i * i << "</n></part>\n";
  xml << "</book>\n";

  std::ofstream json(folder / "rows.json");
  for (int i = 0; i < 1500; ++i)
    json << R"({"id":)" << i << R"(,"tags":["a)" << i % 13 << R"(","b"],"v":)" << i * 7 % 101 << "}\n";

  std::ofstream(folder / "table.sql")
      << "create table t(a integer primary key, b text, c real);\n"
         "with recursive n(i) as (select 1 union all select i+1 from n where i<3000)\n"
         "insert into t select i, hex(i*i), i/7.0 from n;\n"
         "create index by_b on t(b);\n"
         "select substr(b,1,2) k, count(*), sum(c) from t group by k order by k;\n";

  std::ofstream(folder / "words.pl")
      << "my %h; for my $i (1 .. 20000) { push @{$h{$i % 977}}, 'w' x ($i % 40) }\n"
         "print join(',', map { length join '', @{$h{$_}} } sort keys %h), qq(\\n);\n"
         "warn qq(on stderr\\n); exit 3;\n";

  std::ofstream(folder / "words.py") << "import json, re, sys\n"
                                        "d = {i: [str(j) for j in range(i % 30)] for i in range(3000)}\n"
                                        "print(len(json.dumps(d)), len(re.findall('[0-9]+', str(d))))\n"
                                        "print('on stderr', file=sys.stderr)\n"
                                        "sys.exit(4)\n";

  std::ofstream(folder / "children.pl")
      << "$| = 1; print `echo one | tr a-z A-Z`;\n"
         "if (my $child = fork) { waitpid $child, 0; print qq(child: $?\\n) } else { kill 9, $$ }\n"
         "print system('exit 5') >> 8, qq(\\n); open my $in, '-|', 'sort', '/etc/group'; print sort <$in>;\n"
         "close $in;  # waits: what outlives the program is left alone\n"
         "exec 'sh', '-c', 'echo $0; exit 6';\n";

  std::ofstream(folder / "children.py")
      << "import os, subprocess, sys, threading\n"
         "print(subprocess.run(['sort', '/etc/passwd'], capture_output=True).stdout[:20], flush=True)\n"
         "thread = threading.Thread(target=lambda: [str(i) * 10 for i in range(10000)])\n"
         "thread.start()\n"
         "child = os.fork()\n"
         "if child == 0: os._exit(len({i: str(i) for i in range(2000)}) % 100 + 9)\n"
         "thread.join()\n"
         "with os.popen('echo two') as two:  # waits: what outlives the program is left alone\n"
         "    print(os.waitpid(child, 0)[1], two.read(), flush=True)\n"
         "os.execv('/bin/sh', ['sh', '-c', 'kill -TERM $$'])\n";

  std::ofstream(folder / "unit.cpp") << "#include <cstddef>\nint main() { return unused_name; }\n";
  std::ofstream(folder / "good.cpp")
      << "#include <new>\n"
         "int main(int n, char**) { int* v = new int[n]; delete[] v; return n == 7; }\n";
}

class identity : public testing::TestWithParam<program> {
 protected:
  void SetUp() override { write_inputs(folder_); }

  [[nodiscard]] counted_runs runs() const {
    std::vector<std::string> command = GetParam().command;
    for (std::string& word : command)
      if (word.rfind("IN/", 0) == 0) word = folder_ / word.substr(3);
    return counted_runs(command, GetParam().variables);
  }

 private:
  scratch_folder folder_;
};

void expect_same(const run_result& shown, const run_result& native) {
  EXPECT_EQ(shown.status, native.status);
  EXPECT_EQ(shown.out, native.out);
  EXPECT_EQ(shown.err, native.err);
}

TEST_P(identity, nothing_shows) {
  const run_result native = runs().natively();
  expect_same(runs().counted().shown, native);
  expect_same(runs().recorded().shown, native);
}

class identity_of_calls : public identity {};

TEST_P(identity_of_calls, every_call_is_an_event) {
  const call_counts taken = runs().recorded_and_counted();
  ASSERT_FALSE(taken.by_counter.empty());
  EXPECT_EQ(taken.by_recorder, taken.by_counter);
}

class identity_of_runs : public identity {};

TEST_P(identity_of_runs, another_run_has_as_many_events) {
  const call_counts counted = runs().counted();
  EXPECT_EQ(runs().counted().by_counter, counted.by_counter) << "not the same in every run";
  EXPECT_EQ(runs().recorded().by_recorder, counted.by_counter);
}

std::string name_of(const testing::TestParamInfo<program>& one) { return one.param.name; }

// Programs that make the same calls in every run.
const std::vector<program> repeatable = {
    {"jq", {"jq", "-c", R"([.id, (.tags | join("-")), .v * 2])", "IN/rows.json"}},
    {"jq_sorts", {"jq", "-s", "group_by(.v) | map({v: .[0].v, n: length})", "IN/rows.json"}},
    {"sqlite3", {"sqlite3", "-init", "IN/table.sql", ":memory:", "select count(*) from t;"}},
    {"perl", {"perl", "IN/words.pl"}, {"PERL_HASH_SEED=0"}},
    {"python3", {"/usr/bin/python3", "-B", "IN/words.py"}, {"PYTHONMALLOC=malloc", "PYTHONHASHSEED=0"}},
    {"every_operator", {target("every_operator")}},
    {"four_threads", {target("four_threads")}},
};

// Programs whose calls differ from run to run: xmllint seeds its dictionaries with the time, and of threads
// now one comes first and now another.
const std::vector<program> unsteady = {
    {"xmllint", {"xmllint", "--format", "--xpath", "//t[@lang='en']", "IN/book.xml"}},
    {"xmllint_of_a_broken_file", {"xmllint", "IN/rows.json"}},
    {"two_hundred_threads", {target("blocks"), "threads", "1", "200", "300"}},
    {"thousands_of_threads", {target("blocks"), "threads", "600", "4", "5"}},
};

// Programs that start others; the compiler proper hashes addresses, which differ from run to run.
const std::vector<program> families = {
    {"gpp_compiles_and_links", {"g++", "-O1", "IN/good.cpp", "-o", "IN/good"}},
    {"gpp_complains", {"g++", "-c", "IN/unit.cpp", "-o", "IN/unit.o"}},
    {"perl_with_children", {"perl", "IN/children.pl"}},
    {"python3_with_children", {"/usr/bin/python3", "-B", "IN/children.py"}, {"PYTHONMALLOC=malloc"}},
};

// Programs that fork, each process with the same calls in every run.
const std::vector<program> forking = {
    {"generations_of_forks", {target("family")}},
};

INSTANTIATE_TEST_SUITE_P(repeatable, identity, testing::ValuesIn(repeatable), name_of);
INSTANTIATE_TEST_SUITE_P(unsteady, identity, testing::ValuesIn(unsteady), name_of);
INSTANTIATE_TEST_SUITE_P(families, identity, testing::ValuesIn(families), name_of);
INSTANTIATE_TEST_SUITE_P(forking, identity, testing::ValuesIn(forking), name_of);
INSTANTIATE_TEST_SUITE_P(repeatable, identity_of_calls, testing::ValuesIn(repeatable), name_of);
INSTANTIATE_TEST_SUITE_P(unsteady, identity_of_calls, testing::ValuesIn(unsteady), name_of);
INSTANTIATE_TEST_SUITE_P(families, identity_of_calls, testing::ValuesIn(families), name_of);
INSTANTIATE_TEST_SUITE_P(forking, identity_of_calls, testing::ValuesIn(forking), name_of);
INSTANTIATE_TEST_SUITE_P(repeatable, identity_of_runs, testing::ValuesIn(repeatable), name_of);
INSTANTIATE_TEST_SUITE_P(forking, identity_of_runs, testing::ValuesIn(forking), name_of);

void expect_identity(const std::string& name, const std::vector<std::string>& options = {}) {
  const counted_runs runs({target("exceptions"), name});
  const run_result native = runs.natively();
  EXPECT_EQ(native.status, 0);
  const call_counts taken = runs.recorded_and_counted(options);
  EXPECT_EQ(taken.shown.status, native.status);
  EXPECT_EQ(taken.shown.out, native.out);
  EXPECT_EQ(taken.shown.err, native.err);
  EXPECT_EQ(taken.by_recorder, taken.by_counter);
  EXPECT_EQ(runs.recorded(options).by_recorder, runs.counted().by_counter);
}

TEST(exceptions, out_of_operator_new_do_not_stop_the_recording) { expect_identity("throws"); }

TEST(exceptions, out_of_operator_new_pass_without_stacks_too) {
  expect_identity("throws", {"--stack", "none"});
}

TEST(exceptions, new_handlers_are_called_as_ever) { expect_identity("new_handler"); }

TEST(exceptions, what_comes_after_them_is_recorded_to_the_last_call) {
  const scratch_folder folder;
  EXPECT_EQ(run(record_command(folder / "journal", {target("exceptions"), "throws"})).status, 0);
  auto counts = count_kinds(read_journal(folder / "journal"), 5151);
  EXPECT_EQ(counts[event_kind::new_], 1000u);
}

// Words of `text` that stand where a kind may, with how often they occur.
std::map<std::string, std::uint64_t> account_of(const std::string& text) {
  std::map<std::string, std::uint64_t> account;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) ++account[line.substr(0, line.find(' '))];
  return account;
}

std::map<std::string, std::uint64_t> by_name(const kind_counts& counts) {
  std::map<std::string, std::uint64_t> named;
  for (const auto& [kind, count] : counts) named[std::string(journal::name_of(kind))] = count;
  return named;
}

TEST(counter, sees_every_entry_point_as_the_program_does) {
  const call_counts taken = counted_runs({target("every_entry_point")}).counted();
  EXPECT_EQ(taken.shown.status, 0) << taken.shown.err;
  ASSERT_EQ(taken.by_counter.size(), 1u);
  EXPECT_EQ(by_name(taken.by_counter[0].of_kind), account_of(taken.shown.out));
}

TEST(counter, takes_an_operator_and_the_malloc_in_it_for_one_call) {
  const call_counts taken = counted_runs({target("every_operator")}).counted();
  ASSERT_EQ(taken.by_counter.size(), 1u);
  kind_counts counts = taken.by_counter[0].of_kind;
  counts.erase(event_kind::malloc);  // libstdc++'s own, before main
  EXPECT_EQ(counts, (kind_counts{{event_kind::new_, 18},
                                 {event_kind::new_array, 18},
                                 {event_kind::delete_, 18},
                                 {event_kind::delete_array, 18}}));
}

TEST(counter, loses_nothing_when_a_program_is_killed) {
  for (const char* how : {"return", "_exit", "abort", "segv", "kill"}) {
    const call_counts taken = counted_runs({target("blocks"), "pairs", "1000", how}).counted();
    ASSERT_EQ(taken.by_counter.size(), 1u) << how;
    EXPECT_EQ(by_name(taken.by_counter[0].of_kind),
              (std::map<std::string, std::uint64_t>{{"malloc", 1000}, {"free", 1000}}))
        << how;
  }
}

TEST(counter, counts_the_calls_of_each_child_for_itself) {
  const call_counts taken = counted_runs({target("forks"), "every_way"}).counted();
  EXPECT_EQ(taken.shown.status, 0);
  std::vector<std::uint64_t> mallocs;
  for (const counted_program& program : taken.by_counter)
    if (program.name == "forks") mallocs.push_back(program.of_kind.at(event_kind::malloc));
  EXPECT_EQ(mallocs, (std::vector<std::uint64_t>{20, 20000, 20000}));  // by fork, and by a bare clone
}

}  // namespace
}  // namespace mallard::test
