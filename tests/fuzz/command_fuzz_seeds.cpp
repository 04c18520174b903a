// Writes what command_fuzz starts from: for each heap and each size of objects, blocks that are allocated and
// ended in turns, and then grown both ways and shrunk.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

std::string commands(char heap, char objects) {
  std::string bytes{heap};
  if (heap % 2 == 0) bytes += {64, 0};  // the buffer's size
  bytes += objects;
  for (char i = 0; i < 8; ++i) bytes += {0, static_cast<char>(4 + i)};          // arrays
  for (char i = 0; i < 3; ++i) bytes += {2, static_cast<char>(2 * i)};          // of which some end
  bytes += {11, 5, 1, 2, 3, 40, 5};                                             // a burst of lengths
  for (char flags = 1; flags < 8; ++flags) bytes += {3, flags, flags, 20, 60};  // grown, in all ways
  bytes += {3, 8, 1, 12, 3};                                                    // shrunk
  bytes += {3, 64, 2, 9, 1};                                                    // or so
  bytes += {9, 7, 1};                                                           // nodes
  bytes += {13, 7, 50, 14, 3, 1, 30, 2, 0};                                     // aligned, and resized
  bytes += {12, 6, 0, 1, 2, 3, 0, 1};                                           // a burst ends
  bytes += {15, 3, 0};                                                          // trimmed
  return bytes;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: command_fuzz_seeds FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder);
  for (char heap = 0; heap < 4; ++heap)
    for (char objects = 0; objects < 6; ++objects)
      std::ofstream(folder / (std::to_string(heap) + "_" + std::to_string(objects)), std::ios::binary)
          << commands(heap, objects);
  return 0;
}
