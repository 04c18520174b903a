// Any bytes at all, read as a journal: an error or events, never anything else.
//
// Bytes that stay below a checksum are hard for a fuzzer to reach, so checksums are made right
// first: every section found in the input has its own recomputed, and the file header too.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "journal/binary/sample_journal.hpp"
#include "journal/binary/section.hpp"
#include "journal/bytes/wire.hpp"
#include "profile/summary.hpp"

namespace mallard::journal {
namespace {

void mend(std::string& bytes) {
  auto* at = reinterpret_cast<unsigned char*>(bytes.data());
  unsigned char* const end = at + bytes.size();
  if (bytes.size() < file_header_size || !std::equal(file_magic.begin(), file_magic.end(), at)) return;
  store(at + 24, checksum({at, 24}));
  at += file_header_size;
  while (static_cast<std::size_t>(end - at) >= section_header_size) {
    std::copy(section_marker.begin(), section_marker.end(), at);
    const std::size_t room = static_cast<std::size_t>(end - at) - section_header_size;
    const std::size_t size = std::min<std::size_t>(load<std::uint64_t>(at + 16), room);
    store(at + 16, static_cast<std::uint64_t>(size));
    store(at + 24, checksum({at + section_header_size, size}));
    store(at + 32, checksum({at, 32}));
    at += section_header_size + size;
  }
}

void read(const std::string& bytes) {
  try {
    const auto source = open_bytes(bytes);
    source->watch(sections::snapshots, [](const table&) {});
    event_batch batch;
    while (source->next(batch)) {
      const process_tables& known = source->tables();
      for (std::size_t row = 0; row < batch.count(); ++row) {
        if (batch.thread[row] >= known.threads.size()) std::abort();
        if (batch.context[row] >= known.contexts.size()) std::abort();
      }
    }
    for (std::size_t i = 1; i < source->tables().contexts.size(); ++i) {
      if (source->tables().contexts[i].parent >= i) std::abort();
    }
    if (to_json(profile::summarize(*open_bytes(bytes))).empty()) std::abort();
  } catch (const error& reason) {
    if (reason.what()[0] == '\0') std::abort();
  }
}

}  // namespace
}  // namespace mallard::journal

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  mallard::journal::read(bytes);
  mallard::journal::mend(bytes);
  mallard::journal::read(bytes);
  return 0;
}
