// Any bytes at all, read as a CS:APP trace: an error or events, and no two live blocks share a byte.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string_view>

#include "journal/binary/sample_journal.hpp"
#include "journal/text/csapp_source.hpp"

namespace mallard::journal {
namespace {

class live_ranges {
 public:
  void add(std::uint64_t begin, std::uint64_t size) {
    const std::uint64_t end = begin + (size == 0 ? 1 : size);
    const auto above = ends_.lower_bound(begin);
    if (end <= begin) std::abort();
    if (above != ends_.end() && above->first < end) std::abort();
    if (above != ends_.begin() && std::prev(above)->second > begin) std::abort();
    ends_.emplace(begin, end);
  }

  void remove(std::uint64_t begin) {
    if (ends_.erase(begin) != 1) std::abort();
  }

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;  // by begin
};

void read(std::string_view bytes) try {
  csapp_source source(input(std::make_unique<memory_stream>(bytes)));
  live_ranges live;
  event_batch batch;
  std::uint64_t last_time = 0;
  while (source.next(batch)) {
    for (std::size_t row = 0; row < batch.count(); ++row) {
      if (batch.time[row] < last_time || batch.thread[row] != 0) std::abort();
      last_time = batch.time[row];
      if (is_free(batch.kind[row])) {
        live.remove(batch.address[row]);
        continue;
      }
      if (batch.old_address[row] != 0) live.remove(batch.old_address[row]);
      if (batch.address[row] != 0) live.add(batch.address[row], batch.size[row]);
    }
  }
} catch (const error& reason) {
  if (reason.what()[0] == '\0') std::abort();
}

}  // namespace
}  // namespace mallard::journal

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mallard::journal::read({reinterpret_cast<const char*>(data), size});
  return 0;
}
