// Where each strategy puts the same objects: one line an object, for the pictures of docs/strategies.
//
//     STRATEGY BIRTH DEATH OFFSET SIZE        births and deaths in events, offsets and sizes in bytes
//
// The heaps stand on one buffer, so that offsets are the same in every run. The work is a small story:
// requests come and go in three rounds, each of which keeps a few objects until the end.
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "mallard/core/growth.hpp"
#include "mallard/heap/adaptive_pool.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace {

// Aligned to what heaps align slabs to, wherever the program is loaded.
constexpr std::size_t bytes = 65536;
std::byte* const buffer = static_cast<std::byte*>(std::aligned_alloc(8192, bytes));

// A linear congruential generator: the same numbers everywhere.
class numbers {
 public:
  std::size_t below(std::size_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state_ >> 33) % n;
  }

 private:
  unsigned long long state_ = 2015;
};

struct object {
  void* data;
  std::size_t birth, size;  // events, bytes
};

template <class Heap>
class story {
 public:
  story(const char* strategy, Heap& heap, const std::byte* begin, std::size_t only_size)
      : strategy_(strategy), heap_(heap), begin_(begin), only_size_(only_size) {}

  void run() {
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 60; ++i) step(6);
      for (int i = 0; i < 60; ++i) step(4);
      while (live_.size() > 10 * static_cast<std::size_t>(round + 1)) end(random_.below(live_.size()));
    }
    while (!live_.empty()) end(0);
  }

 private:
  // An allocation in `births` of 8 cases.
  void step(std::size_t births) {
    if (random_.below(8) < births || live_.empty())
      begin();
    else
      end(random_.below(live_.size()));
  }

  void begin() {
    constexpr std::array<std::size_t, 8> sizes = {24, 24, 48, 48, 48, 96, 160, 320};
    const std::size_t drawn = sizes[random_.below(sizes.size())];
    const std::size_t size = only_size_ == 0 ? drawn : only_size_;
    void* const data = heap_.allocate(size, 8).data;
    if (data == nullptr) std::exit(1);
    live_.push_back({data, now_++, size});
  }

  void end(std::size_t i) {
    const object ended = live_[i];
    heap_.deallocate(ended.data, ended.size, 8);
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(i));
    const auto offset = static_cast<const std::byte*>(ended.data) - begin_;
    std::printf("%s %zu %zu %td %zu\n", strategy_, ended.birth, now_++, offset, ended.size);
  }

  const char* strategy_;
  Heap& heap_;
  const std::byte* begin_;
  std::size_t only_size_;  // 0: many sizes
  numbers random_;
  std::vector<object> live_;
  std::size_t now_ = 0;
};

template <class Heap, class... Args>
void tell(const char* strategy, std::size_t only_size, Args... args) {
  Heap heap(args..., buffer, bytes);
  story(strategy, heap, buffer, only_size).run();
}

}  // namespace

int main() {
  using mallard::fixed_buffer;
  tell<mallard::basic_monotonic<fixed_buffer>>("monotonic", 0);
  tell<mallard::basic_pool<fixed_buffer>>("pool", 48, std::size_t{48}, std::size_t{8});
  // Small slabs, as what lives at a time is.
  tell<mallard::basic_adaptive_pool<fixed_buffer, mallard::slab_form<8>, mallard::constant<1>>>(
      "adaptive_pool", 48, std::size_t{48}, std::size_t{8});
  tell<mallard::basic_multipool<fixed_buffer>>("multipool", 0);
  tell<mallard::basic_multipool<mallard::basic_monotonic<fixed_buffer>>>("multipool_over_monotonic", 0);
}
