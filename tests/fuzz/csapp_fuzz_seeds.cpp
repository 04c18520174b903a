// Writes what csapp_fuzz starts from: a small trace in two of the variants that occur, and one that is out of
// addresses.
#include <cstdio>
#include <filesystem>
#include <fstream>

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: csapp_fuzz_seeds FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "sample.rep")
      << "20000\n3\n8\n1\na 0 512\na 1 128\nr 0 640\na 2 128\nf 1\nr 0 0\nf -1\nf 2\n";
  std::ofstream(folder / "variant.rep")
      << "# made by hand\r\n1\r\n3\r\n3\r\n\r\n a  7\t8 \r\nr 9 24\r\na 7 0\r\n";
  std::ofstream(folder / "out_of_addresses.rep")
      << "9\n4\n4\n1\na 0 9223372036854710256\na 1 0\na 2 18446744073709551576\na 3 5\n";
  return 0;
}
