// node: 24 bytes, as a node of the seed's list is today; node_source: where single ones come from.
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

template <class Way>
class node_source {
  using allocator = typename Way::template allocator<node>;

 public:
  node_source(Way& way, allocator& from) : way_(way), from_(from) {}

  // Before a list is filled, while no node is alive. Only a floor wants to know.
  void begin() {
    if constexpr (requires { way_.begin_anew(); }) way_.begin_anew();
  }

  [[nodiscard]] node* take() {
    if constexpr (Way::version == 2)
      return from_.allocate_one();
    else
      return std::allocator_traits<allocator>::allocate(from_, 1);
  }

  void give(node* ended) {
    if constexpr (Way::version == 2)
      from_.deallocate_one(ended);
    else
      std::allocator_traits<allocator>::deallocate(from_, ended, 1);
  }

 private:
  Way& way_;
  allocator& from_;
};

}  // namespace mallard::bench
