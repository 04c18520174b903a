// The control of AddressSanitizer's part in the model suite: what it must report when the suite, which it
// leaves alone, drives a heap.
//
//     overrun_control behind      a heap whose fast path writes a link behind the chunk that is its block
//     overrun_control returned    the same heap, which writes the link into a chunk that it has given back
//     overrun_control sound       the same heap, which does neither
#include <cstdio>
#include <new>
#include <string_view>

#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "model/shadow.hpp"

namespace {

using mallard::block;
using mallard::chain;

enum class link { within, behind, returned };

template <link Written>
class one_chunk_a_block {
 public:
  MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    const block chunk = source_.allocate(size, align);
    write(chunk.data, Written == link::behind ? size : size - sizeof(chain::node));
    return chunk;
  }
  MALLARD_INLINE void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    source_.deallocate(p, size, align);
    if (Written == link::returned) write(p, 0);
  }

 private:
  MALLARD_INLINE static void write(void* chunk, std::size_t offset) noexcept {
    ::new (static_cast<std::byte*>(chunk) + offset) chain::node{nullptr};
  }

  mallard::model::probe source_;
};

template <link Written>
struct one_chunk_model : mallard::model::model {
  using heap = one_chunk_a_block<Written>;
};

template <link Written>
int allocate_and_end() {
  const mallard::model::chunk_registry registry;
  one_chunk_a_block<Written> heap;
  mallard::model::shadow<one_chunk_model<Written>> s(heap, registry);
  const bool served = s.allocate(48, 8);
  s.deallocate(0, 48);
  return served ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc == 2 ? argv[1] : "";
  if (kind == "behind") return allocate_and_end<link::behind>();
  if (kind == "returned") return allocate_and_end<link::returned>();
  if (kind == "sound") return allocate_and_end<link::within>();
  return std::fprintf(stderr, "overrun_control: say `behind`, `returned` or `sound`\n"), 2;
}
