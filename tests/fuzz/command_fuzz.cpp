// Any bytes at all, as commands to a v2_allocator: over a buffer, over chunks that AddressSanitizer knows the
// ends of, and in both forms for several threads. With MALLARD_FUZZ_CONTROL instead to a heap that is wrong
// once in a while only, which the shadow heap has to find out.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "fuzz/command_program.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/synchronized_best_fit.hpp"
#include "mallard/layer/limited.hpp"
#include "mallard/layer/locked.hpp"
#include "mallard/source/fixed_buffer.hpp"
#include "mallard/source/memory_resource_source.hpp"

namespace mallard::fuzz {
namespace {

// Made and ended by malloc, 128 KiB of them at the most.
using chunks = limited<memory_resource_source>;
using of_small_chunks = basic_best_fit<chunks, doubling<256, 2048>, 4096>;
using cached_of_small_chunks = basic_synchronized_best_fit<chunks, doubling<256, 2048>, 4096>;

template <class Heap>
void run_in_buffer(tape& input) {
  const std::size_t bytes = (input.next() + 1) * 1024 + input.next();
  const std::unique_ptr<std::byte[]> buffer = std::make_unique_for_overwrite<std::byte[]>(bytes);
  Heap heap(buffer.get(), bytes);
  run_commands(heap, input);
}

template <class Heap>
void run_over_chunks(tape& input) {
  Heap heap(byte_limit{std::size_t{128} << 10});
  run_commands(heap, input);
}

// A block that has grown backward is said to be a granule larger than it is.
class overstates : public basic_best_fit<fixed_buffer> {
 public:
  using basic_best_fit::basic_best_fit;

  [[nodiscard]] resize_result resize(const resize_request& request) noexcept {
    const void* const begin = request.data;
    resize_result result = basic_best_fit::resize(request);
    if (result.reused && result.memory.data != begin) result.memory.size += boundary_tag::granule;
    return result;
  }
};

}  // namespace
}  // namespace mallard::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mallard;
  fuzz::tape input(data, size);
  const std::size_t which = input.below(4);
#if defined(MALLARD_FUZZ_CONTROL)
  static_cast<void>(which);
  fuzz::run_in_buffer<fuzz::overstates>(input);
#else
  switch (which) {
    case 0:
      fuzz::run_in_buffer<basic_best_fit<fixed_buffer> >(input);
      break;
    case 1:
      fuzz::run_over_chunks<locked<fuzz::of_small_chunks> >(input);
      break;
    case 2:
      fuzz::run_in_buffer<basic_synchronized_best_fit<fixed_buffer> >(input);
      break;
    default:
      fuzz::run_over_chunks<fuzz::cached_of_small_chunks>(input);
  }
#endif
  return 0;
}
