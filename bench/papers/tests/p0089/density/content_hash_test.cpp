#include "p0089/density/content_hash.hpp"

#include <gtest/gtest.h>

#include <memory_resource>
#include <string>
#include <unordered_set>
#include <vector>

namespace mallard::bench {
namespace {

TEST(ContentHash, IsTheSameWhateverTheAllocator) {
  const content_hash hash;
  EXPECT_EQ(hash(std::string("a text")), hash(std::pmr::string("a text")));
  EXPECT_EQ(hash(std::vector<int>{1, 2}), hash(std::pmr::vector<int>{1, 2}));
  EXPECT_EQ(hash(std::vector<std::string>{"a", "b"}), hash(std::pmr::vector<std::pmr::string>{"a", "b"}));
}

TEST(ContentHash, TellsContainersApartByTheirBeginAndSize) {
  const content_hash hash;
  EXPECT_NE(hash(std::vector<int>{1, 2}), hash(std::vector<int>{2, 2}));
  EXPECT_NE(hash(std::vector<int>{1, 2}), hash(std::vector<int>{1, 2, 3}));
  EXPECT_EQ(hash(std::vector<int>()), hash(std::vector<int>())) << "an empty one has no first element";
}

// What a set does when it grows: with its keys' hashes at hand it asks for none.
template <class Base>
struct counting : Base {
  std::size_t operator()(const std::string& key) const noexcept {
    ++calls;
    return Base::operator()(key);
  }
  static inline int calls = 0;
};

}  // namespace
}  // namespace mallard::bench

template <>
struct std::__is_fast_hash<mallard::bench::counting<mallard::bench::kept_hash>>
    : std::__is_fast_hash<mallard::bench::kept_hash> {};
template <>
struct std::__is_fast_hash<mallard::bench::counting<mallard::bench::unkept_hash>>
    : std::__is_fast_hash<mallard::bench::unkept_hash> {};

namespace mallard::bench {
namespace {

template <class Hash>
int calls_while_growing() {
  using counted = counting<Hash>;
  counted::calls = 0;
  std::unordered_set<std::string, counted> set;
  for (int i = 0; i < 1000; ++i) set.insert(std::to_string(i));
  return counted::calls;
}

TEST(KeptHash, IsAskedForOncePerKey) { EXPECT_EQ(calls_while_growing<kept_hash>(), 1000); }

TEST(UnkeptHash, IsAskedForAgainWhenASetGrows) { EXPECT_GT(calls_while_growing<unkept_hash>(), 1500); }

}  // namespace
}  // namespace mallard::bench
