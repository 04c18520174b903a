#include "p0089/density/density.hpp"

#include <nlohmann/json.hpp>

#include "common/block_sizes.hpp"
#include "common/pmr_bindings.hpp"
#include "p0089/density/structures.hpp"

namespace mallard::bench {
namespace {

template <int N>
void fill_nth(block_sizes& into, std::size_t elements) {
  using structure = typename structures<pmr_binding>::of<N, kept_hash>;
  const texts from;
  leaf_cursor leaves(from);
  // Never destroyed: what is alive with it is what is counted.
  auto* const made = ::new (into.allocate(sizeof(structure), alignof(structure))) structure(&into);
  fill(*made, elements, leaves);
}

bool is_nested(const density_setting& asked) { return asked.structure > 4; }

bool has_strings(const density_setting& asked) { return asked.structure % 2 == 0; }

}  // namespace

std::uint64_t leaves_of(const density_setting& asked) {
  return (std::uint64_t{1} << asked.size) * (is_nested(asked) ? inner_leaves : 1);
}

nlohmann::ordered_json group_of(const density_setting& asked) {
  return {{"structure", "DS" + std::to_string(asked.structure)},
          {"size", asked.size},
          {"leaves", asked.leaves},
          {"cached_hashes", asked.cached_hashes}};
}

// A set that its elements come round again in would drop them.
std::string fault_of(const density_setting& asked) {
  const bool is_set_of_texts = asked.structure == 4 || asked.structure == 10 || asked.structure == 12;
  if (is_set_of_texts && asked.size > 16) return "--size is at most 16 where a set has strings for its keys";
  return {};
}

nlohmann::ordered_json method_of(const density_setting&) {
  return {{"times", "CPU time of whole lives of a structure, its heap's making and end included, by leaves"},
          {"cold", "the first life in its process; warm: as many as 2^N leaves take, at least one"}};
}

// A leaf with its node and its share of the tables, and half as much again for what heaps round up and keep.
std::uint64_t bytes_needed(const density_setting& asked) {
  const std::uint64_t leaf = has_strings(asked) ? (texts::shortest + texts::longest) / 2 + 80 : 48;
  return leaves_of(asked) * leaf * 3 / 2;
}

void count_blocks(const density_setting& asked, block_sizes& into) {
  const std::size_t elements = std::size_t{1} << asked.size;
  [&]<int... N>(std::integer_sequence<int, N...>) {
    (void)((asked.structure == N + 1 && (fill_nth<N + 1>(into, elements), true)) || ...);
  }(std::make_integer_sequence<int, 12>());
}

}  // namespace mallard::bench
