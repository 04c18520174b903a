// Allocations with all but one chunk full, at 2^8 live blocks of 48 bytes and more, up to 2^16.
//
//     [ b b b b ] [ b b b b b b b b ] [ b b b b   b b b b b b b b b b b ]      one place is free
//
// A pool is filled until the next block would take another chunk. One block at random is then freed,
// which is not counted, and the next allocation, which is, has to find its place. All allocators have
// the same upstream, which tells how often it was asked.

#include <boost/container/pmr/memory_resource.hpp>
#include <boost/container/pmr/unsynchronized_pool_resource.hpp>
#include <cstddef>
#include <cstdlib>
#include <memory_resource>
#include <new>
#include <random>
#include <string_view>
#include <vector>

#include "bindings.hpp"
#include "counted.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/synchronized_multipool.hpp"
#include "mallard/resource/resource.hpp"
#include "mallard/source/memory_resource_source.hpp"
#include "scenarios.hpp"

namespace instructions {
namespace {

constexpr std::size_t times = 128;

// operator new as a memory resource of either library.
template <class Base>
class upstream final : public Base {
 public:
  [[nodiscard]] std::size_t times_asked() const { return times_asked_; }

 private:
  void* do_allocate(std::size_t size, std::size_t) override {
    ++times_asked_;
    return ::operator new(size);
  }
  void do_deallocate(void* p, std::size_t, std::size_t) override { ::operator delete(p); }
  [[nodiscard]] bool do_is_equal(const Base& other) const noexcept override { return this == &other; }

  std::size_t times_asked_ = 0;
};

// A pool resource over such an upstream, and what lives in it.
template <class Pool, class Base>
class filled {
 public:
  explicit filled(std::size_t count) {
    for (; count != 0; --count) add();
  }

  // Adds blocks until the upstream is asked for more; returns how many it had room for.
  std::size_t add_until_asked() {
    const std::size_t before = upstream_.times_asked();
    std::size_t added = 0;
    for (add(); upstream_.times_asked() == before; add()) ++added;
    return added;
  }

  // Frees the i-th block, and counts the allocation that follows.
  void replace(std::size_t i) {
    pool_->deallocate(live_[i], item_size, item_align);
    clobber();
    const counted here;
    live_[i] = pool_->allocate(item_size, item_align);
  }

  [[nodiscard]] std::size_t live() const { return live_.size(); }
  [[nodiscard]] std::size_t times_asked() const { return upstream_.times_asked(); }

 private:
  void add() { live_.push_back(pool_->allocate(item_size, item_align)); }

  upstream<Base> upstream_;
  Pool resource_{&upstream_};
  Base* pool_ = hidden(as_base(resource_));
  std::vector<void*> live_;
};

template <class Pool, class Base>
void allocations(std::string_view allocator) {
  for (const std::size_t count : many_live) {
    const std::size_t room = filled<Pool, Base>(count).add_until_asked();
    filled<Pool, Base> pool(count + room);
    const std::size_t asked = pool.times_asked();
    std::mt19937 random(1);
    for (std::size_t i = 0; i != times; ++i) pool.replace(random() % pool.live());
    if (pool.times_asked() != asked) std::abort();
    tell({"full chunks", allocator, "pmr", count}, times);
  }
}

}  // namespace

void full_chunks() {
  using std_base = std::pmr::memory_resource;
  using boost_base = boost::container::pmr::memory_resource;
  for (const std::size_t count : many_live) tell_empty_stretches("full chunks", count, times);
  using over_upstream = mallard::memory_resource_source;
  allocations<mallard::resource<mallard::basic_multipool<over_upstream>>, std_base>("multipool");
  allocations<mallard::resource<mallard::basic_synchronized_multipool<over_upstream>>, std_base>(
      "synchronized_multipool");
  allocations<std::pmr::unsynchronized_pool_resource, std_base>("std.pool");
  allocations<boost::container::pmr::unsynchronized_pool_resource, boost_base>("boost.pool");
}

}  // namespace instructions
