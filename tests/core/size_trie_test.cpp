#include "mallard/core/size_trie.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include "core/tagged_region.hpp"

namespace mallard {
namespace {

constexpr std::size_t room = std::size_t{1} << 22;

// A trie beside a map that does the same.
class SizeTrie : public testing::Test {
 protected:
  // A block of `size` bytes that nobody has yet.
  boundary_tag* make(std::size_t size) {
    boundary_tag* const b = region_->first()->at(begin_);
    begin_ += size;
    b->set_free(size);
    b->at(size)->set_used(0);
    return b;
  }

  void put(boundary_tag* b) {
    trie_.put(b);
    expected_.emplace(b->size(), b);
  }

  void remove(std::multimap<std::size_t, boundary_tag*>::iterator i) {
    trie_.remove(i->second);
    expected_.erase(i);
  }

  void expect_best(std::size_t wanted) {
    const boundary_tag* const found = trie_.at_least(wanted);
    const auto best = expected_.lower_bound(wanted);
    if (best == expected_.end())
      EXPECT_EQ(found, nullptr);
    else
      EXPECT_TRUE(found != nullptr && found->size() == best->first) << wanted;
  }

  void expect_whole() {
    std::size_t seen = 0;
    EXPECT_TRUE(trie_.each([&](const boundary_tag*) { return ++seen != 0; }));
    EXPECT_EQ(seen, expected_.size());
  }

  std::unique_ptr<tagged_region<room>> region_ = std::make_unique<tagged_region<room>>();
  std::size_t begin_ = 0;
  size_trie trie_;
  std::multimap<std::size_t, boundary_tag*> expected_;
};

TEST_F(SizeTrie, IsEmptyAtFirst) {
  EXPECT_TRUE(trie_.empty());
  EXPECT_EQ(trie_.at_least(1024), nullptr);
}

TEST_F(SizeTrie, FindsTheBestFitInAnyOrderOfComingAndGoing) {
  std::mt19937 random(1);
  std::vector<boundary_tag*> spare;
  for (int i = 0; i < 400; ++i) spare.push_back(make(1024 + 16 * (random() % (i % 2 == 0 ? 32 : 700))));
  for (int step = 0; step < 20000 && !HasFailure(); ++step) {
    if (!spare.empty() && random() % 2 == 0) {
      std::swap(spare[random() % spare.size()], spare.back());
      put(spare.back());
      spare.pop_back();
    } else if (!expected_.empty()) {
      auto victim = expected_.begin();
      std::advance(victim, static_cast<long>(random() % expected_.size()));
      spare.push_back(victim->second);
      remove(victim);
    }
    expect_best(16 * (random() % 900));
    expect_whole();
  }
}

TEST_F(SizeTrie, OfOneSizeTheLastIsGivenFirst) {
  boundary_tag* const in_tree = make(2048);
  boundary_tag* const older = make(2048);
  boundary_tag* const newer = make(2048);
  for (boundary_tag* b : {in_tree, older, newer}) put(b);
  EXPECT_EQ(trie_.at_least(2000), newer);
  trie_.remove(newer);
  EXPECT_EQ(trie_.at_least(2000), older);
  trie_.remove(older);
  EXPECT_EQ(trie_.at_least(2000), in_tree);
}

TEST_F(SizeTrie, SizesBeyondTheLastRootAreToldApart) {
  std::vector<boundary_tag*> giants;
  for (int i = 0; i < 3; ++i) giants.push_back(make(2048));
  for (std::size_t i = 0; i < 3; ++i) {
    alignas(16) static std::size_t word;
    word = (std::size_t{1} << (50 + i)) | 2;
    std::memcpy(giants[i]->bytes(), &word, sizeof word);  // nobody looks behind such a block
    trie_.put(giants[i]);
  }
  EXPECT_EQ(trie_.at_least(4096), giants[0]);
  EXPECT_EQ(trie_.at_least((std::size_t{1} << 50) + 16), giants[1]);
  EXPECT_EQ(trie_.at_least((std::size_t{1} << 51) + 16), giants[2]);
  EXPECT_EQ(trie_.at_least((std::size_t{1} << 52) + 16), nullptr);
}

TEST_F(SizeTrie, ABlockInTheWrongPlaceIsSeen) {
  boundary_tag* const b = make(2048);
  put(b);
  put(make(2064));
  b->set_free(1040);
  EXPECT_FALSE(trie_.each([](const boundary_tag*) { return true; }));
}

TEST_F(SizeTrie, ClearDropsAll) {
  put(make(2048));
  trie_.clear();
  expected_.clear();
  EXPECT_TRUE(trie_.empty());
  expect_best(1024);
  expect_best(2048);
  put(make(2064));
  expect_best(2048);
  expect_whole();
}

// What lies in its memory before it begins is not zero.
TEST_F(SizeTrie, BeginsWhereNothingIsWritten) {
  alignas(size_trie) std::byte place[sizeof(size_trie)];
  size_trie& trie = *::new (std::memset(place, 0xff, sizeof place)) size_trie;
  const auto written =
      std::count_if(place, std::end(place), [](std::byte b) { return b != std::byte{0xff}; });
  EXPECT_LE(written, 8);
  EXPECT_TRUE(trie.empty());
  EXPECT_EQ(trie.at_least(1024), nullptr);
  boundary_tag* const b = make(2048);
  trie.put(b);
  EXPECT_EQ(trie.at_least(1024), b);
  EXPECT_EQ(trie.at_least(2064), nullptr);
  trie.remove(b);
  EXPECT_TRUE(trie.empty());
}

}  // namespace
}  // namespace mallard
