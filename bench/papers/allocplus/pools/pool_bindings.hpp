// The pools that are compared: Boost's, with 256 nodes a block where that can be said, as the seed has it,
// and heaps of ours.
//
//     boost_pool_binding<Version, Of>   Boost.Container's, over its dlmalloc: one for the process, locked, or
//                                       private: one for each allocator
//     fast_pool_binding<Mutex>          Boost.Pool's fast_pool_allocator, over operator new
//     resource_binding<...>             pool resources of Boost.Container and the standard library
//     malloc_binding<Beneath>           std::allocator over the process's malloc
//     pool_binding<Version, Heap>       a heap of ours behind allocator<T, Heap> or v2_allocator<T, Heap>
//
// Each tells what it holds when all is freed. A singleton pool is identified by the size of its nodes: what
// is to be given back must be asked of the pool of nodes, not of the pool of elements. Seed 001, "Testing
// adaptive_pool".
#pragma once

#include <boost/container/adaptive_pool.hpp>
#include <boost/container/allocator.hpp>
#include <boost/container/detail/node_pool.hpp>
#include <boost/container/node_allocator.hpp>
#include <boost/container/pmr/polymorphic_allocator.hpp>
#include <boost/container/pmr/unsynchronized_pool_resource.hpp>
#include <boost/pool/pool_alloc.hpp>
#include <cstddef>
#include <memory_resource>
#include <type_traits>

#include "allocplus/allocplus_bindings.hpp"
#include "allocplus/pools/memory_book.hpp"
#include "allocplus/pools/population.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard::bench {

inline constexpr std::size_t nodes_per_block = 256;
inline constexpr std::size_t max_free_blocks = 2;

// OverheadPercent: 0 aligns blocks whole, others cut them into sub-blocks.
template <std::size_t OverheadPercent, unsigned Version>
struct boost_adaptive {
  template <class T>
  using allocator =
      boost::container::adaptive_pool<T, nodes_per_block, max_free_blocks, OverheadPercent, Version>;
};

template <std::size_t OverheadPercent, unsigned Version>
struct boost_private_adaptive {
  template <class T>
  using allocator =
      boost::container::private_adaptive_pool<T, nodes_per_block, max_free_blocks, OverheadPercent, Version>;
};

template <unsigned Version>
struct boost_node {
  template <class T>
  using allocator = boost::container::node_allocator<T, nodes_per_block, Version>;

  // All of it at once, by what its public interface lacks: finding the blocks that are free takes minutes.
  // Precondition: no node is alive.
  static void give_back() {
    using all_of_node = boost::container::dtl::shared_node_pool<sizeof(node), nodes_per_block>;
    boost::container::dtl::singleton_default<all_of_node>::instance().purge_blocks();
  }
};

template <unsigned Version>
struct boost_plain {
  template <class T>
  using allocator = boost::container::allocator<T, Version>;
};

template <unsigned Version, class Of, sharing Shared = sharing::all>
class boost_pool_binding {
 public:
  static constexpr unsigned version = Version;
  static constexpr sharing shared = Shared;
  template <class T>
  using allocator = typename Of::template allocator<T>;

  explicit boost_pool_binding(std::size_t) {}

  template <class T>
  [[nodiscard]] allocator<T> allocator_of() const {
    return allocator<T>();
  }

  [[nodiscard]] static heap_figures figures() { return boost_beneath::figures(); }

  template <class Allocator>
  void trim(Allocator& of) {
    if constexpr (requires { Of::give_back(); })
      Of::give_back();
    else if constexpr (requires { of.deallocate_free_blocks(); })
      of.deallocate_free_blocks();
    boost_beneath::trim();
  }
};

template <class Mutex>
class fast_pool_binding {
  static constexpr unsigned first_blocks = 32;

 public:
  static constexpr unsigned version = 1;
  static constexpr sharing shared =
      std::is_same_v<Mutex, boost::details::pool::null_mutex> ? sharing::none : sharing::all;
  template <class T>
  using allocator =
      boost::fast_pool_allocator<T, boost::default_user_allocator_new_delete, Mutex, first_blocks>;

  explicit fast_pool_binding(std::size_t) {}

  template <class T>
  [[nodiscard]] allocator<T> allocator_of() const {
    return {};
  }

  [[nodiscard]] static heap_figures figures() { return glibc_beneath::figures(); }

  // All of it at once: finding the blocks that are free takes minutes.
  template <class Allocator>
  void trim(Allocator&) {
    boost::singleton_pool<boost::fast_pool_allocator_tag, sizeof(node),
                          boost::default_user_allocator_new_delete, Mutex, first_blocks>::purge_memory();
    glibc_beneath::trim();
  }
};

template <class Resource, template <class> class Polymorphic>
class resource_binding {
 public:
  static constexpr unsigned version = 1;
  static constexpr sharing shared = sharing::own;
  template <class T>
  using allocator = Polymorphic<T>;

  explicit resource_binding(std::size_t) {}

  template <class T>
  [[nodiscard]] allocator<T> allocator_of() {
    return allocator<T>(&resource_);
  }

  [[nodiscard]] static heap_figures figures() { return glibc_beneath::figures(); }

  template <class Allocator>
  void trim(Allocator&) {
    resource_.release();
    glibc_beneath::trim();
  }

 private:
  Resource resource_;
};

using boost_resource_binding = resource_binding<boost::container::pmr::unsynchronized_pool_resource,
                                                boost::container::pmr::polymorphic_allocator>;
using std_resource_binding =
    resource_binding<std::pmr::unsynchronized_pool_resource, std::pmr::polymorphic_allocator>;

template <class Beneath>
class malloc_binding : public std_binding {
 public:
  static constexpr sharing shared = sharing::all;

  using std_binding::std_binding;

  [[nodiscard]] static heap_figures figures() { return Beneath::figures(); }

  template <class Allocator>
  void trim(Allocator&) {
    Beneath::trim();
  }
};

template <unsigned Version, heap Heap>
class pool_binding : public std::conditional_t<Version == 2, v2_binding<Heap>, v1_binding<Heap>> {
  using base = std::conditional_t<Version == 2, v2_binding<Heap>, v1_binding<Heap>>;

 public:
  static constexpr sharing shared = concurrent<Heap> ? sharing::all : sharing::own;

  using base::base;

  // Of floors nothing is known.
  [[nodiscard]] heap_figures figures() {
    if constexpr (inspectable<Heap>) return heap_figures{this->heap().usage().held, chunks_beneath::cached()};
    return untold;
  }

  // Precondition: nothing is alive.
  void begin_anew()
    requires requires(Heap& h) { h.begin_anew(); }
  {
    this->heap().begin_anew();
  }

  // Precondition: nothing is alive. What cannot trim is released.
  template <class Allocator>
  void trim(Allocator&) {
    if constexpr (trimmable<Heap>)
      this->heap().trim(0);
    else if constexpr (releasable<Heap>)
      this->heap().release();
    chunks_beneath::trim();
  }
};

}  // namespace mallard::bench
