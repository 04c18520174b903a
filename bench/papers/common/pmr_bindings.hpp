// The bindings of a strategy through std::pmr: pmr_binding, any memory resource, chosen at run time behind
// the abstract base class; owned_pmr_binding, a resource of its own in each life, so that many are alive at
// once.
//
//     containers, compiled once --virtual call--> resource (made and ended by a resource_maker)
//
// What the resource is stays unknown to the compiler, as it is to a library that takes one: no column gains
// by calls that could be resolved here but not there.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <utility>

namespace mallard::bench {

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

// operator new behind the abstract base class (AS2); there is always one.
class new_delete_maker final : public resource_maker {
 public:
  [[nodiscard]] std::pmr::memory_resource* begin() override { return std::pmr::new_delete_resource(); }
  void end() noexcept override {}
};

// A resource while it lives. Maker: a pointer to what makes it, which owns that or does not.
template <class Maker>
class resource_life {
 public:
  explicit resource_life(Maker maker) : maker_(std::move(maker)), resource_(maker_->begin()) {}
  resource_life(const resource_life&) = delete;
  resource_life& operator=(const resource_life&) = delete;
  ~resource_life() { maker_->end(); }

  template <class T>
  [[nodiscard]] std::pmr::polymorphic_allocator<T> allocator_of() const {
    return resource_;
  }
  [[nodiscard]] void* allocate(std::size_t size, std::size_t align) {
    return resource_->allocate(size, align);
  }
  void deallocate(void* p, std::size_t size, std::size_t align) { resource_->deallocate(p, size, align); }

 private:
  Maker maker_;
  std::pmr::memory_resource* resource_;
};

struct pmr_binding {
  template <class T>
  using allocator = std::pmr::polymorphic_allocator<T>;
  // It hands itself on to what it constructs: the scoped adaptor is built in.
  template <class T>
  using container_allocator = allocator<T>;

  struct life : resource_life<resource_maker*> {
    explicit life(pmr_binding& binding) : resource_life(binding.maker) {}
  };

  resource_maker* maker;
};

// It is given a way to make a maker, which its lives own.
struct owned_pmr_binding {
  template <class T>
  using allocator = pmr_binding::allocator<T>;
  template <class T>
  using container_allocator = pmr_binding::container_allocator<T>;

  struct life : resource_life<std::unique_ptr<resource_maker>> {
    explicit life(owned_pmr_binding& binding) : resource_life(binding.make()) {}
  };

  std::unique_ptr<resource_maker> (*make)();
};

template <std::derived_from<resource_maker> Maker>
[[nodiscard]] owned_pmr_binding owned_pmr() {
  return {[]() -> std::unique_ptr<resource_maker> { return std::make_unique<Maker>(); }};
}

}  // namespace mallard::bench
