// population: nodes in a list, as many as asked for, and what is done to them in the tests of pools.
//
//     fill        [0][1][2][3][4][5] ...       linked one after the other, as they come
//     walk        0 1 2 3 4 5
//     free        in the order of an array of pointers that was shuffled: nothing but the allocator's work
//     end         in the order of the list, or in that order; each is read before, as a destructor reads it
//     erase       in that order, too; each is read and taken out of the list before, as a container does
//     turn_over   [0] . . [3] . . ... [n][n] ...   nine of ten die in random order, as many come at the end
//     renew       [0][n][n][3][n][n] ...           the same, but they come where the others were
//
// Nodes that are turned over and renewed are read before they die, too. Which one dies is drawn beforehand;
// the same numbers make the same draw in every process. All that the population needs itself is mapped in
// when it is made. Cost: links are written and read, beside what the allocator does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <utility>

#include "harness/cpu_clock.hpp"
#include "harness/mapping.hpp"

namespace mallard::bench {

// node: 24 bytes, as a node of the seed's list is today; node_source: where single ones come from; sharing:
// what several threads do with a binding.
//
//     [next][previous][value]      two links and an element
//
// A node is asked for as a container asks for one: by allocate_one where the allocator has the version-2
// protocol, else by allocate(1). Cost: the allocator's. Seed 001, chapter 3.

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

template <class Source>
class population {
 public:
  population(Source from, std::size_t count)
      : from_(from), memory_(3 * count * sizeof(node*), harness::fill::before_use), count_(count) {}

  // Each returns the CPU time that the allocator and the list took, in ns.
  std::uint64_t fill() {
    from_.begin();
    const std::uint64_t start = harness::thread_cpu_ns();
    node* last = begin();
    for (std::size_t i = 0; i < count_; ++i) last = nodes()[i] = append(last, i);
    return harness::thread_cpu_ns() - start;
  }

  std::uint64_t walk() { return walk_from(head_.next); }

  // Of the list's last `turned_over()`: those that came when it was turned over.
  std::uint64_t walk_added() { return walk_from(nodes()[count_ - turned_over()]); }

  std::uint64_t end_in_order() { return end(nodes()); }

  std::uint64_t free_at_random() {
    const std::span<node* const> chosen = choose(count_);
    const std::uint64_t start = harness::thread_cpu_ns();
    for (node* const n : chosen) {
      read(n);
      from_.give(n);
    }
    return harness::thread_cpu_ns() - start;
  }

  std::uint64_t end_at_random() { return end(choose(count_)); }

  std::uint64_t erase_at_random() {
    const std::span<node* const> chosen = choose(count_);
    const std::uint64_t start = harness::thread_cpu_ns();
    for (node* const n : chosen) {
      read(n->value);
      n->previous->next = n->next;
      if (n->next != nullptr) n->next->previous = n->previous;
      from_.give(n);
    }
    return harness::thread_cpu_ns() - start;
  }

  // Of the time of one in `turned_over()` dying and one coming after it.
  std::uint64_t turn_over() {
    const std::span<node* const> chosen = choose(turned_over());
    std::size_t left = 0;
    node* last = begin();
    for (node* const n : nodes())
      if (n != nullptr) last = nodes()[left++] = link(last, n);
    last->next = nullptr;
    std::uint64_t took = end(chosen);
    const std::uint64_t start = harness::thread_cpu_ns();
    for (std::size_t i = left; i < count_; ++i) last = nodes()[i] = append(last, i);
    return took + harness::thread_cpu_ns() - start;
  }

  // The same, where each takes a place in the list that one before had.
  std::uint64_t renew() {
    std::uint64_t took = end(choose(turned_over()));
    const std::uint64_t start = harness::thread_cpu_ns();
    node* last = begin();
    for (std::size_t i = 0; i < count_; ++i) {
      node* const n = nodes()[i];
      last = nodes()[i] = n == nullptr ? append(last, i) : link(last, n);
    }
    last->next = nullptr;
    return took + harness::thread_cpu_ns() - start;
  }

  [[nodiscard]] std::size_t turned_over() const { return count_ - count_ / 10; }

 private:
  template <class T>
  static void read(T value) noexcept {
    asm volatile("" : : "r"(value));
  }

  [[nodiscard]] node* begin() {
    head_ = {};
    return &head_;
  }

  static node* link(node* last, node* n) {
    last->next = n;
    n->previous = last;
    return n;
  }

  node* append(node* last, std::uint64_t value) {
    node* const n = from_.take();
    n->next = nullptr;
    n->value = value;
    return link(last, n);
  }

  static std::uint64_t walk_from(const node* n) {
    const std::uint64_t start = harness::thread_cpu_ns();
    std::uint64_t sum = 0;
    for (; n != nullptr; n = n->next) sum += n->value;
    read(sum);
    return harness::thread_cpu_ns() - start;
  }

  std::uint64_t end(std::span<node* const> chosen) {
    const std::uint64_t start = harness::thread_cpu_ns();
    for (node* const n : chosen) {
      read(n->value);
      from_.give(n);
    }
    return harness::thread_cpu_ns() - start;
  }

  // A number of the nodes, at random, in random order; they leave the list.
  std::span<node* const> choose(std::size_t many) {
    draw();
    const std::span<node*> chosen = victims().first(many);
    for (std::size_t i = 0; i < many; ++i) chosen[i] = std::exchange(nodes()[order()[i]], nullptr);
    return chosen;
  }

  void draw() {
    const std::span<std::size_t> all = order();
    for (std::size_t i = 0; i < count_; ++i) all[i] = i;
    std::mt19937_64 random(count_);
    for (std::size_t i = count_; i > 1; --i) std::swap(all[i - 1], all[random() % i]);
  }

  [[nodiscard]] std::span<node*> nodes() { return {static_cast<node**>(memory_.data()), count_}; }
  [[nodiscard]] std::span<node*> victims() { return {static_cast<node**>(memory_.data()) + count_, count_}; }
  [[nodiscard]] std::span<std::size_t> order() {
    return {static_cast<std::size_t*>(memory_.data()) + 2 * count_, count_};
  }

  Source from_;
  harness::scratch memory_;  // of nodes, in the order of the list; of those that are to die; of their order
  std::size_t count_;
  node head_{};
};

}  // namespace mallard::bench
