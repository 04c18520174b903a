// temporary_file: a path of one test's own, gone with it.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "scratch_folder.hpp"

namespace mallard::journal {

class temporary_file {
 public:
  explicit temporary_file(std::string_view contents = {}) { write(contents); }

  [[nodiscard]] std::filesystem::path path() const { return folder_ / "file"; }
  [[nodiscard]] std::string read() const { return test::contents(path()); }

  void write(std::string_view contents) const {
    std::ofstream to(path(), std::ios::binary | std::ios::trunc);
    to.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  }

 private:
  test::scratch_folder folder_;
};

}  // namespace mallard::journal
