// The control of the model suite's memory: what AddressSanitizer must report when the suite, which it leaves
// alone, drives a heap.
//
//     overrun_control behind      a heap that writes a link behind the chunk that is its block
//     overrun_control large       the same, of a chunk that is a block of the C library
//     overrun_control before      one that writes it in front of the chunk
//     overrun_control returned    one that writes it into a chunk that it has given back
//     overrun_control sound       one that does none of this
//
// Without a sanitizer the suite itself sees `behind` and `returned`.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <new>
#include <string_view>

#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "model/chunk_registry.hpp"
#include "model/shadow.hpp"

namespace {

using mallard::block;
using mallard::chain;

enum class link { within, behind, before, returned };

template <link Written>
class one_chunk_a_block {
 public:
  MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    const block chunk = source_.allocate(size, align);
    auto* const data = static_cast<std::byte*>(chunk.data);
    if constexpr (Written == link::before)
      write(data - sizeof(chain::node));
    else
      write(data + (Written == link::behind ? size : size - sizeof(chain::node)));
    return chunk;
  }
  MALLARD_INLINE void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    source_.deallocate(p, size, align);
    if constexpr (Written == link::returned) write(p);
  }

 private:
  MALLARD_INLINE static void write(void* p) noexcept { ::new (p) chain::node{nullptr}; }

  mallard::model::probe source_;
};

template <link Written>
struct one_chunk_model : mallard::model::model {
  using heap = one_chunk_a_block<Written>;
};

// As often as it takes until a chunk's memory serves another one.
template <link Written>
int allocate_and_end(std::size_t size = 48) {
  const mallard::model::chunk_registry registry;
  one_chunk_a_block<Written> heap;
  mallard::model::shadow<one_chunk_model<Written>> s(heap, registry);
  for (int i = 0; i < 200; ++i) {
    if (!s.allocate(size, 8)) return 2;
    s.deallocate(0, size);
  }
  return testing::UnitTest::GetInstance()->Failed() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc == 2 ? argv[1] : "";
  if (kind == "behind") return allocate_and_end<link::behind>();
  if (kind == "large") return allocate_and_end<link::behind>(std::size_t{2} << 20);
  if (kind == "before") return allocate_and_end<link::before>();
  if (kind == "returned") return allocate_and_end<link::returned>();
  if (kind == "sound") return allocate_and_end<link::within>();
  return std::fprintf(stderr, "overrun_control: say `behind`, `large`, `before`, `returned` or `sound`\n"), 2;
}
