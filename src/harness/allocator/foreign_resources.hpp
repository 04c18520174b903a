// foreign_resources: the memory resources of the standard library and of Boost, a line each.
//
//     for_each_foreign_resource(f)     f is called with the foreign_resource of each
//
// Their upstream is their default, operator new: page-granular memory, which our own heaps
// take, would only punish resources that ask for small chunks. Their processes run under untrimmed_malloc(),
// so that a chunk given back in one pass costs no system call and no fault in the next: our own heaps keep
// theirs too, and the comparison is to be with the strongest form.
#pragma once

#include <algorithm>
#include <boost/container/pmr/monotonic_buffer_resource.hpp>
#include <boost/container/pmr/synchronized_pool_resource.hpp>
#include <boost/container/pmr/unsynchronized_pool_resource.hpp>
#include <concepts>
#include <cstddef>
#include <memory_resource>
#include <new>
#include <type_traits>

#include "harness/foreign_malloc.hpp"
#include "mallard/core/align.hpp"

namespace mallard::harness {

inline const foreign_malloc* untrimmed_malloc() { return find_foreign_malloc("glibc-notrim"); }

// The abstract class of a resource: std::pmr::memory_resource or Boost's, which has the same members.
template <class Resource>
using resource_base = std::conditional_t<std::derived_from<Resource, std::pmr::memory_resource>,
                                         std::pmr::memory_resource, boost::container::pmr::memory_resource>;

// operator new, with a count of the bytes out.
template <class Base>
class counting_upstream final : public Base {
 public:
  [[nodiscard]] std::size_t held() const noexcept { return held_; }
  [[nodiscard]] std::size_t max_held() const noexcept { return max_held_; }
  void reset_max_held() noexcept { max_held_ = held_; }

 private:
  void* do_allocate(std::size_t size, std::size_t align) override {
    void* p = ::operator new(size, std::align_val_t{align});
    held_ += size;
    max_held_ = std::max(max_held_, held_);
    return p;
  }
  void do_deallocate(void* p, std::size_t size, std::size_t align) override {
    held_ -= size;
    ::operator delete(p, size, std::align_val_t{align});
  }
  [[nodiscard]] bool do_is_equal(const Base& other) const noexcept override { return this == &other; }

  std::size_t held_ = 0;
  std::size_t max_held_ = 0;
};

template <class Resource>
struct foreign_resource {
  using type = Resource;

  const char* name;
  const char* summary;
  std::size_t most_align = max_request;  // bytes: stricter alignments are not served
};

template <class F>
void for_each_foreign_resource(F f) {
  namespace boost_pmr = boost::container::pmr;
  // Above it, 1.74's monotonic throws, its pools misalign.
  constexpr std::size_t of_boost = boost_pmr::memory_resource::max_align;
  f(foreign_resource<std::pmr::monotonic_buffer_resource>{
      "std.monotonic", "std::pmr::monotonic_buffer_resource, released after each pass"});
  f(foreign_resource<std::pmr::unsynchronized_pool_resource>{"std.pool",
                                                             "std::pmr::unsynchronized_pool_resource"});
  f(foreign_resource<std::pmr::synchronized_pool_resource>{"std.sync_pool",
                                                           "std::pmr::synchronized_pool_resource"});
  f(foreign_resource<boost_pmr::monotonic_buffer_resource>{
      "boost.monotonic", "Boost's monotonic_buffer_resource, released after each pass", of_boost});
  f(foreign_resource<boost_pmr::unsynchronized_pool_resource>{
      "boost.pool", "Boost's unsynchronized_pool_resource", of_boost});
  f(foreign_resource<boost_pmr::synchronized_pool_resource>{"boost.sync_pool",
                                                            "Boost's synchronized_pool_resource", of_boost});
}

// Whether a resource's deallocate gives nothing back, so that release() ends a pass.
template <class Resource>
inline constexpr bool only_grows = std::same_as<Resource, std::pmr::monotonic_buffer_resource> ||
                                   std::same_as<Resource, boost::container::pmr::monotonic_buffer_resource>;

// Whether several threads may use it at once.
template <class Resource>
inline constexpr bool is_synchronised =
    std::same_as<Resource, std::pmr::synchronized_pool_resource> ||
    std::same_as<Resource, boost::container::pmr::synchronized_pool_resource>;

}  // namespace mallard::harness
