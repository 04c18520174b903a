// shadow: drives a heap and remembers what must hold for every live block.
//
//     heap:    [ chunk ....[block a]......[block b].... ]
//     shadow:            a: size, align, seed   b: ...        contents of each follow from its seed
//
// Invariant checked at each step: a block has at least the size and exactly the alignment asked for,
// lies in a chunk that the source really gave, overlaps no live block, and holds at its end what was
// written over all of its received bytes at its allocation. check() adds what the heap says of itself.
// A broken property is a failure of the running test; `broken()` lets long loops stop there.
//
// A heap that several threads use at once has one `shared` shadow a thread. Blocks pass from one to
// another by give() and take(). Such a shadow asks for no figures: those are for quiet times, when one
// that is not shared records all blocks and checks.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

#include "mallard/layer/stats.hpp"
#include "model/model.hpp"
#include "model/random.hpp"

namespace mallard::model {

// Layers that count what is out: blocks and bytes, or bytes only.
template <class H>
concept counts_blocks = requires(const H& h) {
  { h.statistics() } -> std::same_as<heap_statistics>;
};
template <class H>
concept counts_bytes = requires(const H& h) {
  { h.out() } -> std::same_as<std::size_t>;
};

struct live_block {
  std::byte* data;
  std::size_t requested, received, align;  // bytes
  std::size_t granted;                     // bytes the heap counts for it: received, where that is known
  std::uint64_t allocation;                // its number; the contents follow from it
};

// Writes and recognises contents that differ between seeds and between places: pieces of one strip of noise,
// cut where seed and place say, so that it is one copy and one comparison a piece, in unoptimised builds too.
class contents {
 public:
  static void write(const live_block& b) {
    for (std::size_t i = 0; i < b.received; i += piece)
      std::memcpy(b.data + i, noise(b.allocation, i), std::min(piece, b.received - i));
  }

  // Whether the first `size` bytes at `data` are those that were written for `seed`.
  [[nodiscard]] static bool intact(const std::byte* data, std::size_t size, std::uint64_t seed) {
    for (std::size_t i = 0; i < size; i += piece)
      if (std::memcmp(data + i, noise(seed, i), std::min(piece, size - i)) != 0) return false;
    return true;
  }

 private:
  static constexpr int piece_bits = 14;
  static constexpr std::size_t piece = std::size_t{1} << piece_bits;  // bytes
  using strip_of_noise = std::array<std::uint64_t, 2 * piece / sizeof(std::uint64_t)>;

  // The piece of a block's contents that begins at `at`.
  [[nodiscard]] static const std::byte* noise(std::uint64_t seed, std::size_t at) {
    const std::uint64_t mixed = (seed + 1) * 0x9e3779b97f4a7c15u + at * 0xd1342543de82ef95u;
    return reinterpret_cast<const std::byte*>(strip.data()) + (mixed >> (64 - piece_bits));
  }

  static strip_of_noise made() {
    strip_of_noise words;
    random_source r(1);
    for (std::uint64_t& word : words) word = r.next();
    return words;
  }

  static inline const strip_of_noise strip = made();
};

enum class company { alone, shared };

template <class M>
class shadow {
 public:
  using heap_type = typename M::heap;

  explicit shadow(heap_type& h, const chunk_registry& registry, company with = company::alone)
      : heap_(h), registry_(registry), company_(with) {}

  [[nodiscard]] heap_type& heap() { return heap_; }
  [[nodiscard]] bool shared() const { return company_ == company::shared; }
  [[nodiscard]] std::size_t live() const { return blocks_.size(); }
  [[nodiscard]] const live_block& operator[](std::size_t i) const { return blocks_[i]; }
  [[nodiscard]] std::uint64_t allocations() const { return allocations_; }
  [[nodiscard]] static bool broken() { return failure_flag::raised(); }

  // The next allocation is the n-th; precondition: greater than all so far.
  void count_allocations_from(std::uint64_t n) { allocations_ = n; }

