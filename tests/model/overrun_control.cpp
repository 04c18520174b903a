// The control of AddressSanitizer's part in the model suite: what it must report when the suite, which it
// leaves alone, drives a heap.
//
//     overrun_control planted     a heap whose fast path writes a link behind its block
//     overrun_control sound       the same heap, which does not
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "model/shadow.hpp"

namespace {

using mallard::block;
using mallard::chain;

template <bool Overruns>
struct one_chunk_a_block {
  MALLARD_INLINE block allocate(std::size_t size, std::size_t) noexcept {
    auto* const memory = static_cast<std::byte*>(std::malloc(size));
    ::new (memory + (Overruns ? size : size - sizeof(chain::node))) chain::node{nullptr};
    return {memory, size};
  }
  MALLARD_INLINE void deallocate(void* p, std::size_t, std::size_t) noexcept { std::free(p); }
};

template <bool Overruns>
struct one_chunk_model : mallard::model::model {
  using heap = one_chunk_a_block<Overruns>;
};

template <bool Overruns>
int allocate_and_end() {
  const mallard::model::chunk_registry registry;
  one_chunk_a_block<Overruns> heap;
  mallard::model::shadow<one_chunk_model<Overruns>> s(heap, registry);
  const bool served = s.allocate(48, 8);
  s.deallocate(0, 48);
  return served ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc == 2 ? argv[1] : "";
  if (kind == "planted") return allocate_and_end<true>();
  if (kind == "sound") return allocate_and_end<false>();
  return std::fprintf(stderr, "overrun_control: say `planted` or `sound`\n"), 2;
}
