// Any bytes at all, as a trace of one of the model suite's heaps. With MALLARD_FUZZ_CONTROL the only heap is
// one that gives some blocks back to another size, which must be found.
// Pages of the system, and the suite's own, stay from one trace to the next. So addresses may differ where an
// input runs alone: what then does not fail does so with the same -seed from the same corpus.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "mallard/heap/multipool.hpp"
#include "model/written_trace.hpp"

namespace mallard::model {
namespace {

#if defined(MALLARD_FUZZ_CONTROL)
class mistakes_sizes : public basic_multipool<source> {
 public:
  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    basic_multipool::deallocate(p, size == 104 ? 96 : size, align);
  }
};

struct mistaken_model : model {
  using heap = mistakes_sizes;
};

const bool is_mistaken = has_every_property<mistaken_model>("mistakes_sizes");
#endif

const char* running = "";

// Ends the program at the first failure, as nothing is known of a broken heap's next steps.
class end_at_failure : public testing::EmptyTestEventListener {
 public:
  static bool install() {
    testing::UnitTest::GetInstance()->listeners().Append(new end_at_failure);
    return true;
  }

 private:
  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (!part.failed()) return;
    std::fprintf(stderr, "model: %s is broken: %s\n", running, part.message());
    std::abort();
  }
};
const bool end_at_failure_is_installed = end_at_failure::install();

}  // namespace
}  // namespace mallard::model

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mallard::model;
  random_source r({data, size});
  const written_model& chosen = written_models()[r.below(written_models().size())];
  running = chosen.heap;
  chosen.run(r);
  return 0;
}