  // Index of the block that was allocated first or last; precondition: live() > 0.
  [[nodiscard]] std::size_t oldest() const { return extreme(std::less<>()); }
  [[nodiscard]] std::size_t youngest() const { return extreme(std::greater<>()); }

  // What the heap says it uses; nothing if it cannot tell, or must not be asked.
  [[nodiscard]] heap_usage usage() const {
    if constexpr (inspectable<heap_type>)
      if (!shared()) return heap_.usage();
    return {};
  }

  // Whether a block was allocated. When the heap is exhausted, what it does then is checked too. An alignment
  // beyond what the model allows is asked for as the largest that it does.
  bool allocate(std::size_t size, std::size_t wished_align) {
    const std::size_t align = std::min(wished_align, M::largest_align);
    const heap_usage before = usage();
    const block b = heap_.allocate(size, align);
    if (!b) {
      EXPECT_EQ(b.size, 0u) << "a null block has a size";
      const heap_usage after = usage();  // memory that was kept for later may have gone back in the attempt
      EXPECT_TRUE(after.granted == before.granted && after.carved == before.carved &&
                  after.held <= before.held)
          << "a request that failed changed the heap";
      return false;
    }
    adopt(b, size, align);
    return !broken();
  }

  // Records a block that the heap has given by some other member.
  void adopt(block b, std::size_t size, std::size_t align) { adopt(b, size, align, b.size); }

  void adopt(block b, std::size_t size, std::size_t align, std::size_t granted) {
    EXPECT_GE(b.size, size == 0 ? 1 : size) << "received less than requested";
    const live_block allocated{static_cast<std::byte*>(b.data), size, b.size, align, granted, allocations_++};
    if (record(allocated)) contents::write(allocated);
  }

  // Records a block that another shadow gave away.
  void take(const live_block& b) {
    EXPECT_TRUE(contents::intact(b.data, b.received, b.allocation))
        << "a block of " << b.received << " was damaged";
    record(b);
  }

  // Forgets the i-th block, which lives on.
  live_block give(std::size_t i) {
    const live_block b = blocks_[i];
    drop(i);
    return b;
  }

  // The i-th block was resized in place to `now`; from here on it counts as allocated now.
  void replace(std::size_t i, block now, std::size_t requested) {
    const std::size_t align = blocks_[i].align;
    drop(i);
    adopt(now, requested, align);
  }

  // Ends the i-th block, saying that it has `claimed` bytes.
  void deallocate(std::size_t i, std::size_t claimed) {
    const live_block b = forget(i);
    heap_.deallocate(b.data, claimed, b.align);
  }

  // Ends the i-th block by its pointer alone.
  void deallocate_by_pointer(std::size_t i)
    requires freeable<heap_type>
  {
    heap_.deallocate(static_cast<void*>(forget(i).data));
  }

  // Forgets the i-th block, which somebody else ends. Its bytes are overwritten: they are the
  // caller's until then.
  live_block forget(std::size_t i) {
    const live_block b = blocks_[i];
    EXPECT_TRUE(contents::intact(b.data, b.received, b.allocation))
        << "a block of " << b.received << " was damaged";
    std::memset(b.data, scribble, b.received);
    drop(i);
    return b;
  }

  // Forgets all blocks allocated at `allocation` or later: the heap has ended them.
  void forget_since(std::uint64_t allocation) {
    for (std::size_t i = blocks_.size(); i-- > 0;)
      if (blocks_[i].allocation >= allocation) drop(i);
  }

  // What the heap, and each one that it stands on, tells of itself, against what is known here.
  void check() const {
    check_layer(heap_);
    if constexpr (counted<heap_type>) {
      EXPECT_EQ(heap_.held(), granted_) << "what a source counts is not what is out";
    }
    if constexpr (counts_bytes<heap_type>) {
      EXPECT_EQ(heap_.out(), granted_) << "what is counted as out is not what is out";
    }
    if constexpr (counts_blocks<heap_type>) {
      const heap_statistics counted = heap_.statistics();
      EXPECT_EQ(counted.blocks.live, blocks_.size());
      EXPECT_EQ(counted.requests, counted.blocks.total + counted.failures);
      EXPECT_EQ(counted.received.live, granted_);
      EXPECT_GE(counted.received.peak, granted_);
    }
    if constexpr (inspectable<heap_type>) {
      if constexpr (M::reuses) {
        EXPECT_EQ(heap_.usage().granted, granted_);
      } else {
        EXPECT_GE(heap_.usage().granted, granted_);
      }
    }
  }

