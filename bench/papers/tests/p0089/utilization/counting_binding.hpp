// counting_binding: a binding whose lives keep a book of what is done with them.
//
//     allocate: block n of the process, zeroed      deallocate: which n it was
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace mallard::bench {

struct counting_binding {
  std::uint64_t most = UINT64_MAX;  // blocks that can be allocated in all

  std::uint64_t begun = 0;  // lives
  std::uint64_t ended = 0;
  std::uint64_t allocated = 0;
  std::size_t alive = 0;
  std::size_t most_alive = 0;
  std::vector<std::uint64_t> freed;                        // in this order
  std::vector<std::size_t> sizes;                          // of allocations and frees
  std::vector<std::unique_ptr<unsigned char[]>> contents;  // of every block

  class life {
   public:
    explicit life(counting_binding& binding) : binding_(binding) { ++binding_.begun; }
    life(const life&) = delete;
    life& operator=(const life&) = delete;
    ~life() { ++binding_.ended; }

    void* allocate(std::size_t size, std::size_t) {
      if (binding_.allocated == binding_.most) throw std::bad_alloc();
      ++binding_.allocated;
      binding_.most_alive = std::max(binding_.most_alive, ++binding_.alive);
      binding_.sizes.push_back(size);
      return binding_.contents.emplace_back(std::make_unique<unsigned char[]>(size)).get();
    }
    void deallocate(void* p, std::size_t size, std::size_t) {
      const auto found = std::ranges::find(binding_.contents, p, &std::unique_ptr<unsigned char[]>::get);
      binding_.freed.push_back(static_cast<std::uint64_t>(found - binding_.contents.begin()));
      binding_.sizes.push_back(size);
      --binding_.alive;
    }

   private:
    counting_binding& binding_;
  };
};

}  // namespace mallard::bench
