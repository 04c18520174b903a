// Properties of a source that fails: at its n-th request, for every n of a trace, and at a number of bytes.
#pragma once

#include <algorithm>

#include "model/random_trace.hpp"

namespace mallard::model {

// Long enough for growth in several classes; short enough to be run once for each of its requests.
inline constexpr profile exhausting = {
    "exhausting",
    [](random_source& r) { return r.below(3) == 0 ? r.spread(1, 1 << 15) : r.spread(1, 1 << 9); },
    profiles::usual_align, 120, 300};

template <class M>
void exhaust_at(std::size_t n, bool for_good) {
  SCOPED_TRACE("request " + std::to_string(n) +
               (for_good ? " and all later ones fail" : " to the source fails"));
  const chunk_registry registry;
  {
    rig<M> under_test;
    shadow<M> s(under_test.heap, registry);
    source& below = source_of(under_test.heap);
    if (for_good)
      below.fail_from(n);
    else
      below.fail_at(n);
    run_trace(s, exhausting, 5, true);
    EXPECT_GE(below.requests(), n) << "the source was not asked that often";
    below.fail_no_more();
    for (const std::size_t size : {1u, 48u, 600u, 20000u})
      EXPECT_TRUE(s.allocate(std::min<std::size_t>(size, M::largest_size), 16)) << "serves again, " << size;
    s.check();
    s.check_contents();
    random_source r(n);
    drain(s, r);
  }
  EXPECT_EQ(registry.held(), 0u);
}

// Requests to the source in the same trace when all are served.
template <class M>
std::size_t requests_of_the_trace() {
  const chunk_registry registry;
  rig<M> under_test;
  shadow<M> s(under_test.heap, registry);
  run_trace(s, exhausting, 5);
  const std::size_t requests = source_of(under_test.heap).requests();
  random_source r(5);
  drain(s, r);
  return requests;
}

template <class M>
struct exhaustion_at_every_request_of_the_source {
  static constexpr const char* name = "exhaustion_at_every_request_of_the_source";
  static constexpr bool applies = probed<M>;
  static void check() {
    const std::size_t all = requests_of_the_trace<M>();
    ASSERT_GT(all, 0u);
    for (std::size_t n = 1; n <= all && !testing::Test::HasFailure(); ++n) {
      exhaust_at<M>(n, false);
      exhaust_at<M>(n, true);
    }
  }
};

template <class M>
struct an_exhausted_source_means_null {
  static constexpr const char* name = "an_exhausted_source_means_null";
  static constexpr bool applies = probed<M>;
  static void check() {
    const chunk_registry registry;
    rig<M> under_test;
    shadow<M> s(under_test.heap, registry);
    source_of(under_test.heap).fail_from(1);
    for (std::size_t size = M::lent_bytes; size > 0; size /= 2)
      while (s.allocate(size, 1)) s.check();  // what was lent needs no source
    for (const std::size_t size : {0u, 1u, 48u, 600u, 20000u}) ASSERT_FALSE(s.allocate(size, 16));
    s.check();
    source_of(under_test.heap).fail_no_more();
    ASSERT_TRUE(s.allocate(usual_size<M>, 16));
    s.deallocate(0, usual_size<M>);
  }
};

// What a request that fails gives back or joins on its way must serve that request, not the next one.
template <class M>
struct what_was_refused_is_refused_again {
  static constexpr const char* name = "what_was_refused_is_refused_again";
  static constexpr bool applies = probed<M> && !concurrent<typename M::heap> && !fixed_size<typename M::heap>;
  static void check() {
    chunk_registry registry;
    rig<M> under_test;
    shadow<M> s(under_test.heap, registry);
    registry.bound(M::lent_bytes + bytes);
    random_source r(83);
    for (std::size_t round = 0; round < 60 && !s.broken(); ++round) {
      std::size_t refused = 0;
      while (refused < 20 && !s.broken()) {
        const std::size_t size = r.below(4) == 0 ? r.spread(1, bytes / 2) : r.spread(1, 1 << 10);
        const request q = {std::min(size, M::largest_size), profiles::usual_align(r)};
        if (s.allocate(q.size, q.align)) continue;
        ++refused;
        EXPECT_FALSE(s.allocate(q.size, q.align)) << q.size << " bytes at " << q.align << ", round " << round;
      }
      s.check();
      for (std::size_t left = round % 3 * s.live() / 3; s.live() > left;) deallocate_one(s, r);
      if constexpr (clearable<typename M::heap>) {
        if (s.live() == 0 && round % 2 == 0) s.heap().clear();
      }
    }
    s.check_contents();
    drain(s, r);
  }

 private:
  static constexpr std::size_t bytes = std::size_t{64} << 10;
};

template <class M>
struct an_empty_heap_serves_what_a_new_one_does {
  static constexpr const char* name = "an_empty_heap_serves_what_a_new_one_does";
  static constexpr bool applies = probed<M> && clearable<typename M::heap> &&
                                  (M::serves_as_new_when_empty || M::serves_as_new_when_cleared);
  static void check() {
    for (const bool clears : {true, false}) {
      if (!clears && !(M::reuses && M::serves_as_new_when_empty)) continue;
      for (const bool is_new : {true, false}) {
        serve(std::size_t{24} << 10, 15000, is_new, clears);
        serve(std::size_t{64} << 10, 50000, is_new, clears);
        serve(std::size_t{1} << 20, 900000, is_new, clears);
      }
    }
  }

 private:
  static void serve(std::size_t bytes, std::size_t large, bool is_new, bool clears) {
    SCOPED_TRACE(std::to_string(large) + " of " + std::to_string(bytes) +
                 (is_new   ? ", new"
                  : clears ? ", cleared"
                           : ", freed"));
    chunk_registry registry;
    rig<M> under_test;
    shadow<M> s(under_test.heap, registry);
    registry.bound(bytes);
    while (!is_new && s.allocate(1000, 8)) {
    }
    empty(s, clears);
    EXPECT_TRUE(s.allocate(large, 16)) << "in use " << s.usage().granted << ", held " << s.usage().held;
    empty(s, clears);
  }

  static void empty(shadow<M>& s, bool clears) {
    random_source r(89);
    if (!clears) return drain(s, r);
    s.heap().clear();
    s.forget_since(0);
  }
};

}  // namespace mallard::model
