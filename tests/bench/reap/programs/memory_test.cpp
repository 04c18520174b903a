// What the programs over regions allocate by: the figures that they tell, and blocks of the right sizes.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "programs/memory/region_kinds.hpp"
#include "programs/memory/run_program.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace mallard::programs;

std::string printed(const tally& counted) {
  testing::internal::CaptureStderr();
  counted.print();
  return testing::internal::GetCapturedStderr();
}

TEST(tally, tells_totals_peaks_and_their_ratio) {
  tally counted;
  counted.begin({1, 100});
  counted.begin({1, 20});
  counted.end({1, 100});
  counted.begin({1, 30});
  counted.count_region();
  EXPECT_EQ(printed(counted),
            "total objects                     3\n"
            "max objects in use                2\n"
            "average size                   50.0\n"
            "total memory                    150\n"
            "max in use                      120\n"
            "total/max                       1.2\n"
            "regions                           1\n"
            "left alive                        2\n");
}

TEST(recorded_region, counts_until_its_clear_its_end_or_a_free) {
  using watched = recorded_region<kinds::individual>;
  {
    watched outer;
    watched inner(outer);
    void* const freed = outer.allocate(10, 1);
    outer.free(freed, 10, 1);
    void* const cleared = inner.allocate(20, 1);
    const std::string before = printed(tally::of_process());
    EXPECT_NE(before.find("left alive                        1\n"), std::string::npos) << before;
    inner.clear();
    const std::string after = printed(tally::of_process());
    EXPECT_NE(after.find("left alive                        0\n"), std::string::npos) << after;
    std::free(cleared);  // which no region ends here
  }
  EXPECT_NE(printed(tally::of_process()).find("regions                           2\n"), std::string::npos);
}

std::uint64_t place_in_page(void* p) { return reinterpret_cast<std::uintptr_t>(p) % 4096; }

template <class Region>
struct first_blocks : testing::Test {};
using kinds_over_pages =
    testing::Types<kinds::region, kinds::sized_reap, kinds::sized_reap_frees, kinds::reap, kinds::reap_frees>;
TYPED_TEST_SUITE(first_blocks, kinds_over_pages);

// Each region has chunks of its own: all of them are to move.
TYPED_TEST(first_blocks, lie_farther_by_the_shift_in_every_region) {
  using places = std::array<std::uint64_t, 3>;
  const auto places_at = [](std::size_t shift) {
    mallard::harness::shifted_pages::shift = shift;
    TypeParam outer;
    TypeParam child(outer);
    TypeParam inner(child);
    return places{place_in_page(outer.allocate(48, 8)), place_in_page(child.allocate(48, 8)),
                  place_in_page(inner.allocate(48, 8))};
  };
  const places unshifted = places_at(0);
  for (const std::size_t shift : {64u, 1024u, 2048u, 4032u}) {
    const places shifted = places_at(shift);
    for (std::size_t i = 0; i < shifted.size(); ++i)
      EXPECT_EQ(shifted[i], (unshifted[i] + shift) % 4096) << "region " << i << " at " << shift;
  }
  mallard::harness::shifted_pages::shift = 0;
}

// Calls with the words of a command line.
template <class Call>
auto with_words(std::vector<std::string> words, Call call) {
  words.insert(words.begin(), "program");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  return call(static_cast<int>(pointers.size()), pointers.data());
}

TEST(run, shifts_what_the_program_allocates) {
  const mallard::test::scratch_folder folder;
  const std::string file = (folder / "text").string();
  std::ofstream(file) << "text";
  const auto place_at = [&](const char* shift) {
    std::uint64_t place = 0;
    const int code = with_words({"--shift", shift, file}, [&](int count, char** words) {
      return run_program(count, words, [&](region& all, std::string_view) {
        region inner(all);
        place = place_in_page(inner.allocate(48, 8));
      });
    });
    EXPECT_EQ(code, 0);
    return place;
  };
  EXPECT_EQ(place_at("1024"), place_at("0") + 1024);
}

TEST(run, refuses_with_one_line_what_it_does_not_know) {
  const auto refused = [](const std::vector<std::string>& words, const std::string& said) {
    EXPECT_EXIT(with_words(words, [](int count, char** all) { return read_command_line(count, all).shift; }),
                testing::ExitedWithCode(2), "^program: " + said + "; usage: [^\n]*\n$")
        << words.front();
  };
  for (const char* shift : {"abc", "64x", "-64", "", "65", "4096"})
    refused({"--shift", shift, "file"},
            "--shift needs a multiple of 64 below 4096, not " + std::string(shift));
  refused({"file", "--shift"}, "--shift needs a multiple of 64 below 4096, not nothing");
  refused({"--foo", "file"}, "unknown option --foo");
  refused({"file", "other"}, "one FILE is read, not also other");
  refused({"--count"}, "no FILE is named");
  const auto read = [](int count, char** all) { return read_command_line(count, all).shift; };
  EXPECT_EQ(with_words({"--shift", "4032", "file"}, read), 4032u);
}

struct pair {
  std::uint64_t first = 1;
  std::uint32_t second = 2;
};

TEST(objects, are_made_where_asked_aligned_and_initialised) {
  region r;
  const pair* const made = make<pair>(r, pair{3, 4});
  EXPECT_EQ(made->first + made->second, 7u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(made) % alignof(pair), 0u);
  const pair* const array = make_array<pair>(r, 3);
  EXPECT_EQ(array[2].first, 1u);
  EXPECT_EQ(make_array<pair>(r, 0), nullptr);
}

}  // namespace
