#include "profile/journal_pass.hpp"
#include "journal/open.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "scratch_folder.hpp"

namespace mallard::profile {
namespace {

class ends final : public watcher {
 public:
  void allocated(std::uint32_t, const object&) override { ++allocations; }
  void freed(std::uint32_t, const object& o) override { ended.push_back(o.free_time); }
  void leaked(std::uint32_t, const object& o) override { ended.push_back(o.free_time); }

  int allocations = 0;
  std::vector<std::uint64_t> ended;
};

TEST(journal_pass, tells_all_watchers_of_every_object) {
  const test::temporary_file file("a 8 10 1 5\na 8 20 1 6\nf 10 1 7\n");
  ends first;
  ends second;
  journal_pass pass(journal::open(file.path()), {&first, &second});
  while (pass.advance()) {
  }
  for (const ends* log : {&first, &second}) {
    EXPECT_EQ(log->allocations, 2);
    EXPECT_EQ(log->ended, std::vector<std::uint64_t>({7, 0}));
  }
  EXPECT_EQ(pass.objects().counts().events, 3U);
  EXPECT_EQ(pass.source().progress(), 1);
  EXPECT_FALSE(pass.advance());
  EXPECT_EQ(first.allocations, 2) << "nothing is emitted twice";
}

TEST(journal_pass, a_journal_without_events_ends_at_once) {
  const test::temporary_file file("f 0 1 1\n");  // a free of null is none
  ends log;
  journal_pass pass(journal::open(file.path()), {&log});
  int pieces = 0;
  while (pass.advance()) ++pieces;
  EXPECT_LE(pieces, 1);
  EXPECT_EQ(pass.objects().counts().events, 0U);
}

TEST(journal_pass, many_leaked_objects_come_in_pieces) {
  std::string lines;
  const std::size_t objects = journal_pass::leaks_at_once + 1;
  for (std::size_t n = 1; n <= objects; ++n) {
    char line[64];
    std::snprintf(line, sizeof line, "a 8 %zx 1 %zu\n", n * 16, n);
    lines += line;
  }
  const test::temporary_file file(lines);
  ends log;
  journal_pass pass(journal::open(file.path()), {&log});
  std::size_t most = 0;
  std::size_t before = 0;
  while (pass.advance()) {
    most = std::max(most, log.ended.size() - before);
    before = log.ended.size();
  }
  EXPECT_EQ(log.ended.size(), objects);
  EXPECT_EQ(most, journal_pass::leaks_at_once);
}

TEST(journal_pass, ends_behind_the_number_of_events) {
  std::string lines;
  constexpr std::uint64_t of_the_journal = 300'000;  // several batches
  for (std::uint64_t n = 1; n <= of_the_journal; ++n) lines += "a 8 1000 1 " + std::to_string(n) + "\n";
  const test::temporary_file file(lines);
  for (const std::uint64_t events :
       {std::uint64_t{0}, std::uint64_t{1}, of_the_journal / 2 + 1, of_the_journal}) {
    ends log;
    journal_pass pass(journal::open(file.path()), {&log}, events);
    while (pass.advance()) {
    }
    EXPECT_EQ(pass.objects().counts().events, events);
    EXPECT_EQ(log.ended.size(), events);
    EXPECT_FALSE(pass.advance());
  }
}

TEST(journal_pass, a_journal_with_fewer_events_than_it_had_is_an_error) {
  const test::temporary_file file("a 8 10 1 5\na 8 20 1 6\n");
  ends log;
  journal_pass pass(journal::open(file.path()), {&log}, 3);
  const auto read_all = [&pass] {
    while (pass.advance()) {
    }
  };
  EXPECT_THROW(read_all(), journal::error);
}

TEST(journal_pass, errors_of_the_journal_come_out) {
  const test::temporary_file file("a 8 10 1 5\nnonsense\n");
  ends log;
  journal_pass pass(journal::open(file.path()), {&log});
  const auto read_all = [&pass] {
    while (pass.advance()) {
    }
  };
  EXPECT_THROW(read_all(), journal::error);
}

}  // namespace
}  // namespace mallard::profile
