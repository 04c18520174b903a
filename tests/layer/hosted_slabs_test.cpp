#include "mallard/layer/hosted_slabs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace mallard {
namespace {

using slot = magazine::slot;

TEST(SlabSet, TellsSlabsFromTheirNeighbours) {
  constexpr std::size_t size = 4096;
  using set = slab_set<size>;
  set slabs;
  const auto at = [](std::size_t number) { return reinterpret_cast<void*>((number + (1 << 20)) * size); };
  EXPECT_FALSE(slabs.contains(at(0))) << "without a table";
  EXPECT_FALSE(slabs.has_room(1));
  std::vector<set::entry> small(16);
  std::vector<set::entry> large(64);
  slabs.move_into(small.data(), small.size());
  for (std::size_t i = 0; i < 4 * 32; i += 3) {
    ASSERT_TRUE(slabs.has_room(1));
    slabs.add(at(i));
  }
  EXPECT_TRUE(slabs.has_room(4));
  EXPECT_FALSE(slabs.has_room(5)) << "half of it stays free";
  slabs.remove(at(3));
  slabs.move_into(large.data(), large.size());
  std::ranges::fill(small, set::entry{1, ~0u});
  std::set<void*> found;
  slabs.for_each([&](std::byte* start) { found.insert(start); });
  for (std::size_t i = 0; i < 200; ++i) {
    const bool is_in = i % 3 == 0 && i != 3 && i < 4 * 32;
    EXPECT_EQ(slabs.contains(at(i)), is_in) << i;
    EXPECT_EQ(slabs.contains(static_cast<std::byte*>(at(i)) + size - 1), is_in) << i;
    EXPECT_EQ(found.contains(at(i)), is_in) << i;
  }
}

// A heap that cuts memory from a buffer and keeps what comes back by size.
class Host {
 public:
  static constexpr std::size_t slab_size = 8192;
  using slabs = hosted_slabs<Host, 16, 1024>;

  block take_memory(std::size_t bytes) {
    EXPECT_EQ(bytes % 16, 0u);
    void* const p = take(bytes, 16);
    return p == nullptr ? block{} : block{p, bytes};
  }
  std::size_t put_memory(void* p, std::size_t bytes) {
    EXPECT_TRUE(out_.erase(p) == 1);
    return bytes;
  }
  void take_slabs(chain& out, std::size_t count) {
    for (void* p = nullptr; count != 0 && (p = take(slab_size, slab_size)) != nullptr; --count)
      out.push_back(p);
  }
  void put_slab(void* p) { put_memory(p, slab_size); }
  std::size_t take_outside(std::size_t size, slot* end, std::size_t most) {
    std::vector<void*>& free = outside[size];
    std::size_t taken = 0;
    for (; taken != most && !free.empty(); ++taken, free.pop_back())
      *(end - taken - 1) = address_of(free.back());
    return taken;
  }
  void put_outside(void* p, std::size_t size) { outside[size].push_back(p); }

  // A block that is in no slab.
  void* take_block(std::size_t size) { return take(size, 16); }

  // A request as a heap passes it on.
  void* allocate(std::size_t size) {
    void* const p = small->allocate(size, 16);
    return p != nullptr ? p : small->refill(size, 16);
  }

  [[nodiscard]] address_ranges ranges() const {
    return address_ranges([this](auto f) { f(memory_.get(), room); });
  }
  [[nodiscard]] std::size_t blocks() const { return out_.size(); }

  std::size_t refused_after = static_cast<std::size_t>(-1);
  std::size_t asked = 0;
  std::map<std::size_t, std::vector<void*>> outside;
  std::unique_ptr<slabs> small = std::make_unique<slabs>(*this);

 private:
  static constexpr std::size_t room = std::size_t{4} << 20;

  void* take(std::size_t bytes, std::size_t align) {
    ++asked;
    const std::uintptr_t start = align_up(address_of(memory_.get()) + used_, align);
    const std::size_t end = start + bytes - address_of(memory_.get());
    if (refused_after == 0 || end > room) return nullptr;
    --refused_after;
    used_ = end;
    void* const p = reinterpret_cast<void*>(start);
    out_.insert(p);
    return p;
  }

