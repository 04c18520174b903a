// boost_resource<R>: a resource of Boost's as a std::pmr one, without a second virtual call: R's own function
// is called by its name.
#pragma once

#include <boost/container/pmr/memory_resource.hpp>
#include <concepts>
#include <cstddef>
#include <memory_resource>

namespace mallard::bench {

template <std::derived_from<boost::container::pmr::memory_resource> R>
class boost_resource final : public std::pmr::memory_resource {
  struct open : R {
    using R::do_allocate;
    using R::do_deallocate;
  };

  void* do_allocate(std::size_t size, std::size_t align) override {
    return inner_.open::do_allocate(size, align);
  }
  void do_deallocate(void* p, std::size_t size, std::size_t align) override {
    inner_.open::do_deallocate(p, size, align);
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  open inner_;
};

}  // namespace mallard::bench
