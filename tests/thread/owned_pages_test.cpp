#include "mallard/thread/owned_pages.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "mallard/core/align.hpp"
#include "mallard/layer/limited.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {
namespace {

constexpr std::size_t page = page_owners::page_bytes;

const std::byte* at(std::uintptr_t address) { return reinterpret_cast<const std::byte*>(address); }

struct PageOwners : testing::Test {
  const std::unique_ptr<page_owners> owners = std::make_unique<page_owners>();
  page_owner first;
  page_owner second;
};

TEST_F(PageOwners, NobodyOwnsAnythingAtFirst) {
  int here = 0;
  EXPECT_EQ(owners->owner_of(&here), nullptr);
  EXPECT_EQ(owners->owner_of(nullptr), nullptr);
  EXPECT_EQ(owners->owner_of(at(~std::uintptr_t{0})), nullptr);
}

TEST_F(PageOwners, EachAddressOfAPageHasItsOwnerAndItsNeighboursHaveTheirs) {
  const std::uintptr_t start = 0x7f0000123000;
  ASSERT_TRUE(owners->give(at(start), 2 * page, &first));
  ASSERT_TRUE(owners->give(at(start + 2 * page), page, &second));
  EXPECT_EQ(owners->owner_of(at(start - 1)), nullptr);
  EXPECT_EQ(owners->owner_of(at(start)), &first);
  EXPECT_EQ(owners->owner_of(at(start + 2 * page - 1)), &first);
  EXPECT_EQ(owners->owner_of(at(start + 2 * page)), &second);
  EXPECT_EQ(owners->owner_of(at(start + 3 * page)), nullptr);
  owners->take_back(at(start), 2 * page);
  EXPECT_EQ(owners->owner_of(at(start)), nullptr);
  EXPECT_EQ(owners->owner_of(at(start + page)), nullptr);
  EXPECT_EQ(owners->owner_of(at(start + 2 * page)), &second);
}

// A range may lie in several nodes of each level.
TEST_F(PageOwners, ARangeMayCrossEveryBoundary) {
  const std::uintptr_t boundary = std::uintptr_t{3} << 36;
  const std::size_t below = (std::size_t{16} << 20) + page;
  ASSERT_TRUE(owners->give(at(boundary - below), 2 * below, &first));
  for (const std::uintptr_t p : {boundary - below, boundary - page, boundary, boundary + below - 1})
    EXPECT_EQ(owners->owner_of(at(p)), &first) << p;
  EXPECT_EQ(owners->owner_of(at(boundary - below - 1)), nullptr);
  EXPECT_EQ(owners->owner_of(at(boundary + below)), nullptr);
}

TEST_F(PageOwners, WhatIsBeyondTheTableIsRefusedAndKeepsNoOwner) {
  const std::uintptr_t end = std::uintptr_t{1} << 48;
  EXPECT_TRUE(owners->give(at(end - page), page, &first));
  EXPECT_FALSE(owners->give(at(end), page, &first));
  EXPECT_FALSE(owners->give(at(end - 2 * page), 3 * page, &second));
  EXPECT_EQ(owners->owner_of(at(end - page)), &first);
  EXPECT_EQ(owners->owner_of(at(end - 2 * page)), nullptr);
}

// It remembers where it was, and must notice that it is elsewhere.
TEST_F(PageOwners, AReaderTellsFarAddressesApart) {
  const std::array<std::uintptr_t, 3> places{0x10000000, 0x10000000 + (std::uintptr_t{1} << 24),
                                             0x10000000 + (std::uintptr_t{1} << 36)};
  ASSERT_TRUE(owners->give(at(places[0]), page, &first));
  ASSERT_TRUE(owners->give(at(places[1]), page, &second));
  page_owners::reader reader(*owners);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(reader.owner_of(at(places[0])), &first);
    EXPECT_EQ(reader.owner_of(at(places[1])), &second);
    EXPECT_EQ(reader.owner_of(at(places[2])), nullptr);
  }
}

TEST_F(PageOwners, ThreadsMayMarkPagesNearEachOther) {
  std::array<page_owner, 4> all;
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (std::size_t t = 0; t < all.size(); ++t)
    threads.emplace_back([&, t] {
      for (std::uintptr_t i = 0; i < 4000; ++i) {
        const std::byte* const mine = at((i << 24) + t * page);
        if (!owners->give(mine, page, &all[t]) || owners->owner_of(mine) != &all[t]) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
  for (std::uintptr_t i = 0; i < 4000; ++i)
    for (std::size_t t = 0; t < all.size(); ++t)
      ASSERT_EQ(owners->owner_of(at((i << 24) + t * page)), &all[t]);
}

template <class Upstream>
struct two_heaps {
  pages_of_threads<Upstream> from;
  page_owner first_owner;
  page_owner second_owner;
  thread_pages<Upstream> first{{from, first_owner}};
  thread_pages<Upstream> second{{from, second_owner}};
};

TEST(ThreadPages, WholePagesAreTheirOwnersUntilTheyGoBack) {
  two_heaps<default_source> heaps;
  const block a = heaps.first.allocate(100, 8);
  const block b = heaps.second.allocate(3 * page + 1, 8);
  EXPECT_EQ(a.size, page);
  EXPECT_GE(b.size, 4 * page);
  EXPECT_TRUE(is_aligned(a.data, page) && is_aligned(b.data, page));
  EXPECT_EQ(the_page_owners.owner_of(static_cast<std::byte*>(a.data) + 99), &heaps.first_owner);
  EXPECT_EQ(the_page_owners.owner_of(static_cast<std::byte*>(b.data) + 3 * page), &heaps.second_owner);
  heaps.first.deallocate(a.data, 100, 8);
  heaps.second.deallocate(b.data, b.size, 8);
  EXPECT_EQ(the_page_owners.owner_of(a.data), nullptr);
  EXPECT_EQ(the_page_owners.owner_of(static_cast<std::byte*>(b.data) + b.size - 1), nullptr);
  EXPECT_EQ(heaps.from.upstream().held(), 0u);
}

TEST(ThreadPages, AreFreshWhereTheirUpstreamsAre) {
  two_heaps<os_pages> heaps;
  bool is_fresh = false;
  const block a = heaps.first.allocate(100, 8, is_fresh);
  EXPECT_TRUE(a && is_fresh);
  EXPECT_EQ(the_page_owners.owner_of(a.data), &heaps.first_owner);
  heaps.first.deallocate(a.data, a.size, 8);
  EXPECT_FALSE(heaps.first.allocate(max_request, 8, is_fresh));
  EXPECT_FALSE(is_fresh);
}

TEST(ThreadPages, EachOwnersRequestsAreCounted) {
  two_heaps<default_source> heaps;
  for (int i = 0; i < 3; ++i) heaps.first.deallocate(heaps.first.allocate(1, 1).data, 1, 1);
  EXPECT_EQ(heaps.first_owner.requests, 3u);
  EXPECT_EQ(heaps.second_owner.requests, 0u);
}

TEST(ThreadPages, WhatTheUpstreamRefusesIsNobodys) {
  two_heaps<limited<default_source>> heaps;
  heaps.from.upstream().set_limit(2 * page);
  EXPECT_FALSE(heaps.first.allocate(3 * page, 8));
  EXPECT_FALSE(heaps.first.allocate(max_request, 8));
  const block b = heaps.first.allocate(2 * page, 8);
  ASSERT_TRUE(b);
  heaps.first.deallocate(b.data, b.size, 8);
}

}  // namespace
}  // namespace mallard
