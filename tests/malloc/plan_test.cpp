// The malloc with a plan, preloaded into plan_program.cpp, of which the plans are; and what it takes for one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "malloc/plan_image.hpp"
#include "malloc/route_table.hpp"
#include "scratch_folder.hpp"
#include "slow_tests.hpp"

namespace mallard::malloc_library {
namespace {

std::string output_of(const std::string& command) {
  std::string result;
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> piece{};
  while (const std::size_t n = std::fread(piece.data(), 1, piece.size(), pipe))
    result.append(piece.data(), n);
  if (const int status = ::pclose(pipe); status != 0) result += "exit " + std::to_string(status);
  return result;
}

// A frame of a context: the offset of its return address, and bytes to the next one on the stack.
struct frame {
  std::uint64_t offset;
  std::uint32_t to_next;
  std::uint32_t module = 0;
};
struct context {
  std::vector<frame> frames;  // the innermost first
  std::uint32_t rule;
};

// An image, put together as mallard plan does it.
struct plan {
  std::vector<std::string> build_ids;
  std::vector<context> contexts;
  std::vector<image_rule> rules;  // from number 1 on
  std::uint32_t pools = 0;
  std::uint32_t default_heap = 0;
  std::uint32_t rule_of_all = 0;

  [[nodiscard]] std::string bytes() const {
    struct node {
      std::uint32_t rule = 0;
      std::map<std::uint64_t, image_entry> entries;
    };
    std::vector<node> nodes{{rule_of_all, {}}};
    for (const context& c : contexts) {
      std::size_t at = 0;
      for (const frame& f : c.frames) {
        image_entry& e = nodes[at].entries[f.offset];
        e.offset = f.offset;
        e.module = f.module;
        if (&f == &c.frames.back()) {
          e.rule = c.rule;
        } else {
          if (e.child == 0) e.child = static_cast<std::uint32_t>(nodes.size());
          e.stack_offset = f.to_next;
          at = e.child;
          if (at == nodes.size()) nodes.emplace_back();
        }
      }
    }
    std::string modules(build_ids.size() * sizeof(image_module), '\0');
    for (std::size_t i = 0; i != build_ids.size(); ++i) {
      modules[i * sizeof(image_module)] = static_cast<char>(build_ids[i].size());
      std::copy(build_ids[i].begin(), build_ids[i].end(), modules.begin() + 1 + 32 * static_cast<long>(i));
    }
    std::string table;
    std::string all_entries;
    for (const node& n : nodes) {
      const image_node written{static_cast<std::uint32_t>(all_entries.size() / sizeof(image_entry)),
                               static_cast<std::uint32_t>(n.entries.size()), n.rule, 0};
      table.append(reinterpret_cast<const char*>(&written), sizeof written);
      for (const auto& [offset, e] : n.entries)
        all_entries.append(reinterpret_cast<const char*>(&e), sizeof e);
    }
    std::vector<image_rule> all_rules{image_rule{}};
    all_rules.insert(all_rules.end(), rules.begin(), rules.end());
    for (std::uint32_t i = 1; i < all_rules.size(); ++i) all_rules[i].number = i;
    const std::string rule_table(reinterpret_cast<const char*>(all_rules.data()),
                                 all_rules.size() * sizeof(image_rule));
    const std::string body = modules + table + all_entries + rule_table;
    image_header h{{0x89, 'M', 'L', 'P', '\r', '\n', 0x1a, '\n'},
                   1,
                   0,
                   0,
                   default_heap,
                   0,
                   0,
                   0,
                   0,
                   0,
                   0,
                   0,
                   0,
                   pools,
                   0};
    const auto size = [](const std::string& s) { return static_cast<std::uint32_t>(s.size()); };
    h.bytes = static_cast<std::uint32_t>(sizeof h) + size(body);
    h.crc = crc32_of(std::as_bytes(std::span(body)));
    h.modules = static_cast<std::uint32_t>(build_ids.size());
    h.first_module = sizeof h;
    h.nodes = static_cast<std::uint32_t>(nodes.size());
    h.first_node = h.first_module + size(modules);
    h.entries = size(all_entries) / sizeof(image_entry);
    h.first_entry = h.first_node + size(table);
    h.rules = static_cast<std::uint32_t>(all_rules.size());
    h.first_rule = h.first_entry + size(all_entries);
    return std::string(reinterpret_cast<const char*>(&h), sizeof h) + body;
  }
};

image_rule rule_of(strategy how, std::uint32_t first, std::uint32_t pools = 1, std::uint32_t witness = 0) {
  image_rule r{};
  r.how = how;
  r.first_pool = first;
  r.pools = pools;
  r.witness = witness;
  return r;
}

// What the program says of itself, once for all tests.
struct learned {
  std::string build_id;
  std::map<std::string, std::vector<frame>> contexts;

