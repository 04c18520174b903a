// Any bytes at all, read as a program file without a build id: an error, or frames for each address whose
// texts are there.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "symbols/symbolizer.hpp"

namespace mallard::symbols {
namespace {

// A file of memory with these bytes, gone with it.
class memory_file {
 public:
  memory_file(const std::uint8_t* data, std::size_t size) : file_(::memfd_create("program", MFD_CLOEXEC)) {
    if (file_ < 0 || ::write(file_, data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  ~memory_file() { ::close(file_); }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

void check(const resolved& found, std::size_t addresses) {
  if (found.begins.size() != addresses + 1 || found.begins.back() != found.frames.size()) std::abort();
  if (found.texts.empty() || !found.texts.front().empty()) std::abort();
  for (const source_frame& frame : found.frames)
    if (frame.function >= found.texts.size() || frame.file >= found.texts.size()) std::abort();
}

void read(const std::uint8_t* data, std::size_t size) try {
  const memory_file file(data, size);
  std::vector<std::uint64_t> addresses = {0, UINT64_MAX};
  for (std::uint64_t address = 0x200; address < 0x4000; address += 13) addresses.push_back(address);
  symbolizer symbols(file.path(), {});
  check(symbols.resolve(addresses), addresses.size());
} catch (const error& reason) {
  if (reason.what()[0] == '\0') std::abort();
}

}  // namespace
}  // namespace mallard::symbols

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mallard::symbols::read(data, size);
  return 0;
}
