// Pairs through mallard.h, as a program in C has them: calls into code that is compiled on its own.

#include <cstddef>

#include "contestants.hpp"
#include "counted.hpp"
#include "mallard.h"
#include "pairs.hpp"
#include "scenarios.hpp"
#include "ways.hpp"

namespace instructions {
namespace {

class in_c {
 public:
  explicit in_c(unsigned flags) {
    mallard_heap_options options = MALLARD_HEAP_OPTIONS;
    options.flags = flags;
    if (mallard_heap_create(&heap_, &options) != MALLARD_OK) std::abort();
  }
  in_c(const in_c&) = delete;
  in_c& operator=(const in_c&) = delete;
  ~in_c() { mallard_heap_destroy(heap_); }

  [[gnu::always_inline]] void* allocate() { return mallard_heap_allocate(heap_, item_size); }
  [[gnu::always_inline]] void deallocate(void* p) { mallard_heap_free(heap_, p); }

 private:
  mallard_heap* heap_ = nullptr;
};

}  // namespace

void pairs_in_c() {
  pairs<in_c>("best_fit", "C", 0u);
  pairs<in_c>("locked best_fit", "C", MALLARD_LOCKED);
}

}  // namespace instructions
