// Every entry point is an event with what the program passed and received, and works as unrecorded. One call
// in 64 is timed, the process's CPU time every second.
#include <gtest/gtest.h>

#include <sstream>

#include "recorder/run_process.hpp"

namespace mallard::test {
namespace {

event_kind kind_named(const std::string& name) {
  static const std::map<std::string, event_kind> kinds = {
      {"malloc", event_kind::malloc},
      {"calloc", event_kind::calloc},
      {"posix_memalign", event_kind::posix_memalign},
      {"aligned_alloc", event_kind::aligned_alloc},
      {"memalign", event_kind::memalign},
      {"valloc", event_kind::valloc},
      {"pvalloc", event_kind::pvalloc},
      {"realloc", event_kind::realloc},
      {"reallocarray", event_kind::reallocarray},
      {"free", event_kind::free},
      {"free_sized", event_kind::free_sized},
      {"free_aligned_sized", event_kind::free_aligned_sized},
  };
  return kinds.at(name);
}

// The program's own account of its calls.
std::vector<journal::event> parse_account(const std::string& text) {
  std::vector<journal::event> account;
  std::istringstream words(text);
  std::string name;
  journal::event e;
  while (words >> name >> e.address >> e.size >> e.alignment >> e.old_address) {
    e.kind = kind_named(name);
    account.push_back(e);
  }
  return account;
}

class entry_points : public testing::Test {
 protected:
  recorded record(const std::vector<std::string>& options = {}) {
    const auto journal = folder_ / "journal";
    result_ = run(record_command(journal, {target("every_entry_point")}, options));
    EXPECT_EQ(result_.status, 0) << result_.err;
    return read_journal(journal);
  }

  scratch_folder folder_;
  run_result result_;
};

TEST_F(entry_points, each_call_is_one_event_as_the_program_saw_it) {
  const recorded r = record();
  const auto account = parse_account(result_.out);
  ASSERT_EQ(account.size(), 30u);
  ASSERT_EQ(r.events.size(), account.size());
  for (std::size_t i = 0; i < account.size(); ++i) {
    SCOPED_TRACE("call " + std::to_string(i));
    EXPECT_EQ(r.events[i].kind, account[i].kind);
    EXPECT_EQ(r.events[i].address, account[i].address);
    EXPECT_EQ(r.events[i].size, account[i].size);
    EXPECT_EQ(r.events[i].alignment, account[i].alignment);
    EXPECT_EQ(r.events[i].old_address, account[i].old_address);
    EXPECT_EQ(r.events[i].thread, 0u);
    EXPECT_GE(r.events[i].time, r.events[i == 0 ? 0 : i - 1].time);
  }
  EXPECT_TRUE(r.complete);
}

TEST_F(entry_points, callers_lie_in_the_program) {
  const recorded r = record({"--stack", "caller"});
  const journal::module_info& program = r.tables.modules.at(0);
  EXPECT_EQ(program.path, target("every_entry_point"));
  EXPECT_FALSE(program.build_id.empty());
  for (const journal::event& e : r.events) {
    if (is_free(e.kind)) {
      EXPECT_EQ(e.context, 0u);
      continue;
    }
    const journal::context_node& caller = r.tables.contexts.at(e.context);
    EXPECT_EQ(caller.parent, 0u);
    EXPECT_GE(caller.return_address, program.begin);
    EXPECT_LT(caller.return_address, program.end);
  }
}

TEST_F(entry_points, stacks_reach_from_the_caller_to_the_start_of_the_program) {
  const recorded r = record();
  const journal::module_info& program = r.tables.modules.at(0);
  for (const journal::event& e : r.events) {
    if (is_free(e.kind)) continue;
    std::vector<journal::context_node> frames;
    for (std::uint32_t c = e.context; c != 0; c = r.tables.contexts.at(c).parent)
      frames.push_back(r.tables.contexts.at(c));
    ASSERT_GE(frames.size(), 4u);  // the caller, main, two of libc's, _start
    for (const journal::context_node* frame : {&frames.front(), &frames.back()}) {
      EXPECT_GE(frame->return_address, program.begin);
      EXPECT_LT(frame->return_address, program.end);
    }
    for (std::size_t i = 0; i + 1 < frames.size(); ++i) EXPECT_GT(frames[i].stack_offset, 0u);
  }
}

TEST_F(entry_points, stacks_are_as_deep_as_asked_for_or_not_recorded) {
  const recorded two = record({"--depth", "2"});
  for (const journal::event& e : two.events) {
    if (is_free(e.kind)) continue;
    const journal::context_node& outer = two.tables.contexts.at(two.tables.contexts.at(e.context).parent);
    EXPECT_NE(outer.return_address, 0u);
    EXPECT_EQ(outer.parent, 0u);
  }
  const recorded none = record({"--stack", "none"});
  for (const journal::event& e : none.events) EXPECT_EQ(e.context, 0u);
}

TEST_F(entry_points, frees_have_callers_on_request) {
  const recorded r = record({"--free-stacks"});
  EXPECT_EQ(r.events.size(), 30u);
  for (const journal::event& e : r.events) EXPECT_NE(e.context, 0u);
}

TEST_F(entry_points, the_journal_knows_the_process) {
  const recorded r = record();
  EXPECT_EQ(r.about.program, target("every_entry_point"));
  EXPECT_EQ(r.about.arguments, std::vector<std::string>{target("every_entry_point")});
  EXPECT_EQ(r.about.directory, std::filesystem::current_path());
  EXPECT_GT(r.about.process, 1u);
  EXPECT_GT(r.about.ticks_per_second, 1e6);
  EXPECT_GT(r.about.start_unix_ns, 1'600'000'000'000'000'000u);
  EXPECT_EQ(r.about.figures.at("exit_code"), 0);
  EXPECT_GT(r.about.figures.at("program_peak_rss"), 1 << 20);
  EXPECT_LT(r.about.figures.at("program_peak_rss"), 1 << 30);
  ASSERT_EQ(r.tables.threads.size(), 1u);
  EXPECT_EQ(r.tables.threads[0].system_id, r.about.process);
}

TEST_F(entry_points, one_line_sums_up_and_nothing_is_left_behind) {
  record();
  const auto journal = folder_ / "journal";
  EXPECT_EQ(result_.err, "mallard-record: " + journal.string() + ": 30 events, " +
                             std::to_string(std::filesystem::file_size(journal)) + " bytes\n");
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"journal"});
}

