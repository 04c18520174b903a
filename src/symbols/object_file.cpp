#include "symbols/object_file.hpp"

#include <string>
#include <system_error>

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

}  // namespace mallard::symbols
