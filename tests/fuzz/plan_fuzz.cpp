// Images of plans: whatever the bytes are, they are refused, or the malloc's table can be made of them and
// walked on a stack of words that come from them as well.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "malloc/plan_image.hpp"
#include "malloc/route_table.hpp"

namespace {

using namespace mallard::malloc_library;

void walk(const plan_image& image) {
  const std::vector<std::uintptr_t> bases(image.modules.size(), 0x1000);
  std::vector<route_table::slot> slots(route_table::slots_for(image.entries.size()));
  std::vector<route_table::check> checks(route_table::checks_for(image));
  route_table table;
  constexpr std::uintptr_t rules = std::uintptr_t{1} << 62;  // no return address
  table.open(image, slots.data(), checks.data(), rules, 1);
  table.fill(image, bases);
  // Every word is a return address that some entry knows, in the order of the entries.
  std::vector<std::uintptr_t> stack(512, 0);
  for (std::size_t i = 0; i != stack.size() && !image.entries.empty(); ++i)
    stack[i] = 0x1000 + image.entries[i % image.entries.size()].offset;
  const std::uintptr_t* const end = stack.data() + stack.size();
  for (const std::uintptr_t& at : stack) {
    const std::uintptr_t rule = table.find(&at, end, [](auto) {});
    if (rule - rules >= image.rules.size()) __builtin_trap();
    const std::uint64_t next = table.begin(at);
    const std::uintptr_t known = route_table::is_step(next) ? table.go_on(&at, next, end) : next;
    if (known != rule && known != 0) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // In memory as a whole image lies, with a checksum that is right, or nothing behind it would be reached.
  std::vector<std::uint64_t> words((size + 7) / 8);
  if (size != 0) std::memcpy(words.data(), data, size);
  const std::span<std::byte> bytes(reinterpret_cast<std::byte*>(words.data()), size);
  if (size >= sizeof(image_header)) {
    auto& header = *reinterpret_cast<image_header*>(bytes.data());
    header.bytes = static_cast<std::uint32_t>(size);
    header.crc = crc32_of(bytes.subspan(sizeof header));
  }
  plan_image image;
  if (check_image(bytes, image) == nullptr) walk(image);
  return 0;
}
