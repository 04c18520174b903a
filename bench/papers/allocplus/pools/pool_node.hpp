// node: 24 bytes, as a node of the seed's list is today; node_source: where single ones come from; sharing:
// what several threads do with a binding.
//
//     [next][previous][value]      two links and an element
//
// A node is asked for as a container asks for one: by allocate_one where the allocator has the version-2
// protocol, else by allocate(1). Cost: the allocator's. Seed 001, chapter 3.
#pragma once

#include <cstdint>
#include <memory>

namespace mallard::bench {

struct node {
  node* next;
  node* previous;
  std::uint64_t value;
};
static_assert(sizeof(node) == 24);

template <class Binding>
class node_source {
  using allocator = typename Binding::template allocator<node>;

 public:
  node_source(Binding& binding, allocator& from) : binding_(binding), from_(from) {}

  // Before a list is filled, while no node is alive. Only a floor wants to know.
  void begin() {
    if constexpr (requires { binding_.begin_anew(); }) binding_.begin_anew();
  }

  [[nodiscard]] node* take() {
    if constexpr (Binding::version == 2)
      return from_.allocate_one();
    else
      return std::allocator_traits<allocator>::allocate(from_, 1);
  }

  void give(node* ended) {
    if constexpr (Binding::version == 2)
      from_.deallocate_one(ended);
    else
      std::allocator_traits<allocator>::deallocate(from_, ended, 1);
  }

 private:
  Binding& binding_;
  allocator& from_;
};

enum class sharing : std::uint8_t {
  all,   // they share one: it locks, or has a cache for each
  own,   // each has its own, without a lock
  none,  // it is one for the process, without a lock: they cannot
};

}  // namespace mallard::bench
