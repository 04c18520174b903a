// Promises about a source that fails: at its n-th request, for every n of a trace.
#pragma once

#include <algorithm>

#include "model/trace.hpp"

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
  const ledger books;
  {
    rig<M> under_test;
    shadow<M> s(under_test.heap, books);
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
  EXPECT_EQ(books.held(), 0u);
}

// Requests to the source in the same trace when all are served.
template <class M>
std::size_t requests_of_the_trace() {
  const ledger books;
  rig<M> under_test;
  shadow<M> s(under_test.heap, books);
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
    const ledger books;
    rig<M> under_test;
    shadow<M> s(under_test.heap, books);
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

}  // namespace mallard::model