  learned() {
    std::istringstream text(output_of(MALLARD_PLAN_PROGRAM " learn"));
    for (std::string line; std::getline(text, line);) {
      std::istringstream words(line);
      std::string name;
      words >> name;
      if (name == "build_id") {
        std::string digits;
        words >> digits;
        for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
          build_id.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
        continue;
      }
      for (std::string word; words >> word;) {
        const std::size_t at = word.find('@');
        contexts[name].push_back(
            {std::stoull(word, nullptr, 16), static_cast<std::uint32_t>(std::stoul(word.substr(at + 1)))});
      }
    }
  }

  [[nodiscard]] context innermost(const std::string& name, std::size_t frames, std::uint32_t rule) const {
    const std::vector<frame>& all = contexts.at(name);
    return {{all.begin(), all.begin() + static_cast<long>(frames)}, rule};
  }
};

// Of a file, as binutils read it.
std::string build_id_of(const std::string& file) {
  const std::string notes = output_of("readelf -n " + file);
  std::string id;
  const std::size_t at = notes.find("Build ID: ");
  for (std::size_t i = at + 10; at != std::string::npos && std::isxdigit(notes[i]) != 0; i += 2)
    id.push_back(static_cast<char>(std::stoi(notes.substr(i, 2), nullptr, 16)));
  return id;
}

// Where a library's function `make` calls malloc. It is the second module of a plan.
frame call_in_make(const std::string& library) {
  const std::string text =
      output_of("objdump -d --no-show-raw-insn " + library +
                " | awk '/<make>:/{on=1} on&&found{print $1; exit} on&&/call/{found=1}'");
  return {std::stoull(text, nullptr, 16), 0, 1};
}

class Plan : public testing::Test {
 protected:
  static const learned& program() {
    static const learned l;
    return l;
  }
  // A rule for each of the contexts: of two callers of one wrapper, of calloc and realloc, of an owner's.
  static plan make_plan(strategy how = strategy::pool) {
    const learned& l = program();
    plan p;
    p.build_ids = {l.build_id};
    p.contexts = {l.innermost("a", 2, 1), l.innermost("b", 2, 2), l.innermost("zero", 1, 1),
                  l.innermost("grow", 1, 1), l.innermost("owner", 1, 3)};
    p.rules = {rule_of(how, 0), rule_of(how, 1), rule_of(how, 2, 256, 1)};
    p.pools = 2 + 256;
    return p;
  }

