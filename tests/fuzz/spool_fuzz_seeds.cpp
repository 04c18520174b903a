// Writes what spool_fuzz starts from: the parts of a small spool, alone and with a journal.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "journal/binary/sample_journal.hpp"
#include "journal/drain/sample_spool.hpp"
#include "journal/drain/spool_parts.hpp"

int main(int count, char** arguments) {
  using namespace mallard::journal;
  if (count != 2) {
    std::fputs("usage: spool_fuzz_seeds FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder);
  mallard::test::memory_spool spool(smallest_ring);
  fill_sample(spool);
  std::string parts;
  for (const spool_parts::part& p : spool_parts::all()) parts.append(bytes_of(spool.header(), p.at), p.size);
  std::ofstream(folder / "sample.spool", std::ios::binary) << parts;

  const std::filesystem::path journal = folder / "with_journal";
  write_sample(journal);
  std::ifstream written(journal, std::ios::binary);
  parts.append(std::istreambuf_iterator<char>(written), {});
  std::ofstream(journal, std::ios::binary) << parts;
  return 0;
}
