// pmr_way: any memory resource, chosen at run time behind the abstract base class.
//
//     containers, compiled once --virtual call--> resource (made and ended by a resource_maker)
//
// What the resource is stays unknown to the compiler, as it is to a library that takes one: no column gains
// by calls that could be resolved here but not there.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <new>

namespace mallard::p0089 {

// Makes one resource at a time, in the same place.
class resource_maker {
 public:
  resource_maker() = default;
  resource_maker(const resource_maker&) = delete;
  resource_maker& operator=(const resource_maker&) = delete;
  virtual ~resource_maker() = default;

  [[nodiscard]] virtual std::pmr::memory_resource* begin() = 0;
  virtual void end() noexcept = 0;
};

template <class Resource>
class maker_of final : public resource_maker {
 public:
  [[nodiscard]] std::pmr::memory_resource* begin() override { return resource_ = ::new (room_) Resource(); }
  void end() noexcept override { resource_->~Resource(); }

 private:
  alignas(Resource) std::byte room_[sizeof(Resource)];
  Resource* resource_ = nullptr;
};

// operator new behind the abstract base class (AS2); there is one for ever.
class new_delete_maker final : public resource_maker {
 public:
  [[nodiscard]] std::pmr::memory_resource* begin() override { return std::pmr::new_delete_resource(); }
  void end() noexcept override {}
};

struct pmr_way {
  template <class T>
  using allocator = std::pmr::polymorphic_allocator<T>;
  // It hands itself on to what it constructs: the scoped adaptor is built in.
  template <class T>
  using container_allocator = allocator<T>;

  class life {
   public:
    explicit life(pmr_way& way) : maker_(*way.maker), resource_(maker_.begin()) {}
    life(const life&) = delete;
    life& operator=(const life&) = delete;
    ~life() { maker_.end(); }

    template <class T>
    [[nodiscard]] container_allocator<T> allocator_of() const {
      return resource_;
    }
    [[nodiscard]] void* allocate(std::size_t size, std::size_t align) {
      return resource_->allocate(size, align);
    }
    void deallocate(void* p, std::size_t size, std::size_t align) { resource_->deallocate(p, size, align); }

   private:
    resource_maker& maker_;
    std::pmr::memory_resource* resource_;
  };

  resource_maker* maker;
};

}  // namespace mallard::p0089