  static std::string name_of_program() {
    const std::string whole = MALLARD_PLAN_PROGRAM;
    return whole.substr(whole.rfind('/') + 1);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string run(const std::string& image, const std::string& arguments, const std::string& variables = "") {
    std::ofstream(image_path_, std::ios::binary) << image;
    return output_of("MALLARD_MALLOC_PLAN=" + image_path_ + " " + variables +
                     " LD_PRELOAD=" MALLARD_MALLOC " " MALLARD_PLAN_PROGRAM " " + arguments);
  }
  std::string run(const plan& p, const std::string& arguments, const std::string& variables = "") {
    return run(p.bytes(), arguments, variables);
  }

  test::scratch_folder folder_;
  std::string image_path_ = path(name_of_program() + ".image");
};

TEST_F(Plan, EachContextHasThePoolOfItsRule) {
  const std::string own = "a+a same b+b same a+b apart a+zero same a+plain apart b+plain apart ";
  for (const strategy how : {strategy::pool, strategy::thread_pool})
    EXPECT_EQ(run(make_plan(how), "contexts"), own + "grown+400a same grown+plain apart kept\n");
  plan one_pool = make_plan();
  one_pool.rules[1].first_pool = 0;
  EXPECT_NE(run(one_pool, "contexts").find("a+b same"), std::string::npos);
  plan no_wrapper = make_plan();
  no_wrapper.contexts[1].frames.front().offset += 1;
  EXPECT_NE(run(no_wrapper, "contexts").find("b+plain same"), std::string::npos);
}

TEST_F(Plan, EachWayToAskForABlockIsRoutedUpToNaturalAlignment) {
  plan p = make_plan();
  for (int way = 0; way != 8; ++way)
    p.contexts.push_back(program().innermost("way" + std::to_string(way), 1, 2));
  EXPECT_EQ(run(p, "each_way"), " same  same  same  same  same  same  same  apart \n");
  p.contexts.resize(make_plan().contexts.size());
  EXPECT_EQ(run(p, "each_way").find("same"), std::string::npos);
}

TEST_F(Plan, ARuleForAllIsThatOfWhatNoOtherOneNames) {
  plan p = make_plan();
  p.contexts.resize(1);
  p.rule_of_all = 2;
  EXPECT_NE(run(p, "contexts").find("a+b apart a+zero apart a+plain apart b+plain"), std::string::npos);
}

TEST_F(Plan, RequestsOverTheRulesLargestHaveTheDefaultHeap) {
  plan p = make_plan();
  p.rules[0].largest = 399;
  EXPECT_NE(run(p, "contexts").find("grown+400a same grown+plain same"), std::string::npos)
      << run(p, "contexts");
  p.rules[0].largest = 5000;
  EXPECT_NE(run(p, "contexts").find("grown+400a same"), std::string::npos);
}

TEST_F(Plan, AWitnessInAnyPlaceTellsOwnersApart) {
  for (const std::uint32_t witness : {1u, 2u, 3u, 4u, 5u, 6u, 16u}) {
    plan p = make_plan();
    p.rules[2].witness = witness;
    const std::string said = run(p, "owners 10");
    EXPECT_TRUE(said.starts_with("10 of 10 apart, 0 astray") || said.starts_with("9 of 10 apart, 0 astray"))
        << witness << ": " << said;
  }
  plan p = make_plan();
  p.rules[2] = rule_of(strategy::pool, 2);
  EXPECT_EQ(run(p, "owners 10"), "1 of 10 apart, 0 astray\n");
}

TEST_F(Plan, WhatNoRuleNamesMayBeTheCLibrarys) {
  plan p = make_plan();
  p.default_heap = 1;
  EXPECT_NE(run(p, "contexts").find("a+b apart a+zero same a+plain apart"), std::string::npos);
  EXPECT_EQ(run(p, "churn"), "right\n");
  EXPECT_EQ(run(p, "threads"), "right\n");
}

TEST_F(Plan, BlocksOfEveryStrategyAreWholeAndReturnFromAnyThread) {
  for (const strategy how : {strategy::pool, strategy::monotonic, strategy::region, strategy::reap}) {
    plan p = make_plan(how);
    if (how == strategy::region || how == strategy::reap) p.rules[0].frame = 1;
    EXPECT_EQ(run(p, "churn"), "right\n") << static_cast<int>(how);
    EXPECT_EQ(run(p, "threads"), "right\n") << static_cast<int>(how);
    EXPECT_EQ(run(p, "forks"), "right\n") << static_cast<int>(how);
  }
}

TEST_F(Plan, AThreadThatFindsNoMemoryForItsPoolsHasThemLater) {
  EXPECT_EQ(run(make_plan(), "without_memory"), "right\n");
}

// A refused mapping, and no address left: null and ENOMEM, and nothing that was allocated has changed.
TEST_F(Plan, MemoryThatRunsOutIsNullAndLeavesTheRestIntact) {
  for (const strategy how : {strategy::pool, strategy::monotonic, strategy::region, strategy::reap}) {
    plan p = make_plan(how);
    if (how == strategy::region || how == strategy::reap) p.rules[0].frame = 1;
    const std::vector<std::string> intervals =
        test::slow_tests ? std::vector<std::string>{"1", "2", "3", "7"} : std::vector<std::string>{"1", "3"};
    for (const std::string& one_in : intervals)
      EXPECT_EQ(run(p, "refused " + one_in), "whole\n") << static_cast<int>(how) << one_in;
    EXPECT_EQ(run(p, "up_to_the_limit"), "whole\n") << static_cast<int>(how);
  }
}

TEST_F(Plan, ARegionIsCarvedInOrderAndAReapReusesWhatWasFreed) {
  EXPECT_EQ(run(make_plan(strategy::monotonic), "region"), "rising not reused\n");
  EXPECT_EQ(run(make_plan(strategy::region), "region"), "rising not reused\n");
  EXPECT_EQ(run(make_plan(strategy::reap), "region"), "rising reused\n");
}

TEST_F(Plan, AReapThatBeginsASegmentAnewGivesNothingTwice) {
  plan p = make_plan(strategy::reap);
  p.rules[0].largest = 4096;
  EXPECT_EQ(run(p, "begun_anew"), "apart\n");
}

TEST_F(Plan, PhasesThatFollowEachOtherShareMemory) {
  const auto peak = [](const std::string& said) { return std::strtod(said.c_str() + 6, nullptr); };
  const double without = peak(output_of(MALLARD_PLAN_PROGRAM " phases"));
  EXPECT_GT(without, 8000);
  EXPECT_LT(peak(run(make_plan(), "phases")), 1.25 * without);
}

TEST_F(Plan, ALibraryIsFoundEachTimeThatItIsOpened) {
  plan p = make_plan();
  p.build_ids.push_back(build_id_of(MALLARD_PLAN_LIBRARY));
  EXPECT_EQ(run(p, "library " MALLARD_PLAN_LIBRARY),
            "library+plain same library+plain same library+plain same \n");
  p.contexts.push_back({{call_in_make(MALLARD_PLAN_LIBRARY)}, 2});
  EXPECT_EQ(run(p, "library " MALLARD_PLAN_LIBRARY),
            "library+plain apart library+plain apart library+plain apart \n");
}

TEST_F(Plan, BlocksOfALibrarysConstructorAreRouted) {
  plan p = make_plan();
  p.build_ids.push_back(build_id_of(MALLARD_EARLY_LIBRARY));
  p.contexts.push_back({{call_in_make(MALLARD_EARLY_LIBRARY)}, 2});
  std::ofstream(image_path_, std::ios::binary) << p.bytes();
  const std::string plan_and_library =
      "MALLARD_MALLOC_PLAN=" + image_path_ + " LD_PRELOAD='" MALLARD_MALLOC " " MALLARD_EARLY_LIBRARY "' ";
  EXPECT_EQ(output_of(plan_and_library + MALLARD_PLAN_PROGRAM " early"), "early+b same \n");
  const std::string with_report =
      output_of(plan_and_library + "MALLARD_MALLOC_STATS=1 " MALLARD_PLAN_PROGRAM " early");
  EXPECT_NE(with_report.find("early+b same"), std::string::npos);
  EXPECT_NE(with_report.find("mallard-malloc"), std::string::npos);
}

TEST_F(Plan, AChildOfAnotherBuildIsNotRouted) {
  std::ofstream(image_path_, std::ios::binary) << make_plan().bytes();
  const std::string variables = "MALLARD_MALLOC_PLAN=" + image_path_ + " LD_PRELOAD=" MALLARD_MALLOC " ";
  EXPECT_EQ(output_of(variables + "sh -c 'echo one; echo two | cat'"), "one\ntwo\n");
  EXPECT_EQ(
      output_of(variables + "MALLARD_MALLOC_VERBOSE=1 /bin/echo one"),
      "mallard-malloc: " + image_path_ + " is of another build of the program; no call is routed\none\n");
}

TEST_F(Plan, APlanOfAnotherBuildSaysSoOnce) {
  plan p = make_plan();
  p.build_ids[0][0] ^= 1;
  const std::string other = path("other.image");
  EXPECT_EQ(run(p, "churn"), "mallard-malloc: " + image_path_ +
                                 " is of another build of the program; no call is routed\nright\n");
  image_path_ = other;
  EXPECT_EQ(run(p, "churn"), "right\n");
}

TEST_F(Plan, DamagedImagesAreRefusedInALine) {
  const std::string whole = make_plan().bytes();
  const auto refused = [&](const std::string& image, const std::string& why) {
    const std::string said = run(image, "churn");
    EXPECT_EQ(said, "mallard-malloc: " + image_path_ + " " + why + "; no call is routed\nright\n");
  };
  refused("", "is no image of a plan");
  refused("format = 1\n", "is no image of a plan");
  refused(whole.substr(0, whole.size() - 1), "is cut off, or too long");
  std::string changed = whole;
  changed[changed.size() / 2] ^= 1;
  refused(changed, "is damaged");
  changed = whole;
  changed[8] = 2;
  refused(changed, "is of another version of mallard");
  changed = whole;
  changed[60] = 2;
  refused(changed, "is of another version of mallard");
  changed[60] = 1;  // huge pages
  EXPECT_EQ(run(changed, "churn"), "right\n");
  ::unlink(image_path_.c_str());
  EXPECT_NE(output_of("MALLARD_MALLOC_PLAN=" + path("none") +
                      " LD_PRELOAD=" MALLARD_MALLOC " " MALLARD_PLAN_PROGRAM " churn")
                .find("cannot be opened; no call is routed\nright\n"),
            std::string::npos);
}

TEST_F(Plan, HugePagesAreAsPlannedUnlessTheUserSaysOtherwise) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage")) GTEST_SKIP() << "there are none here";
  const std::string small = make_plan().bytes();
  std::string huge = small;
  huge[60] = 1;
  const std::string variable = "MALLARD_MALLOC_HUGE_PAGES=";
  EXPECT_EQ(run(small, "pages"), "small\n");
  EXPECT_EQ(run(small, "pages", variable + "1"), "huge\n");
  EXPECT_EQ(run(huge, "pages"), "huge\n");
  EXPECT_EQ(run(huge, "pages", variable), "huge\n");
  EXPECT_EQ(run(huge, "pages", variable + "0"), "small\n");
}

// What the nodes and entries of an image say, one after the other.
std::uint32_t rule_in(const plan_image& p, std::uintptr_t base, const std::uintptr_t* at,
                      const std::uintptr_t* end) {
  const image_node* n = p.nodes.data();
  for (;;) {
    const auto all = p.entries.subspan(n->first_entry, n->entries);
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const image_entry& e) { return base + e.offset == *at; });
    if (found == all.end()) return n->rule;
    if (found->child == 0) return found->rule;
    at += found->stack_offset / sizeof *at;
    n = &p.nodes[found->child];
    if (at >= end) return n->rule;
  }
}

