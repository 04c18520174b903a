// What Boost.Container says of its protocol, and what is said of it here.
#include <gtest/gtest.h>

#include <boost/container/detail/allocation_type.hpp>
#include <boost/container/detail/version_type.hpp>
#include <boost/version.hpp>
#include <type_traits>

#include "mallard/allocator/allocator.hpp"
#include "mallard/allocator/resize_objects.hpp"
#include "mallard/allocator/v2_allocator.hpp"
#include "mallard/heap/multipool.hpp"

namespace mallard::containers {
namespace {

namespace its = boost::container;

static_assert(std::is_same_v<allocation_type, its::allocation_type>);
static_assert(commands::allocate_new == its::allocate_new);
static_assert(commands::expand_fwd == its::expand_fwd);
static_assert(commands::expand_bwd == its::expand_bwd);
static_assert(commands::shrink_in_place == its::shrink_in_place);
static_assert(commands::try_shrink_in_place == its::try_shrink_in_place);
static_assert(commands::nothrow_allocation == its::nothrow_allocation);

static_assert(its::dtl::version<v2_allocator<int, multipool>>::value == 2);
static_assert(its::dtl::version<allocator<int, multipool>>::value == 1);

TEST(BoostProtocol, IsThatOfTheBoostThatThisTestIsNamedFor) { EXPECT_EQ(MALLARD_BOOST, BOOST_VERSION / 100); }

}  // namespace
}  // namespace mallard::containers
