#include "mallard/allocator/winkout_safe.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mallard/allocator/allocator.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"

namespace mallard {
namespace {

struct point {
  int x, y;
};
struct with_destructor {
  ~with_destructor() { ++ends; }
  int ends = 0;
};
struct promised : with_destructor {};
struct holds_one {
  with_destructor member;
};

}  // namespace

template <>
inline constexpr bool winkout_safe<promised> = true;

namespace {

TEST(WinkoutSafe, HoldsForWhatHasNothingToDestroy) {
  EXPECT_TRUE(winkout_safe<int>);
  EXPECT_TRUE(winkout_safe<point>);
  EXPECT_TRUE(winkout_safe<const point>);
  EXPECT_TRUE(winkout_safe<std::string*>);
  EXPECT_TRUE(winkout_safe<point[3]>);
  EXPECT_TRUE(winkout_safe<point[]>);
}

TEST(WinkoutSafe, IsRefusedToEveryOtherType) {
  EXPECT_FALSE(winkout_safe<with_destructor>);
  EXPECT_FALSE(winkout_safe<const with_destructor>);
  EXPECT_FALSE(winkout_safe<with_destructor[3]>);
  EXPECT_FALSE(winkout_safe<holds_one>);
  EXPECT_FALSE(winkout_safe<std::unique_ptr<int>>);
  EXPECT_FALSE(winkout_safe<std::shared_ptr<int>>);
}

TEST(WinkoutSafe, IsAPromiseForTypesOfTheUser) {
  EXPECT_TRUE(winkout_safe<promised>);
  EXPECT_TRUE(winkout_safe<const promised>);
  EXPECT_TRUE(winkout_safe<promised[2]>);
}

TEST(TakesMemoryFrom, AsksTypesThatTakeAnAllocatorWhetherTheyTakeThisOne) {
  using from_monotonic = allocator<int, monotonic>;
  using bytes = std::vector<char, allocator<char, monotonic>>;
  EXPECT_TRUE((takes_memory_from<int, from_monotonic>));
  EXPECT_TRUE((takes_memory_from<bytes, from_monotonic>));
  EXPECT_TRUE((takes_memory_from<const bytes, from_monotonic>));
  EXPECT_TRUE((takes_memory_from<bytes[2], from_monotonic>));
  EXPECT_FALSE((takes_memory_from<bytes, allocator<int, multipool>>));
  EXPECT_FALSE((takes_memory_from<bytes[2], allocator<int, multipool>>));
  EXPECT_FALSE((takes_memory_from<std::string, from_monotonic>));
}

template <class T, class Heap = multipool>
using in = allocator<T, Heap>;
template <class T, class Heap = multipool>
using vector_in = std::vector<T, in<T, Heap>>;
template <class Heap = multipool>
using string_in = std::basic_string<char, std::char_traits<char>, in<char, Heap>>;
template <class K, class T>
using map_in = std::map<K, T, std::less<>, in<std::pair<const K, T>>>;
template <class T>
using scoped_vector = std::vector<T, std::scoped_allocator_adaptor<in<T>>>;

TEST(WinkoutSafeContainers, AreTheOnesWithMemoryOfAHeap) {
  EXPECT_TRUE(winkout_safe<string_in<>>);
  EXPECT_TRUE(winkout_safe<vector_in<int>>);
  EXPECT_TRUE(winkout_safe<vector_in<bool>>);
  EXPECT_TRUE((winkout_safe<std::deque<int, in<int>>>));
  EXPECT_TRUE((winkout_safe<std::list<int, in<int>>>));
  EXPECT_TRUE((winkout_safe<std::forward_list<int, in<int>>>));
  EXPECT_TRUE((winkout_safe<std::set<int, std::less<>, in<int>>>));
  EXPECT_TRUE((winkout_safe<std::multiset<int, std::less<>, in<int>>>));
  EXPECT_TRUE((winkout_safe<map_in<int, int>>));
  EXPECT_TRUE((winkout_safe<std::multimap<int, int, std::less<>, in<std::pair<const int, int>>>>));
  EXPECT_TRUE(winkout_safe<std::pmr::vector<int>>);
  EXPECT_TRUE(winkout_safe<std::pmr::unordered_set<int>>);
  EXPECT_TRUE(winkout_safe<std::pmr::unordered_multiset<int>>);
  EXPECT_TRUE((winkout_safe<std::pmr::unordered_map<int, int>>));
  EXPECT_TRUE((winkout_safe<std::pmr::unordered_multimap<int, int>>));
}

TEST(WinkoutSafeContainers, AreNotTheOnesWithMemoryOfTheProgram) {
  EXPECT_FALSE(winkout_safe<std::string>);
  EXPECT_FALSE(winkout_safe<std::vector<int>>);
  EXPECT_FALSE(winkout_safe<std::deque<int>>);
  EXPECT_FALSE(winkout_safe<std::list<int>>);
  EXPECT_FALSE(winkout_safe<std::forward_list<int>>);
  EXPECT_FALSE(winkout_safe<std::set<int>>);
  EXPECT_FALSE(winkout_safe<std::multiset<int>>);
  EXPECT_FALSE((winkout_safe<std::map<int, int>>));
  EXPECT_FALSE((winkout_safe<std::multimap<int, int>>));
  EXPECT_FALSE(winkout_safe<std::unordered_set<int>>);
  EXPECT_FALSE(winkout_safe<std::unordered_multiset<int>>);
  EXPECT_FALSE((winkout_safe<std::unordered_map<int, int>>));
  EXPECT_FALSE((winkout_safe<std::unordered_multimap<int, int>>));
}

TEST(WinkoutSafeContainers, AreAsSafeAsTheirElements) {
  EXPECT_TRUE((winkout_safe<map_in<string_in<>, vector_in<string_in<>>>>));
  EXPECT_TRUE(winkout_safe<std::pmr::vector<std::pmr::list<std::pmr::string>>>);
  EXPECT_FALSE(winkout_safe<vector_in<std::string>>);
  EXPECT_FALSE((winkout_safe<map_in<std::string, int>>));
  EXPECT_FALSE((winkout_safe<map_in<int, std::string>>));
  EXPECT_FALSE((winkout_safe<std::pmr::unordered_map<int, std::string>>));
  EXPECT_FALSE(winkout_safe<std::pmr::unordered_set<std::string>>);
  EXPECT_FALSE(winkout_safe<std::pmr::vector<std::unique_ptr<int>>>);
  EXPECT_FALSE(winkout_safe<std::pmr::vector<std::pmr::vector<std::pmr::vector<std::string>>>>);
}

TEST(WinkoutSafeContainers, TakeTheirElementsMemoryFromTheSameKindOfHeap) {
  EXPECT_FALSE((winkout_safe<vector_in<string_in<monotonic>>>));
  EXPECT_FALSE((winkout_safe<vector_in<std::pmr::string>>));
  EXPECT_FALSE(winkout_safe<std::pmr::vector<string_in<>>>);
  EXPECT_FALSE((winkout_safe<map_in<int, std::pair<int, string_in<monotonic>>>>));
  EXPECT_FALSE((winkout_safe<std::pmr::list<std::array<string_in<>, 2>>>));
  EXPECT_FALSE(winkout_safe<std::pmr::list<std::optional<string_in<>>>>);
  EXPECT_FALSE((winkout_safe<std::pmr::list<std::tuple<int, string_in<>>>>));
  EXPECT_FALSE((winkout_safe<std::pmr::list<std::variant<int, string_in<>>>>));
}

TEST(WinkoutSafeContainers, MayHandTheirHeapOn) {
  EXPECT_TRUE(winkout_safe<scoped_vector<string_in<>>>);
  EXPECT_TRUE(winkout_safe<scoped_vector<scoped_vector<string_in<>>>>);
  EXPECT_FALSE(winkout_safe<scoped_vector<string_in<monotonic>>>);
  EXPECT_FALSE(winkout_safe<scoped_vector<std::string>>);
}

TEST(WinkoutSafeContainers, CompareAndHashByWhatOwnsNothing) {
  using compare = std::function<bool(int, int)>;
  using hash = std::function<std::size_t(int)>;
  EXPECT_FALSE((winkout_safe<std::pmr::set<int, compare>>));
  EXPECT_FALSE((winkout_safe<std::pmr::multiset<int, compare>>));
  EXPECT_FALSE((winkout_safe<std::pmr::map<int, int, compare>>));
  EXPECT_FALSE((winkout_safe<std::pmr::multimap<int, int, compare>>));
  EXPECT_FALSE((winkout_safe<std::pmr::unordered_set<int, hash>>));
  EXPECT_FALSE((winkout_safe<std::pmr::unordered_multiset<int, hash>>));
  EXPECT_FALSE((winkout_safe<std::pmr::unordered_map<int, int, hash>>));
  EXPECT_FALSE((winkout_safe<std::pmr::unordered_multimap<int, int, hash>>));
  EXPECT_FALSE((winkout_safe<std::pmr::unordered_set<int, std::hash<int>, compare>>));
  EXPECT_FALSE((winkout_safe<std::pmr::unordered_multiset<int, std::hash<int>, compare>>));
  EXPECT_FALSE((winkout_safe<std::pmr::unordered_map<int, int, std::hash<int>, compare>>));
  EXPECT_FALSE((winkout_safe<std::pmr::unordered_multimap<int, int, std::hash<int>, compare>>));
}

TEST(WinkoutSafeObjects, AreAsSafeAsWhatStandsInThem) {
  EXPECT_TRUE((winkout_safe<std::pair<int, string_in<>>>));
  EXPECT_FALSE((winkout_safe<std::pair<std::string, int>>));
  EXPECT_FALSE((winkout_safe<std::pair<int, std::string>>));
  EXPECT_TRUE((winkout_safe<std::tuple<int, string_in<>, std::string_view>>));
  EXPECT_FALSE((winkout_safe<std::tuple<int, string_in<>, std::string>>));
  EXPECT_TRUE((winkout_safe<std::variant<int, string_in<>>>));
  EXPECT_FALSE((winkout_safe<std::variant<int, std::string>>));
  EXPECT_TRUE(winkout_safe<std::optional<string_in<>>>);
  EXPECT_FALSE(winkout_safe<std::optional<std::string>>);
  EXPECT_TRUE((winkout_safe<std::array<string_in<>, 2>>));
  EXPECT_FALSE((winkout_safe<std::array<std::string, 2>>));
}

}  // namespace
}  // namespace mallard