TEST(RouteTable, AWalkLeadsWhereTheTrieDoesWhateverItPasses) {
  constexpr std::uintptr_t base = 0x7000;
  constexpr std::uintptr_t rules = 0x100;
  std::mt19937 random(3);
  int passed = 0;
  int known_at_once = 0;
  for (int trial = 0; trial != 300; ++trial) {
    plan p;
    p.build_ids = {"id"};
    p.rules = std::vector<image_rule>(3, rule_of(strategy::pool, 0));
    p.pools = 1;
    p.rule_of_all = random() % 4;
    for (std::size_t i = 1 + random() % 6; i != 0; --i) {
      context c{{}, static_cast<std::uint32_t>(random() % 4)};
      for (std::size_t depth = 1 + random() % 7; depth != 0; --depth) {
        const std::uint64_t offset = 1 + random() % 3;
        c.frames.push_back({offset, static_cast<std::uint32_t>(8 * (1 + (offset * 5 + depth) % 3))});
      }
      p.contexts.push_back(c);
    }
    const std::string image = p.bytes();
    plan_image found;
    if (check_image(std::as_bytes(std::span(image)), found) != nullptr) continue;
    std::vector<route_table::slot> slots(route_table::slots_for(found.entries.size()));
    std::vector<route_table::check> checks(route_table::checks_for(found));
    route_table table;
    table.open(found, slots.data(), checks.data(), rules, 1);
    const std::array<std::uintptr_t, 1> bases{base};
    for (int again = 0; again != 2; ++again) table.fill(found, bases);
    for (int walk = 0; walk != 50; ++walk) {
      std::array<std::uintptr_t, 24> stack{};
      for (std::uintptr_t& word : stack) word = base + 1 + random() % 3;
      const std::uintptr_t* const end = stack.data() + 1 + random() % stack.size();
      std::vector<const std::uintptr_t*> seen;
      const std::uintptr_t rule =
          table.find(stack.data(), end, [&](const std::uintptr_t* at) { seen.push_back(at); });
      EXPECT_EQ(rule, rules + rule_in(found, base, stack.data(), end));
      if (const std::uint64_t next = table.begin(stack[0]); route_table::is_step(next)) {
        const std::uintptr_t known = table.go_on(stack.data(), next, end);
        EXPECT_TRUE(known == rule || known == 0);
        EXPECT_NE(table.go_on(stack.data(), next, stack.data() + stack.size()), 0u);
        known_at_once += known != 0;
      }
      EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
      EXPECT_LT(seen.back(), end);
      passed += seen.size() > 3;
    }
  }
  EXPECT_GT(passed, 500);
  EXPECT_GT(known_at_once, 500);
}

