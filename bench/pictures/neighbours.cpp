// Where blocks lie that are allocated one after the other, once a heap has been used for a while: one line a
// block, for the pictures of docs/strategies.
//
//     STRATEGY BIRTH DEATH OFFSET SIZE        births and deaths in events, offsets and sizes in bytes
//
// The heap holds 4,800 blocks of one size, of which half are freed in random order. What is drawn is the next
// 600 allocations.
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "mallard/heap/multipool.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace {

constexpr std::size_t size = 48;
constexpr std::size_t all = 4800;
constexpr std::size_t drawn = 600;

// Aligned to what heaps align slabs to, wherever the program is loaded.
constexpr std::size_t bytes = 524288;
std::byte* const buffer = static_cast<std::byte*>(std::aligned_alloc(8192, bytes));

template <std::size_t Slab>
void tell(const char* strategy) {
  using mallard::multipool_classes;
  mallard::basic_multipool<mallard::fixed_buffer, multipool_classes, mallard::multipool_growth,
                           mallard::multipool_run_growth, mallard::intrusive_stack, Slab>
      heap(buffer, bytes);
  std::array<void*, all> blocks{};
  for (void*& p : blocks) p = heap.allocate(size, 8).data;
  unsigned long long state = 2015;
  for (std::size_t i = all; i > 1; --i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::swap(blocks[i - 1], blocks[static_cast<std::size_t>(state >> 33) % i]);
  }
  for (std::size_t i = 0; i < all / 2; ++i) heap.deallocate(blocks[i], size, 8);
  for (std::size_t i = 0; i < drawn; ++i) {
    const void* const p = heap.allocate(size, 8).data;
    if (p == nullptr) std::exit(1);
    const auto offset = static_cast<const std::byte*>(p) - buffer;
    std::printf("%s %zu %zu %td %zu\n", strategy, i, drawn, offset, size);
  }
}

}  // namespace

int main() {
  tell<0>("lifo_multipool_after_use");
  tell<8192>("multipool_after_use");
}
