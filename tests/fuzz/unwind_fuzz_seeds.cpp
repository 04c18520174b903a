// Writes what unwind_fuzz starts from: tables of one function, each with another kind of frame.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using bytes = std::vector<std::uint8_t>;

void append(bytes& to, const bytes& what) { to.insert(to.end(), what.begin(), what.end()); }

void append_number(bytes& to, std::size_t value) {
  for (int shift = 0; shift < 32; shift += 8) to.push_back(static_cast<std::uint8_t>(value >> shift));
}

void append_record(bytes& to, bytes record) {
  while (record.size() % 8 != 4) record.push_back(0);
  append_number(to, record.size());
  append(to, record);
}

// A header of one pair, a CIE and an FDE, for a function at the table's beginning.
bytes table_of(const std::string& augmentation, const bytes& program) {
  constexpr std::size_t header_size = 20;
  bytes cie;
  append_number(cie, 0);
  cie.push_back(1);
  append(cie, bytes(augmentation.begin(), augmentation.end()));
  append(cie, {0, 1, 0x78, 16, 1, 0x1b});  // one datum: pointers count from their place
  append(cie, {0x0c, 7, 8, 0x90, 1});      // CFA = sp + 8, pc at CFA - 8
  bytes table = {1, 0x1b, 3, 0x3b};
  append_number(table, header_size - 4);
  append_number(table, 1);
  append_number(table, 0);
  append_number(table, 0);  // where the FDE is, told below
  append_record(table, cie);
  const std::size_t fde = table.size();
  table[16] = static_cast<std::uint8_t>(fde);
  bytes description;
  append_number(description, fde + 4 - header_size);
  append_number(description, -(fde + 8));
  append_number(description, 0x100);
  description.push_back(0);
  append(description, program);
  append_record(table, description);
  return table;
}

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
  write(folder / "pushes",
        table_of("zR", {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x0a, 0x41, 0x0c, 7, 8, 0x41, 0x0b}));
  write(folder / "realigned",
        table_of("zR", {0x44, 0x0c, 10, 0, 0x10, 6, 2, 0x76, 0, 0x0f, 3, 0x76, 0x78, 6}));
  write(folder / "linkage",
        table_of("zR", {0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}));
  write(folder / "signal",
        table_of("zRS", {0x0f, 4, 0x77, 0x28, 6, 0x96, 0x10, 16, 2, 0x77, 0x30, 0x10, 7, 2, 0x77, 0x28}));
  write(folder / "jumps", table_of("zR", {0x16, 6, 8, 0x35, 0x31, 0x1c, 0x12, 0x28, 0xfa, 0xff, 0x96}));
}