// A walk goes by a node's number and a word: some word makes any key of them, even that of an empty slot.
TEST(RouteTable, AWordThatMakesAnEmptySlotsKeyLeadsToARule) {
  plan p;
  p.build_ids = {"id"};
  p.contexts = {{{{1, 8}, {2, 0}}, 0}, {{{1, 8}, {3, 0}}, 1}};
  p.rules = {rule_of(strategy::pool, 0)};
  p.pools = 1;
  const std::string image = p.bytes();
  plan_image found;
  ASSERT_EQ(check_image(std::as_bytes(std::span(image)), found), nullptr);
  std::vector<route_table::slot> slots(route_table::slots_for(found.entries.size()));
  std::vector<route_table::check> checks(route_table::checks_for(found));
  constexpr std::uintptr_t rules = 0x5000;
  route_table table;
  table.open(found, slots.data(), checks.data(), rules, 64);
  table.fill(found, std::array<std::uintptr_t, 1>{0x7000});
  const std::array<std::uintptr_t, 2> stack{0x7001, std::uintptr_t{1} << 48};
  EXPECT_EQ(table.find(stack.data(), stack.data() + stack.size(), [](auto) {}), rules);
}

TEST(RouteTable, ANodeHasOneEntryThatLeadsThere) {
  plan p;
  p.build_ids = {"id"};
  p.contexts = {{{{1, 8}, {2, 0}}, 0}, {{{3, 8}, {2, 0}}, 0}};
  std::string image = p.bytes();
  plan_image found;
  EXPECT_EQ(check_image(std::as_bytes(std::span(image)), found), nullptr);
  auto& h = *reinterpret_cast<image_header*>(image.data());
  reinterpret_cast<image_entry*>(image.data() + h.first_entry)[1].child = 1;
  h.crc = crc32_of(std::as_bytes(std::span(image)).subspan(sizeof h));
  EXPECT_STREQ(check_image(std::as_bytes(std::span(image)), found), "has an entry that leads nowhere");
}

