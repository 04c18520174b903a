#include "unwind/eh_frame_table.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>

#include "unwind/dwarf_reader.hpp"

namespace mallard::unwind {

namespace {

// The sorted pairs of .eh_frame_hdr.
class sorted_pairs {
 public:
  explicit sorted_pairs(const eh_frame_table& table) noexcept : header_(table.header) {
    dwarf_reader reader(table.header, table.end);
    const auto version = reader.read<std::uint8_t>();
    const auto frames_encoding = reader.read<std::uint8_t>();
    const auto count_encoding = reader.read<std::uint8_t>();
    encoding_ = reader.read<std::uint8_t>();
    if (version != 1 || count_encoding == pointer_encoding::omitted) return;
    reader.skip_pointer(frames_encoding);
    const std::uint64_t count = reader.read_pointer(count_encoding, header_);
    const std::size_t size = number_size();
    if (reader.failed() || size == 0) return;
    begin_ = reader.position();
    pair_size_ = 2 * size;
    count_ = count < reader.left() / pair_size_ ? count : reader.left() / pair_size_;
  }

  // The FDE of the last function that begins at or before `pc`; 0 if there is none.
  [[nodiscard]] std::uintptr_t find(std::uintptr_t pc) const noexcept {
    std::size_t low = 0;
    std::size_t high = count_;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (pair(middle).read_pointer(encoding_, header_) <= pc)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == 0) return 0;
    dwarf_reader found = pair(low - 1);
    found.skip_pointer(encoding_);
    const std::uintptr_t place = found.read_pointer(encoding_, header_);
    return found.failed() ? 0 : place;
  }

 private:
  [[nodiscard]] dwarf_reader pair(std::size_t index) const noexcept {
    const std::uint8_t* first = begin_ + index * pair_size_;
    return {first, first + pair_size_};
  }

  // Of one number of a pair; 0: their size varies or is unknown, so that they cannot be searched.
  [[nodiscard]] std::size_t number_size() const noexcept {
    switch (encoding_ & pointer_encoding::format) {
      case pointer_encoding::u2:
      case pointer_encoding::s2:
        return 2;
      case pointer_encoding::u4:
      case pointer_encoding::s4:
        return 4;
      case pointer_encoding::absolute:
      case pointer_encoding::u8:
      case pointer_encoding::s8:
        return 8;
      default:
        return 0;
    }
  }

  const std::uint8_t* header_;
  const std::uint8_t* begin_ = nullptr;
  std::size_t count_ = 0;
  std::size_t pair_size_ = 0;
  std::uint8_t encoding_ = 0;
};

// One length-prefixed record of .eh_frame; empty at its end.
dwarf_reader record_at(const eh_frame_table& table, std::uintptr_t place) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(table.begin);
  const auto end = reinterpret_cast<std::uintptr_t>(table.end);
  if (place < begin || place >= end) return {};
  dwarf_reader reader(table.begin + (place - begin), table.end);
  const std::uint64_t length = reader.read<std::uint32_t>();
  constexpr std::uint64_t length_is_longer = 0xffffffff;
  return reader.take(length == length_is_longer ? reader.read<std::uint64_t>() : length);
}

// Reads what the letters of the augmentation announce; false for a letter that nobody knows.
bool read_augmentation(dwarf_reader letters, dwarf_reader data, frame_description& out) noexcept {
  while (!letters.at_end()) {
    switch (letters.read<char>()) {
      case 'R':
        out.encoding = data.read<std::uint8_t>();
        break;
      case 'P':
        data.skip_pointer(data.read<std::uint8_t>());
        break;  // personality
      case 'L':
        data.skip(1);
        break;  // encoding of the language's own data
      case 'S':
        out.is_signal_frame = true;
        break;
      default:
        return false;
    }
  }
  return !data.failed();
}

// The augmentation's letters, the closing zero left behind.
dwarf_reader take_string(dwarf_reader& reader) noexcept {
  const std::uint8_t* first = reader.position();
  while (reader.read<char>() != '\0') {
  }
  return reader.failed() ? dwarf_reader() : dwarf_reader(first, reader.position() - 1);
}