  // The same, after each step of what has many. AddressSanitizer makes it expensive, and finds what it
  // finds in the step itself: there only some steps are checked. The same traces run without, to be
  // checked at each. A fuzzer's traces run nowhere else, so all of their steps are checked.
  void check_step() {
#if defined(MALLARD_FUZZED)
    constexpr std::uint64_t steps_a_check = 1;
#else
    constexpr std::uint64_t steps_a_check = under_address_sanitizer ? 16 : 1;
#endif
    if (++steps_ % steps_a_check == 0) check();
  }

  void check_contents() const {
    for (const live_block& b : blocks_)
      EXPECT_TRUE(contents::intact(b.data, b.received, b.allocation))
          << "a block of " << b.received << " was damaged";
  }

 private:
  static constexpr int scribble = 0xdd;

  // Whether `b` lies where a live block may lie; if so, it is one from now on.
  bool record(const live_block& b) {
    EXPECT_TRUE(is_aligned(b.data, b.align)) << b.data << " is not aligned to " << b.align;
    if constexpr (probed<M>) {
      EXPECT_TRUE(shared() || registry_.covers(b.data, b.received))
          << "block of " << b.received << " lies outside of every chunk";
    }
    const std::uintptr_t start = address_of(b.data);
    const auto above = spans_.lower_bound(start);
    const bool free_above = above == spans_.end() || start + b.received <= above->first;
    const bool free_below = above == spans_.begin() || std::prev(above)->second <= start;
    EXPECT_TRUE(free_above && free_below) << "block of " << b.received << " overlaps a live one";
    if (broken()) return false;
    spans_[start] = start + b.received;
    granted_ += b.granted;
    blocks_.push_back(b);
    return true;
  }

  template <class H>
  void check_layer(H& h) const {
    if constexpr (inspectable<H>) {
      if (const violation v = h.validate()) ADD_FAILURE() << "validate: " << v.what;
      const heap_usage u = h.usage();
      EXPECT_GE(u.held, u.carved);
      EXPECT_GE(u.carved, u.granted);
      check_held(h, u.held);
    }
    if constexpr (layered<H>) check_layer(h.upstream());
  }

  template <class H>
  void check_held(H& h, std::size_t held) const {
    if constexpr (layered<H>) {
      if constexpr (inspectable<typename H::upstream_type> &&
                    !std::same_as<typename H::upstream_type, source>) {
        EXPECT_LE(held, h.upstream().usage().granted) << "held is more than the upstream has granted";
      } else if constexpr (stands_on_source<H>()) {
        EXPECT_EQ(held, registry_.held()) << "held differs from what the source counts";
      }
    }
  }

  template <class Before>
  [[nodiscard]] std::size_t extreme(Before before) const {
    const auto found = std::min_element(
        blocks_.begin(), blocks_.end(),
        [before](const live_block& a, const live_block& b) { return before(a.allocation, b.allocation); });
    return static_cast<std::size_t>(found - blocks_.begin());
  }

  void drop(std::size_t i) {
    spans_.erase(address_of(blocks_[i].data));
    granted_ -= blocks_[i].granted;
    blocks_[i] = blocks_.back();
    blocks_.pop_back();
  }

  heap_type& heap_;
  const chunk_registry& registry_;
  const company company_;
  std::vector<live_block> blocks_;
  std::map<std::uintptr_t, std::uintptr_t> spans_;  // of live blocks: start, end
  std::size_t granted_ = 0;
  std::uint64_t allocations_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace mallard::model