// Whatever a checksum is right for.
TEST_F(Plan, AbsurdImagesAreRefusedOrHarmless) {
  const std::string whole = make_plan().bytes();
  std::mt19937 random(1);
  int refusals = 0;
  for (int i = 0; i != 300; ++i) {
    std::string image = whole;
    for (int n = 0; n != 3; ++n) {
      const std::size_t at = 24 + random() % (image.size() - 28) / 4 * 4;
      const std::uint32_t words[] = {0, 1, 0xffffffff, static_cast<std::uint32_t>(random()), 0x7fffffff, 64};
      std::memcpy(image.data() + at, &words[random() % std::size(words)], 4);
    }
    auto& h = *reinterpret_cast<image_header*>(image.data());
    h.crc = crc32_of(std::as_bytes(std::span(image)).subspan(sizeof h));
    plan_image found;
    const bool is_refused = check_image(std::as_bytes(std::span(image)), found) != nullptr;
    refusals += is_refused;
    if (is_refused || i % 10 == 0) continue;
    const std::string said = run(image, "owners 3");
    EXPECT_NE(said.find("of 3 apart"), std::string::npos) << i << said;
  }
  EXPECT_GT(refusals, 50);
  EXPECT_LT(refusals, 290);
}

// By whatever registers hold: pools for every block of a program, maps and hash tables among them. The slabs
// of 64 pools are segments, those of 1024 are parts.
TEST_F(Plan, AProgramOfManyContainersPrintsWhatItPrintsWithoutOne) {
  const std::string arguments = " 12 3000 2 --kinds 2>/dev/null)";  // times
  const std::string without = output_of("(" MALLARD_SUBSYSTEMS + arguments);
  EXPECT_NE(without.find("sum "), std::string::npos);
  for (const strategy how : {strategy::pool, strategy::reap})
    for (const std::uint32_t pools : {64u, 1024u})
      for (const std::uint32_t heap : {0u, 1u}) {
        plan p;
        p.build_ids = {build_id_of(MALLARD_SUBSYSTEMS)};
        p.rules = {rule_of(how, 0, pools, 1)};
        p.pools = pools;
        p.rule_of_all = 1;
        p.default_heap = heap;
        std::ofstream(image_path_, std::ios::binary) << p.bytes();
        EXPECT_EQ(output_of("(MALLARD_MALLOC_PLAN=" + image_path_ +
                            " LD_PRELOAD=" MALLARD_MALLOC " " MALLARD_SUBSYSTEMS + arguments),
                  without);
      }
}

