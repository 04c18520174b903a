// four_guests<Heap>: four threads on one v2_allocator, round after round, with a quiet time after each.
//
//     round      thread 1  |--steps of guest 1--| ends      new threads take the same guests up in the next
//                ...       |        ...         |
//                thread 4  |--steps of guest 4--| ends      quiet: the heap is validated
//
// So blocks outlive the threads that asked for them, and are ended by others.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "containers/boost/guest.hpp"

namespace mallard::containers {

template <class Heap>
class four_guests {
 public:
  explicit four_guests(std::uint64_t seed) {
    for (std::unique_ptr<guest<Heap>>& g : guests_) g = std::make_unique<guest<Heap>>(heap_, boxes_, seed++);
  }

  [[nodiscard]] Heap& heap() { return heap_; }

  // Lets each thread take as many steps.
  void work(std::size_t steps) {
    std::vector<std::thread> threads;
    for (const std::unique_ptr<guest<Heap>>& g : guests_)
      threads.emplace_back([&g, steps] {
        for (std::size_t i = 0; i < steps && g->violation() == nullptr; ++i) g->step();
      });
    for (std::thread& t : threads) t.join();
  }

  // What a guest has found wrong, or the heap of itself; empty if nothing is.
  [[nodiscard]] std::string violation() const {
    for (const std::unique_ptr<guest<Heap>>& g : guests_)
      if (g->violation() != nullptr) return g->violation();
    if constexpr (inspectable<Heap>)
      if (const mallard::violation v = heap_.validate()) return v.what;
    return {};
  }

  // Ends all blocks.
  void leave() {
    for (std::atomic<triple*>& box : boxes_)
      if (triple* const left = box.exchange(nullptr); left != nullptr) guests_[0]->end(left);
    for (const std::unique_ptr<guest<Heap>>& g : guests_) g->leave();
  }

 private:
  Heap heap_;
  mailboxes boxes_{};
  std::array<std::unique_ptr<guest<Heap>>, 4> guests_;
};

}  // namespace mallard::containers
