#include "journal/text/text_writer.hpp"

#include <cinttypes>
#include <cstdio>

namespace mallard::journal {
namespace {

class line_writer {
 public:
  line_writer(const event_source& from, std::ostream& to) : from_(&from), to_(&to) {}

  void allocation(const event_batch& batch, std::size_t row) {
    char line[128];
    write(line, std::snprintf(line, sizeof line, "a %" PRIu64 " %" PRIx64 " %" PRIu64 " %" PRIu64 "\n",
                              batch.size[row], batch.address[row], thread(batch, row), time(batch, row)));
  }

  void free(const event_batch& batch, std::size_t row, std::uint64_t address) {
    char line[128];
    write(line, std::snprintf(line, sizeof line, "f %" PRIx64 " %" PRIu64 " %" PRIu64 "\n", address,
                              thread(batch, row), time(batch, row)));
  }

  [[nodiscard]] std::uint64_t lines() const noexcept { return lines_; }

 private:
  void write(const char* line, int length) {
    to_->write(line, length);
    ++lines_;
  }

  [[nodiscard]] std::uint64_t thread(const event_batch& batch, std::size_t row) const {
    return from_->tables().threads[batch.thread[row]].system_id;
  }

  [[nodiscard]] std::uint64_t time(const event_batch& batch, std::size_t row) const {
    const double ticks_per_second = from_->about().ticks_per_second;
    if (ticks_per_second == 1e9) return batch.time[row];
    const long double ns = static_cast<long double>(batch.time[row]) * 1e9L / ticks_per_second;
    return ns < 0x1p64L ? static_cast<std::uint64_t>(ns) : UINT64_MAX;
  }

  const event_source* from_;
  std::ostream* to_;
  std::uint64_t lines_ = 0;
};

}  // namespace

text_written write_text(event_source& from, std::ostream& to, const std::function<void(double)>& heard) {
  line_writer line(from, to);
  std::uint64_t left_out = 0;
  event_batch batch;
  while (from.next(batch)) {
    for (std::size_t row = 0; row < batch.count(); ++row) {
      const event_kind kind = batch.kind[row];
      if (is_allocation(kind)) {
        line.allocation(batch, row);
      } else if (is_free(kind)) {
        line.free(batch, row, batch.address[row]);
      } else if (is_reallocation(kind)) {
        const bool succeeded = batch.address[row] != 0;
        // A reallocation to 0 bytes that returns null has freed the old block.
        const bool freed = batch.old_address[row] != 0 && (succeeded || batch.size[row] == 0);
        if (freed) line.free(batch, row, batch.old_address[row]);
        if (succeeded || !freed) line.allocation(batch, row);
      } else {
        ++left_out;
      }
    }
    if (heard) heard(from.progress());
  }
  return {.lines = line.lines(), .left_out = left_out};
}

}  // namespace mallard::journal
