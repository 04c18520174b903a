// Pairs of heaps for one thread, and what to compare them with: the baseline of all pairs, libstdc++'s and
// Boost's memory resources and malloc.

#include <dlfcn.h>

#include <boost/container/pmr/monotonic_buffer_resource.hpp>
#include <boost/container/pmr/unsynchronized_pool_resource.hpp>
#include <cstddef>
#include <memory_resource>
#include <string_view>
#include <vector>

#include "bindings.hpp"
#include "mallard.h"
#include "pairs.hpp"
#include "scenarios.hpp"

namespace instructions {
namespace {

// A resource that only grows, over a buffer with room for all that is counted: none asks upstream meanwhile.
template <class Resource>
class buffered : public virtually<Resource> {
 public:
  explicit buffered(std::vector<std::byte>& buffer) : virtually<Resource>(buffer.data(), buffer.size()) {}
  void restart() { this->resource_.release(); }
};

}  // namespace

// The library's heaps, and the baseline of all pairs.
void own_pairs() {
  typed_pairs<none>("none");
  pairs_of_group<mallard::harness::counted_with::one_thread>();
}

// Through mallard.h: calls into code that is compiled on its own.
void pairs_in_c() {
  pairs<in_c>("best_fit", "C", MALLARD_BEST_FIT, 0u);
  pairs<in_c>("locked_best_fit", "C", MALLARD_BEST_FIT, MALLARD_LOCKED);
}

void other_pairs() {
  std::vector<std::byte> buffer(2 * replacements * item_size);
  pairs<buffered<std::pmr::monotonic_buffer_resource>>("std.monotonic", "pmr", buffer);
  pairs<virtually<std::pmr::unsynchronized_pool_resource>>("std.pool", "pmr");
  pairs<buffered<boost::container::pmr::monotonic_buffer_resource>>("boost.monotonic", "pmr", buffer);
  pairs<virtually<boost::container::pmr::unsynchronized_pool_resource>>("boost.pool", "pmr");
  pairs<c_library<item_size>>("glibc", "malloc");
}

// Of the C library, or of what is preloaded in its place.
void malloc_pairs() {
  constexpr std::string_view scenario = "malloc pair";
  const bool is_ours = ::dlsym(RTLD_DEFAULT, "mallard_malloc_stats") != nullptr;
  const std::string_view name = is_ours ? "mallard" : "glibc";
  pairs_in<typed<none>>(scenario, "none", "typed");
  pairs_in<c_library<16>>(scenario, name, "16 bytes");
  pairs_in<c_library<32>>(scenario, name, "32 bytes");
  pairs_in<c_library<64>>(scenario, name, "64 bytes");
  pairs_in<c_library<128>>(scenario, name, "128 bytes");
}

}  // namespace instructions
