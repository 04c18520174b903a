// Writes what each fuzz target starts from, into FOLDER/NAME_fuzz.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "journal/binary/sample_journal.hpp"
#include "journal/drain/memory_spool.hpp"
#include "malloc/plan_image.hpp"
#include "model/random.hpp"
#include "unwind/one_function_table.hpp"

namespace mallard::fuzz {
namespace {

using std::filesystem::path;

void write(const path& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

// For each heap and each size of objects: blocks that are allocated and freed in turns, and then grown both
// ways and shrunk.
std::string commands(char heap, char objects) {
  std::string bytes{heap};
  if (heap % 2 == 0) bytes += {64, 0};  // the buffer's size
  bytes += objects;
  for (char i = 0; i < 8; ++i) bytes += {0, static_cast<char>(4 + i)};          // arrays
  for (char i = 0; i < 3; ++i) bytes += {2, static_cast<char>(2 * i)};          // of which some are freed
  bytes += {11, 5, 1, 2, 3, 40, 5};                                             // a burst of lengths
  for (char flags = 1; flags < 8; ++flags) bytes += {3, flags, flags, 20, 60};  // grown, in all ways
  bytes += {3, 8, 1, 12, 3};                                                    // shrunk
  bytes += {3, 64, 2, 9, 1};                                                    // or so
  bytes += {9, 7, 1};                                                           // nodes
  bytes += {13, 7, 50, 14, 3, 1, 30, 2, 0};                                     // aligned, and resized
  bytes += {12, 6, 0, 1, 2, 3, 0, 1};                                           // a burst is freed
  bytes += {15, 3, 0};                                                          // trimmed
  return bytes;
}

void command(const path& folder) {
  for (char heap = 0; heap < 4; ++heap)
    for (char objects = 0; objects < 6; ++objects)
      write(folder / (std::to_string(heap) + "_" + std::to_string(objects)), commands(heap, objects));
}

// Random bytes for each heap of the model suite, of which there are fewer than a byte can name.
void model_traces(const path& folder) {
  for (unsigned heap = 0; heap < 256; ++heap) {
    model::random_source r(heap);
    std::string bytes{static_cast<char>(heap)};
    for (int i = 0; i < 1000; ++i) bytes += static_cast<char>(r.next());
    write(folder / std::to_string(heap), bytes);
  }
}

// A small trace in two of the variants that occur, and one that is out of addresses.
void csapp(const path& folder) {
  write(folder / "sample.rep", "20000\n3\n8\n1\na 0 512\na 1 128\nr 0 640\na 2 128\nf 1\nr 0 0\nf -1\nf 2\n");
  write(folder / "variant.rep", "# made by hand\r\n1\r\n3\r\n3\r\n\r\n a  7\t8 \r\nr 9 24\r\na 7 0\r\n");
  write(folder / "out_of_addresses.rep",
        "9\n4\n4\n1\na 0 9223372036854710256\na 1 0\na 2 18446744073709551576\na 3 5\n");
}

// A small journal of each form.
void journals(const path& folder) {
  journal::write_sample(folder / "sample.mallard");
  write(folder / "sample.rep", "9\n1\n3\n1\na 0 24\nr 0 48\nf 0\n");
  write(folder / "sample.txt", "a 24 5a0 700 100\nf 5a0 900 250\n");
}

// Two contexts of one wrapper, and a rule with a witness.
void plan(const path& folder) {
  using namespace malloc_library;
  struct {
    image_header header{
        {0x89, 'M', 'L', 'P', '\r', '\n', 0x1a, '\n'}, 1, 0, 0, 0, 1, 64, 2, 96, 3, 128, 3, 224, 17, 0};
    image_module program{20, {1, 2, 3}};
    image_node nodes[2]{{0, 1, 0, 0}, {1, 2, 1, 0}};
    image_entry entries[3]{{0x1000, 0, 1, 0, 16, 0}, {0x2000, 0, 0, 1, 0, 0}, {0x3000, 0, 0, 2, 0, 0}};
    image_rule rules[3]{
        {}, {strategy::pool, 0, 1, 0, 0, 0, 1, 0, {}}, {strategy::reap, 1, 16, 1, 0, 1, 2, 0, {}}};
  } whole;
  whole.header.bytes = sizeof whole;
  write(folder / "wrapper", {reinterpret_cast<const char*>(&whole), sizeof whole});
}

// A few events of each kind, on the same addresses and regions.
void profile(const path& folder) {
  std::string events;
  for (unsigned round = 0; round < 3; ++round) {
    for (const journal::event_kind kind : journal::all_kinds) {
      const auto same = static_cast<char>(7 + round);
      events += {static_cast<char>(kind), '\1', same, '\10', '\7', same, same, '\0'};
    }
  }
  write(folder / "every_kind", events);
}

// The parts of a small spool, alone and with a journal.
void spool(const path& folder) {
  using namespace journal;
  test::memory_spool sample(smallest_ring);
  fill_sample(sample);
  std::string parts;
  for (const spool_parts::part& p : spool_parts::all()) parts.append(bytes_of(sample.header(), p.at), p.size);
  write(folder / "sample.spool", parts);

  const path with_journal = folder / "with_journal";
  write_sample(with_journal);
  std::ifstream written(with_journal, std::ios::binary);
  parts.append(std::istreambuf_iterator<char>(written), {});
  write(with_journal, parts);
}

// Small libraries with debug information, and without.
void symbols(const path& folder) {
  const auto replace = std::filesystem::copy_options::overwrite_existing;
  std::filesystem::copy_file(MALLARD_SYMBOLS_TARGET, folder / "debug", replace);
  std::filesystem::copy_file(MALLARD_STRIPPED_SYMBOLS_TARGET, folder / "stripped", replace);
}

// Tables of one function, each with another kind of frame; asked for the pc 0x20 into the function.
void unwind(const path& folder) {
  const auto write_table = [&](const char* name, const unwind::test::bytes& table) {
    write(folder / name, std::string{0x20, 0}.append(table.begin(), table.end()));
  };
  using unwind::test::one_function_table;
  write_table("pushes", one_function_table("zR", {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x0a, 0x41, 0x0c, 7,
                                                  8, 0x41, 0x0b}));
  write_table("realigned",
              one_function_table("zR", {0x44, 0x0c, 10, 0, 0x10, 6, 2, 0x76, 0, 0x0f, 3, 0x76, 0x78, 6}));
  write_table("linkage", one_function_table(
                             "zR", {0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}));
  write_table("signal", one_function_table("zRS", {0x0f, 4, 0x77, 0x28, 6, 0x96, 0x10, 16, 2, 0x77, 0x30,
                                                   0x10, 7, 2, 0x77, 0x28}));
  write_table("jumps",
              one_function_table("zR", {0x16, 6, 8, 0x35, 0x31, 0x1c, 0x12, 0x28, 0xfa, 0xff, 0x96}));
}

struct target {
  const char* name;
  void (*write_seeds)(const path&);
};
constexpr target targets[] = {
    {"command_fuzz", command},    {"csapp_fuzz", csapp},     {"journal_fuzz", journals},
    {"model_fuzz", model_traces}, {"plan_fuzz", plan},       {"profile_fuzz", profile},
    {"spool_fuzz", spool},        {"symbols_fuzz", symbols}, {"unwind_fuzz", unwind}};

}  // namespace
}  // namespace mallard::fuzz

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: fuzz_seeds FOLDER\n", stderr);
    return 2;
  }
  for (const auto& [name, write_seeds] : mallard::fuzz::targets) {
    const std::filesystem::path folder = std::filesystem::path(arguments[1]) / name;
    std::filesystem::create_directories(folder);
    write_seeds(folder);
  }
  return 0;
}
