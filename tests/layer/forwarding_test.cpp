#include "mallard/layer/forwarding.hpp"

#include <gtest/gtest.h>

#include "mallard/core/concepts.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/layer/live_list.hpp"
#include "mallard/source/fixed_buffer.hpp"
#include "mallard/source/upstream_ref.hpp"

namespace mallard {
namespace {

// The least layer: it adds nothing.
template <heap Upstream>
struct plain : forwarding<Upstream> {
  using forwarding<Upstream>::forwarding;
  using forwarding<Upstream>::knows_received;
  using forwarding<Upstream>::received_by;

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    return this->upstream().allocate(size, align);
  }
  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    this->upstream().deallocate(p, size, align);
  }
};

static_assert(layered<plain<multipool>> && inspectable<plain<multipool>> && owning<plain<multipool>>);
static_assert(fixed_size<plain<pool>> && predictable<plain<pool>>);
static_assert(!fixed_size<plain<multipool>>);
static_assert(counted<plain<default_source>> && !inspectable<plain<default_source>>);
static_assert(!releasable<plain<monotonic>> && !rewindable<plain<monotonic>> && !resizable<plain<monotonic>>);
static_assert(plain<multipool>::knows_received && plain<live_list<monotonic>>::knows_received);

TEST(Forwarding, AnswersAsItsUpstreamDoes) {
  plain<pool> layer(40u, 8u);
  EXPECT_EQ(layer.block_size(), layer.upstream().block_size());
  EXPECT_EQ(layer.block_align(), layer.upstream().block_align());
  EXPECT_EQ(layer.received_size(33, 8), 40u);
  const block b = layer.allocate(33, 8);
  EXPECT_TRUE(layer.owns(b.data));
  EXPECT_FALSE(layer.owns(&layer));
  EXPECT_EQ(layer.received_by(b.data, 33, 8), 40u);
  EXPECT_FALSE(layer.validate());
}

TEST(Forwarding, HoldsWhatItsBlocksHaveUpstream) {
  plain<multipool> layer;
  const block b = layer.allocate(100, 8);
  EXPECT_EQ(layer.usage(), (heap_usage{b.size, b.size, b.size}));
  EXPECT_GT(layer.upstream().usage().held, b.size);
  layer.deallocate(b.data, b.size, 8);
  EXPECT_EQ(layer.usage(), heap_usage{});
}

TEST(Forwarding, CountsAsACountedUpstreamDoes) {
  plain<default_source> layer;
  const block b = layer.allocate(1, 1);
  EXPECT_EQ(layer.held(), b.size);
  layer.deallocate(b.data, b.size, 1);
  EXPECT_EQ(layer.held(), 0u);
  EXPECT_EQ(layer.max_held(), b.size);
}

TEST(Forwarding, MeasuresABlockWhereTheUpstreamPredictsNone) {
  alignas(16) std::byte bytes[4096];
  struct silent : fixed_buffer {  // tells no received sizes beforehand
    using fixed_buffer::fixed_buffer;
    std::size_t received_size(std::size_t, std::size_t) = delete;
  };
  static_assert(heap<silent> && !predictable<silent>);
  plain<live_list<silent>> layer(bytes, sizeof bytes);
  const block b = layer.allocate(33, 8);
  EXPECT_EQ(layer.usable_size(b.data), b.size);
  EXPECT_EQ(layer.received_by(b.data, 33, 8), b.size);
  layer.deallocate(b.data, 33, 8);
}

}  // namespace
}  // namespace mallard
