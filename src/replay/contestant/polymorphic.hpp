// polymorphic<Base, Resource>: a memory resource of the standard library or of Boost, as users have it.
//
//     pass --virtual call--> Resource --virtual call a chunk--> counting_upstream --> operator new
//
// Base is std::pmr::memory_resource or Boost's, which has the same members. The upstream is what
// their defaults come to, operator new, with a count of the bytes out: page-granular memory, which
// our own heaps take, would only punish resources that ask for small chunks. Their processes run under
// glibc-notrim, so that a chunk given back in one pass costs no system call and no fault in the next:
// our own heaps keep theirs too, and the comparison is to be with the strongest form.
#pragma once

#include <algorithm>
#include <concepts>
#include <new>

#include "harness/foreign_malloc.hpp"
#include "replay/run/pass.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

inline const harness::foreign_malloc* untrimmed_malloc() {
  return harness::find_foreign_malloc("glibc-notrim");
}

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

// Calls through a pointer whose target the compiler cannot know, as a container makes them.
template <class Base>
class virtual_calls {
 public:
  explicit virtual_calls(Base* resource) : resource_(resource) { asm("" : "+r"(resource_)); }

  void* allocate(const op& o) { return resource_->allocate(o.size, o.align()); }
  void* allocate_aligned(const op& o) { return allocate(o); }
  void deallocate(void* p, const op& o) { resource_->deallocate(p, o.size, o.align()); }
  void* reallocate(void* p, const op& to, const op& from) { return move_block(*this, p, to, from); }

 private:
  Base* resource_;
};

// What ends a pass: a resource whose deallocate gives nothing back is released, a pool is left alone.
enum class pass_end { nothing, release };

template <class Base, std::derived_from<Base> Resource, pass_end End>
class polymorphic {
 public:
  static constexpr bool ends_all_at_once = End == pass_end::release;

  explicit polymorphic(const trace&) : resource_(&upstream_), calls_(&resource_) {}
  polymorphic(const polymorphic&) = delete;
  polymorphic& operator=(const polymorphic&) = delete;

  void* allocate(const op& o) { return calls_.allocate(o); }
  void* allocate_aligned(const op& o) { return calls_.allocate(o); }
  void deallocate(void* p, const op& o) { calls_.deallocate(p, o); }
  void* reallocate(void* p, const op& to, const op& from) { return calls_.reallocate(p, to, from); }
  void end_pass() {
    if constexpr (End == pass_end::release) resource_.release();
  }

  [[nodiscard]] std::size_t held() const { return upstream_.held(); }
  [[nodiscard]] std::size_t max_held() const { return upstream_.max_held(); }
  void reset_max_held() { upstream_.reset_max_held(); }

 private:
  counting_upstream<Base> upstream_;
  Resource resource_;
  virtual_calls<Base> calls_;
};

}  // namespace mallard::replay
