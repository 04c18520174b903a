// pmr_resource<Resource>: a memory resource of the standard library or of Boost, as users have it.
//
//     pass --virtual call--> Resource --virtual call a chunk--> counting_upstream --> operator new
#pragma once

#include "harness/allocator/foreign_resources.hpp"
#include "replay/run/pass.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

// Calls through a pointer whose target the compiler cannot know, as a container makes them.
template <class Base>
class virtual_calls {
 public:
  explicit virtual_calls(Base* resource) : resource_(resource) { asm("" : "+r"(resource_)); }

  void* allocate(const op& o) { return resource_->allocate(o.size, o.align()); }
  void* allocate_aligned(const op& o) { return allocate(o); }
  void deallocate(void* p, const op& o) { resource_->deallocate(p, o.size, o.align()); }
  void* reallocate(void* p, const op& to, const op& from) { return move_block(*this, p, to, from); }
  void end_pass() {}  // whoever has the resource ends a pass

 private:
  Base* resource_;
};

template <class Resource>
class pmr_resource {
  using base = harness::resource_base<Resource>;

 public:
  static constexpr bool ends_all_at_once = harness::only_grows<Resource>;

  explicit pmr_resource(const trace&) : resource_(&upstream_), calls_(&resource_) {}
  pmr_resource(const pmr_resource&) = delete;
  pmr_resource& operator=(const pmr_resource&) = delete;

  virtual_calls<base>& calls() { return calls_; }
  void* allocate(const op& o) { return calls_.allocate(o); }
  void* allocate_aligned(const op& o) { return calls_.allocate(o); }
  void deallocate(void* p, const op& o) { calls_.deallocate(p, o); }
  void* reallocate(void* p, const op& to, const op& from) { return calls_.reallocate(p, to, from); }
  void end_pass() {
    if constexpr (ends_all_at_once) resource_.release();
  }

  [[nodiscard]] std::size_t held() const { return upstream_.held(); }
  [[nodiscard]] std::size_t max_held() const { return upstream_.max_held(); }
  void reset_max_held() { upstream_.reset_max_held(); }

 private:
  harness::counting_upstream<base> upstream_;
  Resource resource_;
  virtual_calls<base> calls_;
};

}  // namespace mallard::replay
