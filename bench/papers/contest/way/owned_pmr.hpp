// owned_pmr_way: a memory resource of its own in each life, so that many are alive at once.
//
//     subsystem [ containers --virtual call--> resource ]      in a maker that its life made
//
// As of a pmr_way, what the resource is stays unknown to the compiler: the way is told how to make a maker.
#pragma once

#include <concepts>
#include <memory>

#include "contest/way/pmr.hpp"

namespace mallard::bench {

struct owned_pmr_way {
  template <class T>
  using allocator = pmr_way::allocator<T>;
  template <class T>
  using container_allocator = pmr_way::container_allocator<T>;

  struct life : resource_life<std::unique_ptr<resource_maker>> {
    explicit life(owned_pmr_way& way) : resource_life(way.make()) {}
  };

  std::unique_ptr<resource_maker> (*make)();
};

template <std::derived_from<resource_maker> Maker>
[[nodiscard]] owned_pmr_way owned_pmr() {
  return {[]() -> std::unique_ptr<resource_maker> { return std::make_unique<Maker>(); }};
}

}  // namespace mallard::bench