bool read_cie(dwarf_reader cie, frame_description& out, bool& has_data) noexcept {
  constexpr std::uint32_t cie_id = 0;
  if (cie.read<std::uint32_t>() != cie_id || cie.failed()) return false;
  const auto version = cie.read<std::uint8_t>();
  if (version != 1 && version != 3) return false;
  dwarf_reader letters = take_string(cie);
  out.code_alignment = cie.read_uleb();
  out.data_alignment = static_cast<std::uint64_t>(cie.read_sleb());
  const std::uint64_t column = version == 1 ? cie.read<std::uint8_t>() : cie.read_uleb();
  if (cie.failed() || column != dwarf_pc) return false;
  has_data = !letters.at_end();
  if (has_data) {
    if (letters.read<char>() != 'z') return false;
    if (!read_augmentation(letters, cie.take_block(), out)) return false;
  }
  out.initial_program = cie;
  return !cie.failed();
}

// Narrows the module's bounds to the readable segment that holds the header, if the module's first page
// tells of one.
void narrow_to_segment(eh_frame_table& table) noexcept {
  constexpr std::size_t first_page = 4096;
  const std::uint8_t* module = table.begin;
  const auto module_size = static_cast<std::size_t>(table.end - module);
  const auto place = static_cast<std::size_t>(table.header - module);
  ElfW(Ehdr) elf;
  if (module_size < first_page) return;
  __builtin_memcpy(&elf, module, sizeof elf);
  if (__builtin_memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_phentsize != sizeof(ElfW(Phdr))) return;
  if (elf.e_phoff > first_page || elf.e_phnum > (first_page - elf.e_phoff) / sizeof(ElfW(Phdr))) return;
  bool is_first = true;
  std::size_t module_address = 0;  // as linked: the page of the first segment
  for (std::size_t i = 0; i < elf.e_phnum; ++i) {
    ElfW(Phdr) segment;
    __builtin_memcpy(&segment, module + elf.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type != PT_LOAD) continue;
    if (is_first) module_address = segment.p_vaddr & -first_page;
    is_first = false;
    const std::size_t begin = segment.p_vaddr - module_address;
    if (begin > module_size || segment.p_memsz > module_size - begin) return;
    if (place - begin >= segment.p_memsz || (segment.p_flags & PF_R) == 0) continue;
    table.begin = module + begin;
    table.end = table.begin + segment.p_memsz;
    return;
  }
}

}  // namespace

bool find_table(std::uintptr_t pc, eh_frame_table& out) noexcept {
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(pc), &found) != 0 || found.dlfo_eh_frame == nullptr)
    return false;
  out.header = static_cast<const std::uint8_t*>(found.dlfo_eh_frame);
  const link_map* module = found.dlfo_link_map;
  const auto holds_header = [&] {
    return found.dlfo_link_map == module &&
           out.header >= static_cast<const std::uint8_t*>(found.dlfo_map_start) &&
           out.header < static_cast<const std::uint8_t*>(found.dlfo_map_end);
  };
  // Of a module with holes between its segments the loader tells the one of `pc`; the table is in another
  // one.
  if (!holds_header() && (_dl_find_object(found.dlfo_eh_frame, &found) != 0 || !holds_header())) return false;
  out.begin = static_cast<const std::uint8_t*>(found.dlfo_map_start);
  out.end = static_cast<const std::uint8_t*>(found.dlfo_map_end);
  narrow_to_segment(out);
  return true;
}

bool find_description(const eh_frame_table& table, std::uintptr_t pc, frame_description& out) noexcept {
  dwarf_reader fde = record_at(table, sorted_pairs(table).find(pc));
  const auto place = reinterpret_cast<std::uintptr_t>(fde.position());
  const auto to_cie = fde.read<std::uint32_t>();
  if (fde.failed() || to_cie == 0) return false;
  out = {};
  out.header = table.header;
  bool has_data = false;
  if (!read_cie(record_at(table, place - to_cie), out, has_data)) return false;
  out.function_begin = fde.read_pointer(out.encoding, table.header);
  out.function_end = out.function_begin + fde.read_pointer_number(out.encoding);
  if (has_data) fde.take_block();
  out.program = fde;
  return !fde.failed() && pc >= out.function_begin && pc < out.function_end;
}

}  // namespace mallard::unwind
