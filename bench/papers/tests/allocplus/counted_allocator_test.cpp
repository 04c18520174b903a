#include "allocplus/counted_allocator.hpp"

#include <gtest/gtest.h>

#include <boost/container/list.hpp>
#include <boost/container/vector.hpp>

#include "allocplus/allocplus_bindings.hpp"
#include "mallard/heap/best_fit.hpp"

namespace mallard::bench {
namespace {

// What a vector of 500 that loses its last half, then is fitted, asks for.
template <class Binding>
tally asked_by_vector() {
  Binding binding(0);
  tally counts;
  counted_allocator<int, Binding> from(binding.template allocator_of<int>(), counts);
  {
    boost::container::vector<int, counted_allocator<int, Binding>> made(from);
    for (int i = 0; i < 500; ++i) made.push_back(i);
    made.resize(250);
    made.shrink_to_fit();
    for (int i = 0; i < 250; ++i) EXPECT_EQ(made[static_cast<std::size_t>(i)], i);
  }
  return counts;
}

template <class Binding>
tally asked_by_list() {
  Binding binding(0);
  tally counts;
  counted_allocator<int, Binding> from(binding.template allocator_of<int>(), counts);
  {
    boost::container::list<int, counted_allocator<int, Binding>> made(from);
    made.insert(made.end(), 7, 1);
    made.push_back(2);
    EXPECT_EQ(made.size(), 8u);
  }
  return counts;
}

TEST(CountedAllocator, CountsAllocationsOfPlainAllocators) {
  const tally standard = asked_by_vector<std_binding>();
  EXPECT_GT(standard.allocations, 5u);
  EXPECT_EQ(standard.forward + standard.backward + standard.shrinks + standard.bursts, 0u);
  EXPECT_EQ(asked_by_vector<v1_binding<best_fit>>().allocations, standard.allocations);
  EXPECT_EQ(asked_by_vector<boost_binding<1>>().allocations, standard.allocations);
}

TEST(CountedAllocator, CountsExpansionsAndShrinks) {
  for (const tally& counts : {asked_by_vector<v2_binding<best_fit>>(), asked_by_vector<boost_binding<2>>()}) {
    EXPECT_EQ(counts.allocations, 1u);
    EXPECT_GT(counts.forward, 4u);
    EXPECT_EQ(counts.backward, 0u);
    EXPECT_EQ(counts.shrinks, 1u);
  }
}

TEST(CountedAllocator, FindsNothingDoneThatIsDisabled) {
  const tally ours = asked_by_vector<v2_binding<best_fit, commands::expand_fwd | commands::expand_bwd>>();
  const tally theirs = asked_by_vector<boost_binding<2, commands::expand_fwd | commands::expand_bwd>>();
  for (const tally& counts : {ours, theirs}) {
    EXPECT_GT(counts.allocations, 3u);
    EXPECT_EQ(counts.forward + counts.backward, 0u);
  }
}

TEST(CountedAllocator, CountsBurstsOnce) {
  for (const tally& counts : {asked_by_list<v2_binding<best_fit>>(), asked_by_list<boost_binding<2>>()}) {
    EXPECT_EQ(counts.bursts, 1u);
    EXPECT_EQ(counts.allocations, 1u);
  }
  EXPECT_EQ(asked_by_list<v1_binding<best_fit>>().allocations, 8u);
}

}  // namespace
}  // namespace mallard::bench
