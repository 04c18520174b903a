#include "contest/block_sizes.hpp"
#include "contest/way/pmr.hpp"
#include "p0089/density/density.hpp"
#include "p0089/density/structures.hpp"

namespace mallard::bench {
namespace {

template <int N>
void fill_nth(block_sizes& into, std::size_t elements) {
  using structure = typename structures<pmr_way>::of<N, kept_hash>;
  const texts from;
  leaf_cursor leaves(from);
  // Never destroyed: what is alive with it is what is counted.
  auto* const made = ::new (into.allocate(sizeof(structure), alignof(structure))) structure(&into);
  fill(*made, elements, leaves);
}

}  // namespace

void count_blocks(const density_setting& asked, block_sizes& into) {
  const std::size_t elements = std::size_t{1} << asked.size;
  [&]<int... N>(std::integer_sequence<int, N...>) {
    (void)((asked.structure == N + 1 && (fill_nth<N + 1>(into, elements), true)) || ...);
  }(std::make_integer_sequence<int, 12>());
}

}  // namespace mallard::bench
