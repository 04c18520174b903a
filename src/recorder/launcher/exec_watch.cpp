#include "recorder/launcher/exec_watch.hpp"

#include <sys/stat.h>

#include <filesystem>

namespace mallard::recorder {

exec_watch::exec_watch(pid_t process, const std::string& program)
    : link_("/proc/" + std::to_string(process) + "/exe"), recorded_(identity_of(program)) {}

std::optional<exec_watch::file_identity> exec_watch::identity_of(const std::string& path) {
  struct stat file{};
  if (stat(path.c_str(), &file) != 0) return {};
  return file_identity{file.st_dev, file.st_ino};
}

std::string exec_watch::look() {
  if (!recorded_) return {};
  const auto now = identity_of(link_);
  if (!now || now == recorded_) return {};
  std::error_code unknown;
  const std::string path = std::filesystem::read_symlink(link_, unknown).string();
  if (!unknown) recorded_.reset();
  return path;
}

}  // namespace mallard::recorder