  std::unique_ptr<std::byte[]> memory_ = std::make_unique<std::byte[]>(room);
  std::size_t used_ = 0;
  std::set<void*> out_;
};

void expect_valid(const Host& host) {
  const violation v = host.small->validate(host.ranges());
  EXPECT_FALSE(v) << v.what;
}

// Enough that the size has slabs.
std::vector<void*> grown(Host& host, std::size_t size, std::size_t count) {
  std::vector<void*> blocks;
  while (blocks.size() < count) {
    void* p = host.allocate(size);
    if (p == nullptr) p = host.take_block(size);
    blocks.push_back(p);
  }
  return blocks;
}

TEST(HostedSlabs, ASizeHasSlabsOnceSixteenKiBOfItAreInUse) {
  Host host;
  const std::vector<void*> blocks = grown(host, 64, 2000);
  for (std::size_t i = 0; i < blocks.size(); ++i) EXPECT_EQ(host.small->has(blocks[i]), i >= 256) << i;
  EXPECT_EQ(Host::slabs::size_at(blocks.back()), 64u);
  EXPECT_FALSE(host.small->has(grown(host, 48, 1).front())) << "another size";
  expect_valid(host);
}

TEST(HostedSlabs, BlocksAreNeighboursHoweverTheyWereFreed) {
  Host host;
  std::vector<void*> blocks = grown(host, 48, 5000);
  std::ranges::shuffle(blocks, std::mt19937(7));
  for (void* p : blocks) host.small->deallocate(p, 48);
  expect_valid(host);
  std::size_t neighbours = 0;
  const std::byte* last = nullptr;
  for (std::size_t i = 0; i < 5000; ++i) {
    auto* const p = static_cast<const std::byte*>(host.allocate(48));
    ASSERT_NE(p, nullptr);
    neighbours += static_cast<std::size_t>(last != nullptr && p == last + 48);
    last = p;
  }
  EXPECT_GT(neighbours, 4000u);
}

TEST(HostedSlabs, WhatLiesInNoSlabComesBackFromTheHost) {
  Host host;
  std::vector<void*> outside;
  for (int i = 0; i < 300; ++i) outside.push_back(host.take_block(64));
  for (void* p : outside) host.small->deallocate(p, 64);
  EXPECT_GE(host.outside[64].size(), 300u - 128);
  expect_valid(host);
  std::set<void*> expected(outside.begin(), outside.end());
  for (int i = 0; i < 250; ++i) EXPECT_EQ(expected.erase(host.allocate(64)), 1u);
  expect_valid(host);
}

TEST(HostedSlabs, ABlockOfTheWrongAlignmentIsLeftToTheHost) {
  struct finer : Host {
    hosted_slabs<Host, 8, 1024> small{*this};
  } host;
  auto* const odd = static_cast<std::byte*>(host.take_block(72)) + 8;
  for (int i = 0; i < 2; ++i) host.small.deallocate(odd + i * 32, 32);
  EXPECT_EQ(host.small.allocate(32, 16), nullptr);
  EXPECT_EQ(host.small.refill(32, 16), nullptr);
  EXPECT_NE(host.small.refill(32, 8), nullptr);
}

TEST(HostedSlabs, UnusedIsWhatNoBlockInUseTakes) {
  Host host;
  const std::vector<void*> blocks = grown(host, 64, 2000);
  const std::size_t in_slabs = 2000 - 256;
  const std::size_t unused = host.small->unused();
  for (std::size_t i = 1000; i < 2000; ++i) host.small->deallocate(blocks[i], 64);
  EXPECT_EQ(host.small->unused(), unused + 1000 * 64);
  EXPECT_GT(unused, 0u);
  EXPECT_LT(unused, 64u * in_slabs) << "more than half is in use";
}

TEST(HostedSlabs, ATrimReturnsWhatNoBlockLiesIn) {
  Host host;
  const std::vector<void*> blocks = grown(host, 64, 3000);
  const std::size_t outside = 256;
  for (std::size_t i = 1; i < blocks.size(); ++i)
    if (i != 2000) host.small->deallocate(blocks[i], 64);
  EXPECT_FALSE(host.small->trim());
  expect_valid(host);
  EXPECT_EQ(host.outside[64].size(), outside - 1);
  EXPECT_EQ(host.small->host_blocks(), 1u + 2) << "a slab, the table and a magazine";
  EXPECT_TRUE(host.small->has(blocks[2000]));
  EXPECT_FALSE(host.small->has(blocks[2999]));
  host.small->deallocate(blocks[2000], 64);
  EXPECT_TRUE(host.small->trim());
  EXPECT_EQ(host.blocks(), outside) << "blocks of the host's own";
}

TEST(HostedSlabs, EmptySlabsServeAnotherSizeUntilTheyAreGivenBack) {
  Host host;
  std::vector<void*> blocks = grown(host, 64, 3000);
  for (void* p : blocks) host.small->deallocate(p, 64);
  const std::size_t idle = host.small->idle();
  EXPECT_GE(idle, 10 * Host::slab_size);
  blocks = grown(host, 80, 1000);
  EXPECT_LT(host.small->idle(), idle);
  const std::size_t before = host.blocks();
  const std::size_t left = host.small->idle() / Host::slab_size;
  host.small->give_back();
  EXPECT_EQ(host.blocks(), before - left);
  EXPECT_EQ(host.small->idle(), 0u);
  expect_valid(host);
}

// Whatever is refused, blocks that are free can be had, and none is lost.
TEST(HostedSlabs, RefusedMemoryCostsNothingButSlabs) {
  for (std::size_t after = 0; after < 12; ++after) {
    Host host;
    std::vector<void*> blocks;
    for (int i = 0; i < 300; ++i) blocks.push_back(host.take_block(64));
    host.refused_after = after;
    for (int i = 0; i < 1000; ++i)
      if (void* const p = host.allocate(64); p != nullptr) blocks.push_back(p);
    expect_valid(host);
    for (void* p : blocks) host.small->deallocate(p, 64);
    expect_valid(host);
    EXPECT_TRUE(host.small->trim()) << after;
    EXPECT_EQ(host.outside[64].size(), 300u) << after;
  }
}

TEST(HostedSlabs, AHostThatGivesNothingIsSeldomAsked) {
  Host host;
  host.refused_after = 1;
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(host.allocate(64), nullptr);
  EXPECT_LE(host.asked, 1u + 5000 / 255);
}

TEST(HostedSlabs, ASecondFreeIsFound) {
  Host host;
  const std::vector<void*> blocks = grown(host, 64, 1000);
  host.small->deallocate(blocks[999], 64);
  host.small->deallocate(blocks[999], 64);
  EXPECT_TRUE(host.small->validate(host.ranges()));
}

}  // namespace
}  // namespace mallard
