// The control of fuzzing: a reader that believes the length in its bytes, which fuzzing has to find out.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

volatile std::uint8_t last_byte;

// [a length] [as many bytes], from the second "M" on; the vector is as long as the bytes really are.
void read(const std::vector<std::uint8_t>& bytes) {
  if (bytes.size() < 4 || bytes[0] != 'M' || bytes[1] != 'M') return;
  last_byte = *(bytes.data() + 2 + bytes[2]);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read({data, data + size});
  return 0;
}
