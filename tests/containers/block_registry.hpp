// block_registry: every block that a container has from its heap, written down between the two; and failures
// on demand.
//
//     container --> facade --> watched<Heap> or watched_resource --> heap under test --> source
//                                   block_registry                                     chunk_registry
//
// Complains, as a failure of the test, of a block that is given back twice, or with a size or an alignment
// that it was not asked for with, or never. New blocks are full of garbage.
#pragma once

#include <gtest/gtest.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>

#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"

namespace mallard::containers {

class block_registry {
 public:
  block_registry() = default;
  block_registry(const block_registry&) = delete;
  block_registry& operator=(const block_registry&) = delete;
  ~block_registry() { EXPECT_EQ(live_.size(), 0u) << "blocks never given back"; }

  [[nodiscard]] std::size_t live() const { return live_.size(); }

  [[nodiscard]] bool has(const void* p) const {
    const auto above = live_.upper_bound(address_of(p));
    if (above == live_.begin()) return false;
    const auto& [start, block] = *std::prev(above);
    return address_of(p) - start < block.received;
  }

  // The n-th request from now, counted from 1, fails, or it and all that follow. 0: none does.
  void fail_at(int n) { first_ = last_ = n, requests_ = 0; }
  void fail_from(int n) { first_ = n, last_ = INT_MAX, requests_ = 0; }

  // To be asked once a request: whether that one fails.
  [[nodiscard]] bool fails() { return ++requests_ >= first_ && requests_ <= last_ && first_ != 0; }

  void enter(block received, std::size_t size, std::size_t align) {
    EXPECT_TRUE(is_aligned(received.data, align));
    EXPECT_GE(received.size, size);
    std::memset(received.data, 0xa5, received.size);
    EXPECT_TRUE(live_.try_emplace(address_of(received.data), entry{size, received.size, align}).second);
  }

  // What a resize request says about a block must be true.
  void expect_live(const void* p, std::size_t size, std::size_t align) const {
    const auto found = live_.find(address_of(p));
    ASSERT_TRUE(found != live_.end()) << "a block was resized that is not this heap's";
    const auto [requested, received, aligned] = found->second;
    EXPECT_TRUE(requested <= size && align == aligned) << "a block was resized as another one";
  }

  // A block that was resized where it is; what is new of it is full of garbage.
  void change(const void* p, block now, std::size_t requested) {
    const auto found = live_.find(address_of(p));
    const entry old = found->second;
    live_.erase(found);
    std::byte* const start = static_cast<std::byte*>(now.data);
    const std::size_t before = address_of(p) - address_of(start);
    std::memset(start, 0xa5, before);
    if (now.size > before + old.received)
      std::memset(start + before + old.received, 0xa5, now.size - before - old.received);
    const std::size_t counted = now.size == old.received ? old.requested : requested;
    EXPECT_TRUE(is_aligned(start, old.align));
    EXPECT_TRUE(live_.try_emplace(address_of(start), entry{counted, now.size, old.align}).second);
  }

  // Ends a block; false if it cannot be given back as it was, which then it must not be.
  [[nodiscard]] bool strike(void* p, std::size_t size, std::size_t align) {
    const auto found = live_.find(address_of(p));
    if (found == live_.end()) {
      ADD_FAILURE() << "a block was given back that is not this heap's";
      return false;
    }
    const auto [requested, received, aligned] = found->second;
    live_.erase(found);
    const bool as_agreed = requested <= size && size <= received && align == aligned;
    EXPECT_TRUE(as_agreed) << "a block of " << requested << " aligned to " << aligned
                           << " was given back as one of " << size << " aligned to " << align;
    return as_agreed;
  }

  // Calls use(p, size, align) of each block, which may end it; how many there were.
  int for_each(auto use) {
    const auto all = live_;
    for (const auto& [start, block] : all) use(reinterpret_cast<void*>(start), block.requested, block.align);
    return static_cast<int>(all.size());
  }

 private:
  struct entry {
    std::size_t requested, received, align;  // bytes
  };

  std::map<std::uintptr_t, entry> live_;
  int requests_ = 0;
  int first_ = 0;
  int last_ = 0;
};

}  // namespace mallard::containers