class timing : public testing::Test {
 protected:
  recorded record(const std::vector<std::string>& command, const std::vector<std::string>& options = {}) {
    const run_result result = run(record_command(folder_ / "journal", command, options));
    EXPECT_EQ(result.status, 0) << result.err;
    return read_journal(folder_ / "journal");
  }

 private:
  scratch_folder folder_;
};

TEST_F(timing, one_call_in_64_says_how_long_it_took) {
  const recorded r = record({target("four_threads")});
  const std::uint64_t threads = r.tables.threads.size();
  std::map<event_kind, std::uint64_t> timed;
  std::uint64_t all_timed = 0;
  for (const journal::event& e : r.events) {
    timed[e.kind] += e.duration != 0;
    all_timed += e.duration != 0;
  }
  EXPECT_LE(all_timed, r.events.size() / 64 + threads);
  EXPECT_GE(all_timed, r.events.size() / 64 - threads);
  for (const auto& [kind, calls] : count_kinds(r)) {
    if (calls < 5000) continue;
    EXPECT_GT(timed[kind], calls / 128) << journal::name_of(kind);
    EXPECT_LT(timed[kind], calls / 32) << journal::name_of(kind);
  }
}

TEST_F(timing, the_cpu_time_and_what_recording_took_of_it_are_written_at_every_interval) {
  const recorded r =
      record({"perl", "-e", "use POSIX; while (clock() < 0.2e6) { @a = map { 'x' . $_ } 1..1000 }"},
             {"--usage-interval", "20"});
  const auto& usage = r.tables.usage;
  ASSERT_GE(usage.size(), 2u);
  for (std::size_t i = 1; i < usage.size(); ++i) {
    EXPECT_GT(usage[i].time, usage[i - 1].time);
    EXPECT_GE(usage[i].cpu_ns, usage[i - 1].cpu_ns);
    EXPECT_GE(usage[i].recording_ns, usage[i - 1].recording_ns);
    EXPECT_GE(usage[i].stalls, usage[i - 1].stalls);
    EXPECT_GE(usage[i].stalled_ns, usage[i - 1].stalled_ns);
  }
  for (const journal::usage_sample& row : usage) EXPECT_LE(row.recording_ns, row.cpu_ns);
  EXPECT_GT(usage.back().cpu_ns, usage.front().cpu_ns);
  EXPECT_GT(usage.back().recording_ns, usage.front().recording_ns);
  EXPECT_GE(usage.back().cpu_ns, 200'000'000u);
}

}  // namespace
}  // namespace mallard::test
