// Writes what unwind_fuzz starts from: tables of one function, each with another kind of frame.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "recorder/unwind/one_function_table.hpp"

namespace {

using mallard::recorder::test::bytes;
using mallard::recorder::test::one_function_table;

void write(const std::filesystem::path& file, const bytes& table) {
  std::ofstream out(file, std::ios::binary);
  out.put(0x20).put(0);  // ask for the pc 0x20 into the function
  out.write(reinterpret_cast<const char*>(table.data()), static_cast<std::streamsize>(table.size()));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: unwind_fuzz_seeds FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder);
  write(folder / "pushes", one_function_table("zR", {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x0a, 0x41, 0x0c,
                                                     7, 8, 0x41, 0x0b}));
  write(folder / "realigned",
        one_function_table("zR", {0x44, 0x0c, 10, 0, 0x10, 6, 2, 0x76, 0, 0x0f, 3, 0x76, 0x78, 6}));
  write(folder / "linkage",
        one_function_table("zR", {0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}));
  write(folder / "signal", one_function_table("zRS", {0x0f, 4, 0x77, 0x28, 6, 0x96, 0x10, 16, 2, 0x77, 0x30,
                                                      0x10, 7, 2, 0x77, 0x28}));
  write(folder / "jumps",
        one_function_table("zR", {0x16, 6, 8, 0x35, 0x31, 0x1c, 0x12, 0x28, 0xfa, 0xff, 0x96}));
}
