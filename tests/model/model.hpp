// model: how a heap enters the model suite, and how a property of the suite is bound to it.
//
//     struct multipool_model : model { using heap = basic_multipool<source>; };
//     const bool multipool_is_held = has_every_property<multipool_model>("multipool");
//
// A property is a class template over models with a name, the condition under which it applies,
// and what must hold:
//
//     template <class M>
//     struct release_ends_all {
//       static constexpr const char* name = "release_ends_all";
//       static constexpr bool applies = releasable<typename M::heap>;
//       static void check();
//     };
//
// Properties that do not apply to a heap are not registered: no test passes by being empty. A property is
// instantiated only for heaps that it applies to, so check() uses capabilities without asking. Under
// ThreadSanitizer only those that say `among_threads` are: it finds nothing in the others.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "mallard/core/attributes.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/layer/failing.hpp"
#include "model/chunk_registry.hpp"

namespace mallard::model {

// What heaps of the suite stand on: a registry of chunks, and failures on demand.
using source = failing<probe>;

// For caches that keep chunks by time: none passes, however long a trace of the suite is interrupted.
struct standing_clock {
  static std::uint64_t now() noexcept { return 0; }
  static std::size_t bytes_between() noexcept { return std::size_t{1} << 16; }
};

// What a property must know of a heap and cannot ask it. A model inherits it and says what differs.
struct model {
  // Whether a block that was ended can be handed out again, and ends in the figures of usage().
  static constexpr bool reuses = true;
  // Above these, in bytes, what was ended goes to an upstream that may keep it until it ends itself.
  static constexpr std::size_t largest_reused_size = SIZE_MAX;
  static constexpr std::size_t largest_reused_align = SIZE_MAX;
  // Whether a block with free memory behind it grows there, mostly.
  static constexpr bool grows_in_place = true;
  // Whether the destructor ends the blocks that still live. Layers that only pass blocks through do not.
  static constexpr bool ends_its_blocks = true;
  // Whether a heap without blocks, or one that was cleared, serves what a new one does, whatever it has kept.
  static constexpr bool serves_as_new_when_empty = false;
  static constexpr bool serves_as_new_when_cleared = false;
  // Largest request that is served from a new heap, in bytes; the suite asks for no more in traces.
  static constexpr std::size_t largest_size = SIZE_MAX;
  // Largest alignment that is served.
  static constexpr std::size_t largest_align = 8192;
  // Whether a burst from a new heap is adjacent as far as `contiguous` wishes, for blocks of usual size.
  static constexpr bool bursts_are_adjacent = false;
  // Bytes in front of each block that are the heap's: adjacent blocks are so far apart.
  static constexpr std::size_t header_bytes = 0;
  // Bytes that the rig has lent to the heap: held from the beginning to the end.
  static constexpr std::size_t lent_bytes = 0;
};

// A request in bytes, small as most are, that M's heap serves.
template <class M>
inline constexpr std::size_t usual_size = std::min<std::size_t>(48, M::largest_size);

// A heap, with what it needs around it. A model whose heap cannot be default-constructed brings its own.
template <class M>
struct rig {
  typename M::heap heap;
};
template <class M>
  requires requires { typename M::rig; }
struct rig<M> : M::rig {};

// A lock around the source itself, which passes on what lies below.
template <class H>
concept locks_source = requires(H& h) {
  { h.heap() } -> std::same_as<source&>;
};

template <class H>
constexpr bool stands_on_source() {
  if constexpr (std::derived_from<H, source> || locks_source<H>)
    return true;
  else if constexpr (layered<H>)
    return stands_on_source<typename H::upstream_type>();
  else
    return false;
}

// Whether the chunk_registry sees the chunks of M's heap, so that it can be made to fail.
template <class M>
inline constexpr bool probed = stands_on_source<typename M::heap>();

// The source that `heap` stands on; precondition: it does.
template <class H>
source& source_of(H& heap) {
  if constexpr (std::derived_from<H, source>)
    return heap;
  else if constexpr (locks_source<H>)
    return heap.heap();
  else
    return source_of(heap.upstream());
}

// Whether the running test has failed. Any thread may ask at any time, which gtest itself does not allow.
class failure_flag : public testing::EmptyTestEventListener {
 public:
  [[nodiscard]] static bool raised() { return raised_.load(std::memory_order_relaxed); }

  static bool install() {
    testing::UnitTest::GetInstance()->listeners().Append(new failure_flag);
    return true;
  }

 private:
  void OnTestStart(const testing::TestInfo&) override { raised_ = false; }
  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (part.failed()) raised_ = true;
  }

  static inline std::atomic<bool> raised_ = false;
};
inline const bool failure_flag_is_installed = failure_flag::install();

template <class Property>
class property_test : public testing::Test {
  void TestBody() override { Property::check(); }
};

inline constexpr bool under_address_sanitizer = MALLARD_ADDRESS_SANITIZED;

#if defined(__SANITIZE_THREAD__)
inline constexpr bool under_thread_sanitizer = true;
#elif defined(__has_feature)
inline constexpr bool under_thread_sanitizer = __has_feature(thread_sanitizer);
#else
inline constexpr bool under_thread_sanitizer = false;
#endif

template <class Property>
concept among_threads = Property::among_threads;

template <class M, template <class> class Property>
void register_property(const char* heap) {
  if constexpr (Property<M>::applies && (!under_thread_sanitizer || among_threads<Property<M>>))
    testing::RegisterTest(heap, Property<M>::name, nullptr, nullptr, __FILE__, __LINE__,
                          []() -> testing::Test* { return new property_test<Property<M>>; });
}

// Registers all properties that apply to M's heap, as tests "heap.property".
template <class M, template <class> class... Properties>
bool register_properties(const char* heap) {
  (register_property<M, Properties>(heap), ...);
  return true;
}

}  // namespace mallard::model
