// owned_pmr_way<Maker>: a memory resource of its own in each life, so that many are alive at once. For
// containers alone.
//
//     subsystem [ maker [ resource ] | containers --virtual call--> resource ]
#pragma once

#include <concepts>
#include <memory_resource>

#include "p0089/way/pmr.hpp"

namespace mallard::p0089 {

template <std::derived_from<resource_maker> Maker>
struct owned_pmr_way {
  template <class T>
  using allocator = std::pmr::polymorphic_allocator<T>;
  template <class T>
  using container_allocator = allocator<T>;

  class life {
   public:
    explicit life(owned_pmr_way&) : resource_(maker_.begin()) {}
    life(const life&) = delete;
    life& operator=(const life&) = delete;
    ~life() { maker_.end(); }

    template <class T>
    [[nodiscard]] container_allocator<T> allocator_of() const {
      return resource_;
    }

   private:
    Maker maker_;
    std::pmr::memory_resource* resource_;
  };
};

}  // namespace mallard::p0089
