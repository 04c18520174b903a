// scratch_folder: a folder of one test's own, gone with it; a file likewise; and whole files as bytes.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mallard::test {

[[nodiscard]] inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class scratch_folder {
 public:
  scratch_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "mallard-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    path_ = name;
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  [[nodiscard]] std::vector<std::string> names() const {  // of what is in it
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      found.push_back(entry.path().filename());
    return found;
  }

 private:
  std::filesystem::path path_;
};

// A file in a folder of its own, there from the beginning.
class temporary_file {
 public:
  explicit temporary_file(std::string_view contents = {}) { write(contents); }

  [[nodiscard]] std::filesystem::path path() const { return folder_ / "file"; }
  [[nodiscard]] std::string read() const { return contents(path()); }

  void write(std::string_view contents) const {
    std::ofstream to(path(), std::ios::binary | std::ios::trunc);
    to.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  }

 private:
  scratch_folder folder_;
};

}  // namespace mallard::test