// Beside the walk, of 12, and the loop around it, of 15.
TEST_F(Plan, ARoutedPairTakesFortyFiveInstructions) {
  if (output_of("valgrind --version").find("valgrind-") != 0) GTEST_SKIP() << "needs valgrind";
  const std::string text =
      output_of("objdump -d --no-show-raw-insn " MALLARD_MALLOC_PAIRS
                " | awk '/<main>:/{on=1} /^$/{on=0} on&&found{at=$1; found=0} on&&/malloc@plt/{found=1} "
                "END{print at}'");
  plan p;
  p.build_ids = {build_id_of(MALLARD_MALLOC_PAIRS)};
  p.contexts = {{{{std::stoull(text, nullptr, 16), 0}}, 1}};
  p.rules = {rule_of(strategy::pool, 0)};
  p.pools = 1;
  std::ofstream(image_path_, std::ios::binary) << p.bytes();
  const auto instructions = [&](const char* pairs) {
    const std::string told = output_of(
        "MALLARD_MALLOC_PLAN=" + image_path_ +
        " LD_PRELOAD=" MALLARD_MALLOC
        " valgrind --tool=callgrind --callgrind-out-file=/dev/null " MALLARD_MALLOC_PAIRS " 32 64 " +
        pairs);
    const std::size_t at = told.find("Collected : ");
    EXPECT_NE(at, std::string::npos) << told;
    return at == std::string::npos ? 0 : std::strtod(told.c_str() + at + 12, nullptr);
  };
  const double pair = (instructions("24576") - instructions("8192")) / 16384;
  EXPECT_GT(pair, 15 + 12 + 30);
  EXPECT_LE(pair, 15 + 12 + 45);
}

TEST_F(Plan, CountersTellWhatEachRuleHasComeTo) {
  const std::string counters = path("counters");
  (void)run(make_plan(), "phases", "MALLARD_MALLOC_PLAN_COUNTERS=" + counters);
  std::ifstream file(counters);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_NE(lines[1].find("\"rule\": 1, \"hits\": 400000, \"fallbacks\": 0, \"peak_bytes\": 14400000, "
                          "\"live_bytes\": 0, \"pools\": 1}"),
            std::string::npos)
      << lines[1];
  EXPECT_NE(lines[2].find("\"rule\": 2, \"hits\": 400000"), std::string::npos) << lines[2];
  EXPECT_NE(lines[3].find("\"rule\": 3, \"hits\": 0"), std::string::npos) << lines[3];
  plan p = make_plan();
  p.rules[1].largest = 50;
  EXPECT_NE(run(p, "phases", "MALLARD_MALLOC_PLAN_COUNTERS=1")
                .find("\"rule\": 2, \"hits\": 0, \"fallbacks\": 400000"),
            std::string::npos);
}

}  // namespace
}  // namespace mallard::malloc_library
