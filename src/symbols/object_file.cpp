#include "symbols/object_file.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <system_error>
#include <tuple>

#include "journal/events/process_tables.hpp"
#include "symbols/symbolizer.hpp"

namespace mallard::symbols {
namespace {

constexpr Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,  // libdwfl's own: beside the file, .debug, /usr/lib/debug
};

std::string build_id_of(Dwfl_Module* module) {
  const unsigned char* bytes = nullptr;
  GElf_Addr place = 0;
  const int size = dwfl_module_build_id(module, &bytes, &place);
  if (size <= 0) return {};
  return journal::hexadecimal({reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)});
}

// Symbols inside others come from assembly, and few deep.
constexpr int most_nested = 8;

bool is_function(const GElf_Sym& symbol) noexcept {
  const int type = GELF_ST_TYPE(symbol.st_info);
  return type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && symbol.st_size != 0);
}

int rank_of(const GElf_Sym& symbol, std::string_view name) noexcept {
  const int binding = GELF_ST_BIND(symbol.st_info);
  const int privacy = binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
  const auto underscores = std::min<std::size_t>(name.find_first_not_of('_'), 9);
  const bool is_cpp = name.starts_with("_Z");
  return privacy * 10 + (is_cpp ? 0 : static_cast<int>(underscores));
}

}  // namespace

object_file::object_file(const std::filesystem::path& path, std::optional<std::string_view> build_id) {
  std::error_code unknown;
  const auto status = std::filesystem::status(path, unknown);
  if (!std::filesystem::exists(status)) throw error("the file is gone");
  if (!std::filesystem::is_regular_file(status))
    throw error("it is not a regular file");  // a pipe would not open

  session_.reset(dwfl_begin(&callbacks));
  if (!session_) throw error(dwfl_errmsg(-1));
  const std::string name = path.string();
  dwfl_report_begin(session_.get());
  module_ = dwfl_report_elf(session_.get(), name.c_str(), name.c_str(), -1, 0, true);
  GElf_Addr bias = 0;
  if (module_ != nullptr) elf_ = dwfl_module_getelf(module_, &bias);
  if (elf_ == nullptr) throw error(std::string("it cannot be read: ") + dwfl_errmsg(-1));
  dwfl_report_end(session_.get(), nullptr, nullptr);
  if (build_id && build_id_of(module_) != *build_id) throw error("the file is of another build now");
}

debug_information object_file::debug() const noexcept {
  Dwarf_Addr bias = 0;
  Dwarf* dwarf = dwfl_module_getdwarf(module_, &bias);
  return {dwarf, bias};
}

bool symbol_table::before(const symbol& a, const symbol& b) noexcept {
  return std::tuple(a.begin, a.rank, a.name.size(), a.name) <
         std::tuple(b.begin, b.rank, b.name.size(), b.name);
}

symbol_table::symbol_table(const object_file& file) {
  const int count = dwfl_module_getsymtab(file.module());
  for (int index = 1; index < count; ++index) {
    GElf_Sym raw;
    GElf_Addr address = 0;
    GElf_Word section = SHN_UNDEF;
    const char* name =
        dwfl_module_getsym_info(file.module(), index, &raw, &address, &section, nullptr, nullptr);
    if (name == nullptr || *name == '\0' || section == SHN_UNDEF || !is_function(raw)) continue;
    symbols_.push_back({address, raw.st_size, rank_of(raw, name), name});
  }
  std::sort(symbols_.begin(), symbols_.end(), before);
  const auto same_place = [](const symbol& a, const symbol& b) { return a.begin == b.begin; };
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end(), same_place), symbols_.end());
}

std::string_view symbol_table::find(std::uint64_t address) const noexcept {
  const auto is_behind = [](std::uint64_t value, const symbol& s) { return value < s.begin; };
  auto candidate = std::upper_bound(symbols_.begin(), symbols_.end(), address, is_behind);
  for (int nested = 0; nested < most_nested && candidate != symbols_.begin(); ++nested) {
    --candidate;
    const bool reaches_next = candidate->size == 0 && nested == 0;
    if (reaches_next || address - candidate->begin < candidate->size) return candidate->name;
  }
  return {};
}

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
