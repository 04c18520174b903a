// temporary_file: a path of one test's own, gone with it; and whole files as bytes.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace mallard::journal {

class temporary_file {
 public:
  temporary_file() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mallard-journal-XXXXXX").string();
    const int file = ::mkstemp(pattern.data());
    EXPECT_GE(file, 0);
    ::close(file);
    path_ = pattern;
  }
  explicit temporary_file(std::string_view contents) : temporary_file() { write(contents); }
  ~temporary_file() { std::filesystem::remove(path_); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  [[nodiscard]] std::string read() const {
    std::ifstream from(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(from), {}};
  }

  void write(std::string_view contents) const {
    std::ofstream to(path_, std::ios::binary | std::ios::trunc);
    to.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace mallard::journal
