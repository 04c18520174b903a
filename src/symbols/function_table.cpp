#include "symbols/function_table.hpp"

#include <algorithm>
#include <cstring>

namespace mallard::symbols {
namespace {

// What .eh_frame_hdr begins with: version 1, where .eh_frame is, the number of pairs; then the pairs, each
// number 4 bytes and relative to the header.
constexpr unsigned char usual_form[] = {1, 0x1b, 0x03, 0x3b};
constexpr std::size_t count_at = 8;
constexpr std::size_t pairs_at = 12;
constexpr std::size_t pair_size = 8;

std::uint32_t number_at(const char* bytes) noexcept {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

std::vector<std::uint64_t> read_pairs(const char* bytes, std::size_t size, std::uint64_t header) {
  if (size < pairs_at || std::memcmp(bytes, usual_form, sizeof usual_form) != 0) return {};
  const std::size_t count = std::min<std::size_t>(number_at(bytes + count_at), (size - pairs_at) / pair_size);
  std::vector<std::uint64_t> begins(count);
  for (std::size_t index = 0; index < count; ++index) {
    const auto distance = static_cast<std::int32_t>(number_at(bytes + pairs_at + index * pair_size));
    begins[index] = header + static_cast<std::uint64_t>(std::int64_t{distance});
  }
  std::sort(begins.begin(), begins.end());
  return begins;
}

}  // namespace

function_table::function_table(const object_file& file) {
  std::size_t segments = 0;
  if (elf_getphdrnum(file.elf(), &segments) != 0) return;
  for (std::size_t index = 0; index < segments; ++index) {
    GElf_Phdr segment;
    if (gelf_getphdr(file.elf(), static_cast<int>(index), &segment) == nullptr) continue;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
      code_.push_back({segment.p_vaddr, segment.p_vaddr + segment.p_memsz});
    if (segment.p_type != PT_GNU_EH_FRAME) continue;
    const Elf_Data* data = elf_getdata_rawchunk(file.elf(), static_cast<std::int64_t>(segment.p_offset),
                                                segment.p_filesz, ELF_T_BYTE);
    if (data == nullptr || data->d_buf == nullptr) continue;
    begins_ = read_pairs(static_cast<const char*>(data->d_buf), data->d_size, segment.p_vaddr);
  }
}

const function_table::range* function_table::segment_of(std::uint64_t address) const noexcept {
  const auto holds = [address](const range& r) { return r.begin <= address && address < r.end; };
  const auto found = std::find_if(code_.begin(), code_.end(), holds);
  return found == code_.end() ? nullptr : &*found;
}

std::optional<std::uint64_t> function_table::find(std::uint64_t address) const noexcept {
  const range* segment = segment_of(address);
  const auto behind = std::upper_bound(begins_.begin(), begins_.end(), address);
  if (segment == nullptr || behind == begins_.begin() || *std::prev(behind) < segment->begin)
    return std::nullopt;
  return *std::prev(behind);
}

}  // namespace mallard::symbols
