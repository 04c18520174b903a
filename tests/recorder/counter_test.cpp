// The counter library itself: it counts what a program says it called, however the program's processes
// come into being and end.
#include <gtest/gtest.h>

#include <sstream>

#include "recorder/counted_runs.hpp"

namespace mallard::test {
namespace {

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
