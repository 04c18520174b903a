// block_calls: an allocator of blocks, its members behind pointers.
//
//     pass that is measured                  compiled for each allocator    --inlined--> allocator
//     check; litter; threads' footprint      compiled once                  --pointer--> allocator
//
// A call through a pointer costs little beside what these do with each block.
#pragma once

#include <concepts>
#include <cstdint>

#include "replay/run/pass.hpp"
#include "replay/trace/op.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

// Stands for an allocator, which must outlive it.
class block_calls {
 public:
  template <block_allocator C>
    requires(!std::same_as<C, block_calls>)
  block_calls(C& c) noexcept : c_(&c), members_(&members_of<C>) {}

  // Nothing, of an allocator that need not know its threads.
  void begin_thread(const thread_part& part, std::uint64_t copy) { members_->begin_thread(c_, part, copy); }
  void* allocate(const op& o) { return members_->allocate(c_, o); }
  void* allocate_aligned(const op& o) { return members_->allocate_aligned(c_, o); }
  void* allocate_zeroed(const op& o) { return members_->allocate_zeroed(c_, o); }
  void deallocate(void* p, const op& o) { members_->deallocate(c_, p, o); }
  void* reallocate(void* p, const op& to, const op& from) { return members_->reallocate(c_, p, to, from); }
  void end_pass() { members_->end_pass(c_); }

 private:
  struct members {
    void (*begin_thread)(void* c, const thread_part&, std::uint64_t copy);
    void* (*allocate)(void* c, const op&);
    void* (*allocate_aligned)(void* c, const op&);
    void* (*allocate_zeroed)(void* c, const op&);
    void (*deallocate)(void* c, void* p, const op&);
    void* (*reallocate)(void* c, void* p, const op& to, const op& from);
    void (*end_pass)(void* c);
  };

  template <class C>
  static C& as(void* c) {
    return *static_cast<C*>(c);
  }

  template <class C>
  static constexpr members members_of{
      .begin_thread =
          [](void* c, const thread_part& part, std::uint64_t copy) {
            if constexpr (knows_threads<C>) as<C>(c).begin_thread(part, copy);
          },
      .allocate = [](void* c, const op& o) { return as<C>(c).allocate(o); },
      .allocate_aligned = [](void* c, const op& o) { return as<C>(c).allocate_aligned(o); },
      .allocate_zeroed = [](void* c, const op& o) { return replay::allocate_zeroed(as<C>(c), o); },
      .deallocate = [](void* c, void* p, const op& o) { as<C>(c).deallocate(p, o); },
      .reallocate = [](void* c, void* p, const op& to,
                       const op& from) { return as<C>(c).reallocate(p, to, from); },
      .end_pass = [](void* c) { as<C>(c).end_pass(); }};

  void* c_;
  const members* members_;
};

}  // namespace mallard::replay
