// The control of command_fuzz: a heap that is wrong once in a while only, which the shadow heap has to find
// out. A block that has grown backward is said to be a granule larger than it is.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "fuzz/command_program.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace mallard::fuzz {
namespace {

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
  using namespace mallard::fuzz;
  tape input(data, size);
  static_cast<void>(input.next());  // which heap: this one
  const std::size_t bytes = (input.next() + 1) * 1024 + input.next();
  const std::unique_ptr<std::byte[]> buffer = std::make_unique_for_overwrite<std::byte[]>(bytes);
  overstates heap(buffer.get(), bytes);
  run_commands(heap, input);
  return 0;
}
