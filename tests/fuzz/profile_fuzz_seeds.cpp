// Writes what profile_fuzz starts from: a few events of each kind, on the same addresses and regions.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "journal/binary/sample_journal.hpp"

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: profile_fuzz_seeds FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder);
  std::ofstream out(folder / "every_kind", std::ios::binary);
  for (unsigned round = 0; round < 3; ++round) {
    for (const mallard::journal::event_kind kind : mallard::journal::all_kinds) {
      const auto same = static_cast<char>(7 + round);
      for (const char byte : {static_cast<char>(kind), '\1', same, '\10', '\7', same, same, '\0'})
        out.put(byte);
    }
  }
}
