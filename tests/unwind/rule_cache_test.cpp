// The cache says what find_frame_rule says, from any number of threads, while modules come and go.
#include "unwind/rule_cache.hpp"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace mallard::unwind {
namespace {

struct code {
  std::uintptr_t begin;
  std::uintptr_t end;
};

code module_of(const void* address) {
  dl_find_object found;
  EXPECT_EQ(_dl_find_object(const_cast<void*>(address), &found), 0);
  return {reinterpret_cast<std::uintptr_t>(found.dlfo_map_start),
          reinterpret_cast<std::uintptr_t>(found.dlfo_map_end)};
}

// Not by a function that sanitizers have their own of, in the program.
code libc() { return module_of(reinterpret_cast<const void*>(&gnu_get_libc_version)); }

class rule_cache_test : public testing::Test {
 protected:
  void look_up_all(code range, std::uintptr_t step) {
    for (std::uintptr_t address = range.begin + 1; address < range.end; address += step)
      ASSERT_EQ(cache_->rule_of(address), find_frame_rule(address - 1)) << std::hex << address;
  }

  std::unique_ptr<rule_cache> cache_ = std::make_unique<rule_cache>();
};

TEST_F(rule_cache_test, says_the_same_the_first_time_and_later) {
  look_up_all(libc(), 97);
  const std::size_t used = cache_->used();
  EXPECT_GT(used, 1000u);
  look_up_all(libc(), 97);
  EXPECT_EQ(cache_->used(), used);
}

TEST_F(rule_cache_test, keeps_nothing_of_addresses_outside_of_modules) {
  for (std::uintptr_t address = 0; address < 100; ++address)
    EXPECT_EQ(cache_->rule_of(address).kind(), frame_kind::unknown);
  EXPECT_EQ(cache_->used(), 0u);
}

TEST_F(rule_cache_test, stays_right_when_it_is_full) {
  const code range = libc();
  const std::uintptr_t step = (range.end - range.begin) / (rule_cache::most_used + 1000);
  ASSERT_GT(step, 0u);
  for (std::uintptr_t address = range.begin + 1; address < range.end; address += step)
    static_cast<void>(cache_->rule_of(address));
  EXPECT_EQ(cache_->used(), rule_cache::most_used);
  look_up_all(range, 1009);
  EXPECT_EQ(cache_->used(), rule_cache::most_used);
}

TEST_F(rule_cache_test, uses_forgotten_slots_again) {
  const code range = libc();
  look_up_all(range, 97);
  const std::size_t used = cache_->used();
  for (int i = 0; i < 3; ++i) {
    cache_->forget_rules(range.begin, range.end);
    look_up_all(range, 97);
  }
  EXPECT_LT(cache_->used(), used + used / 2);  // else each address would have taken four slots
}

// Two modules in turn, one in the other's place, with other rules there.
TEST_F(rule_cache_test, forgets_a_module_that_is_gone) {
  std::map<std::uintptr_t, std::set<std::uint64_t>> rules_at;
  for (const char* file :
       {MALLARD_SMALL_FRAME, MALLARD_LARGE_FRAME, MALLARD_SMALL_FRAME, MALLARD_LARGE_FRAME}) {
    void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    const void* function = dlsym(library, "one_frame");
    ASSERT_NE(function, nullptr);
    const auto begin = reinterpret_cast<std::uintptr_t>(function);
    for (std::uintptr_t pc = begin; pc < begin + 32; ++pc) {
      const frame_rule rule = cache_->rule_of(pc + 1);
      EXPECT_EQ(rule, find_frame_rule(pc));
      rules_at[pc].insert(rule.bits);
    }
    const code range = module_of(function);
    cache_->forget_rules(range.begin, range.end);
    dlclose(library);
  }
  const auto changed = [](const auto& at) { return at.second.size() > 1; };
  EXPECT_TRUE(std::any_of(rules_at.begin(), rules_at.end(), changed)) << "neither took the other's place";
}

TEST_F(rule_cache_test, tells_once_which_tables_it_has_read) {
  const code range = libc();
  eh_frame_table table;
  ASSERT_TRUE(find_table(range.begin, table));
  const auto tables = [&] {
    std::multimap<std::uint64_t, std::uint64_t> found;
    cache_->for_each_table([&](std::uint64_t first, std::uint64_t pages) { found.emplace(first, pages); });
    return found;
  };
  EXPECT_TRUE(tables().empty());
  look_up_all(range, 97);
  const std::uint64_t first = (reinterpret_cast<std::uintptr_t>(table.header) + 4095) / 4096;
  const std::uint64_t last = (reinterpret_cast<std::uintptr_t>(table.end) - 1) / 4096;
  EXPECT_EQ(tables(), (std::multimap<std::uint64_t, std::uint64_t>{{first, last - first + 1}}));
  const code other = module_of(reinterpret_cast<const void*>(&testing::UnitTest::GetInstance));
  look_up_all(other, 97);
  EXPECT_EQ(tables().size(), 2U);
  cache_->forget_rules((first - 1) * 4096, (last + 1) * 4096);
  EXPECT_EQ(tables().size(), 1U);
  look_up_all(other, 89);
  EXPECT_EQ(tables().size(), 1U) << "though there is a free place before it";
}

TEST_F(rule_cache_test, serves_many_threads) {
  const code range = libc();
  std::atomic<int> wrong = 0;
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      for (std::uintptr_t address = range.begin + 1; address < range.end; address += 1009)
        wrong += cache_->rule_of(address) != find_frame_rule(address - 1);
    });
  }
  std::thread forgetter([&] {
    while (!done) cache_->forget_rules(range.begin, range.begin + (range.end - range.begin) / 2);
  });
  for (std::thread& each : readers) each.join();
  done = true;
  forgetter.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace mallard::unwind
