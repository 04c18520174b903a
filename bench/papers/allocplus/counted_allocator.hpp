// What the tests of seed 001 put into containers, and the allocator that counts what they ask for.
//
// counted_allocator<T, Binding>: an allocator that counts what its container asks of it, for passes that are
// not timed.
//
//     container --> counted_allocator --> the binding's allocator
//                        |
//                      tally: allocations, expansions forward and backward, shrinks, bursts
//
// It has the protocol of the allocator that it is derived from, so that a container does with it what it does
// with that one. Seed 001, "Testing forward expansion in vector".
#pragma once

#include <cstddef>
#include <cstdint>

#include "mallard/allocator/resize_objects.hpp"

namespace mallard::bench {

// my_int: the element of seed 001's tests: an int whose copy is a function of its own.
//
// As it is not trivially copyable, a vector that moves copies element by element, which costs about what a
// move constructor does. Seed 001, "Testing forward expansion in vector".
class my_int {
 public:
  explicit my_int(int value = 0) noexcept : value_(value) {}
  // NOLINTBEGIN(modernize-use-equals-default, bugprone-unhandled-self-assignment,cert-oop54-cpp): see above
  my_int(const my_int& other) noexcept : value_(other.value_) {}
  my_int& operator=(const my_int& other) noexcept {
    value_ = other.value_;
    return *this;
  }
  // NOLINTEND(modernize-use-equals-default, bugprone-unhandled-self-assignment,cert-oop54-cpp)
  ~my_int() = default;

  [[nodiscard]] int value() const noexcept { return value_; }

 private:
  int value_;
};

// What has been built behind `data` counts as read: no compiler leaves it out.
inline void keep(const void* data) noexcept { asm volatile("" : : "r"(data) : "memory"); }

struct tally {
  std::uint64_t allocations = 0;  // blocks that were asked for alone
  std::uint64_t forward = 0;      // expansions, in place
  std::uint64_t backward = 0;
  std::uint64_t shrinks = 0;  // in place
  std::uint64_t bursts = 0;
};

template <class T, class Binding>
class counted_allocator : public Binding::template allocator<T> {
  using base = typename Binding::template allocator<T>;

 public:
  using pointer = T*;
  using size_type = std::size_t;

  template <class U>
  struct rebind {
    using other = counted_allocator<U, Binding>;
  };

  counted_allocator(const base& counted, tally& into) : base(counted), into_(&into) {}

  template <class U>
  counted_allocator(const counted_allocator<U, Binding>& other)  // NOLINT(google-explicit-constructor)
      : base(static_cast<const typename Binding::template allocator<U>&>(other)), into_(&other.counts()) {}

  [[nodiscard]] tally& counts() const { return *into_; }

  [[nodiscard]] pointer allocate(size_type count) {
    ++into_->allocations;
    return base::allocate(count);
  }

  [[nodiscard]] pointer allocate_one()
    requires(Binding::version == 2)
  {
    ++into_->allocations;
    return base::allocate_one();
  }

  [[nodiscard]] pointer allocation_command(allocation_type command, size_type limit, size_type& preferred,
                                           pointer& reuse)
    requires(Binding::version == 2)
  {
    const pointer before = reuse;
    const pointer result = base::allocation_command(command, limit, preferred, reuse);
    if (result != nullptr) ++(into_->*counter(command, before, result, reuse));
    return result;
  }

  template <class Chain>
  void allocate_individual(size_type count, Chain& out)
    requires(Binding::version == 2)
  {
    ++into_->bursts;
    base::allocate_individual(count, out);
  }

 private:
  // Of these Boost's allocator does not say that the block is the old one.
  static constexpr allocation_type shrinking = commands::shrink_in_place | commands::try_shrink_in_place;

  [[nodiscard]] static std::uint64_t tally::* counter(allocation_type command, pointer before, pointer result,
                                                      pointer reuse) {
    if (result == before) return (command & shrinking) != 0 ? &tally::shrinks : &tally::forward;
    return reuse == nullptr ? &tally::allocations : &tally::backward;
  }

  tally* into_;
};

}  // namespace mallard::bench
