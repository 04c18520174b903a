// Writes what journal_fuzz starts from: a small journal of each form.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "journal/binary/sample_journal.hpp"

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: journal_fuzz_seeds FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder);
  mallard::journal::write_sample(folder / "sample.mallard");
  std::ofstream(folder / "sample.rep") << "9\n1\n3\n1\na 0 24\nr 0 48\nf 0\n";
  std::ofstream(folder / "sample.txt") << "a 24 5a0 700 100\nf 5a0 900 250\n";
  return 0;
}
