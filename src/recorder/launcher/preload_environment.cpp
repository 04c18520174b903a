#include "recorder/launcher/preload_environment.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "journal/spool/spool.hpp"

namespace mallard::recorder {
namespace {

constexpr char file_name[] = "libmallard-record.so";

std::filesystem::path look_for_it() {
  if (const char* given = std::getenv("MALLARD_RECORD_LIBRARY")) return given;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  std::filesystem::path beside = folder / file_name;
  if (std::filesystem::exists(beside)) return beside;
  return folder / MALLARD_PRELOAD_FROM_BIN / file_name;
}

}  // namespace

std::string find_library() {
  const std::filesystem::path found = look_for_it();
  std::error_code error;
  std::string path = std::filesystem::canonical(found, error).string();
  if (error) throw std::runtime_error("cannot find " + found.string());
  if (path.find_first_of(" :") != std::string::npos)
    throw std::runtime_error("cannot load " + path +
                             ": the dynamic linker takes no path with a space or a colon");
  return path;
}

std::vector<std::string> recording_environment(const std::string& library, const std::string& spool) {
  constexpr std::string_view preload = "LD_PRELOAD=";
  std::vector<std::string> variables;
  bool preloading = false;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view variable = *entry;
    if (!variable.starts_with(preload)) {
      variables.emplace_back(variable);
      continue;
    }
    preloading = true;
    variable.remove_prefix(preload.size());
    variables.push_back(std::string(preload) + library + ":" + std::string(variable));
  }
  if (!preloading) variables.push_back(std::string(preload) + library);
  variables.push_back(std::string(journal::spool_variable) + "=0:0:" + spool);
  return variables;
}

}  // namespace mallard::recorder
