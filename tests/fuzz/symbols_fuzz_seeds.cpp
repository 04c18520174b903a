// Writes what symbols_fuzz starts from: small libraries with debug information, and without.
#include <cstdio>
#include <filesystem>

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: symbols_fuzz_seeds FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder);
  const auto replace = std::filesystem::copy_options::overwrite_existing;
  std::filesystem::copy_file(MALLARD_SYMBOLS_TARGET, folder / "debug", replace);
  std::filesystem::copy_file(MALLARD_STRIPPED_SYMBOLS_TARGET, folder / "stripped", replace);
  return 0;
}
