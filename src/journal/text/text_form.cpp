#include "journal/text/text_form.hpp"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>

#include "mallard/journal/layout.hpp"

namespace mallard::journal {
namespace {

constexpr std::size_t batch_rows = std::size_t{1} << 16;

// The next number of `rest`, which starts with a space; false if there is none.
bool take_number(std::string_view& rest, int base, std::uint64_t& value) {
  if (rest.empty() || rest.front() != ' ') return false;
  const char* const first = rest.data() + 1;
  const auto [last, failure] = std::from_chars(first, rest.data() + rest.size(), value, base);
  if (failure != std::errc()) return false;
  rest.remove_prefix(static_cast<std::size_t>(last - rest.data()));
  return true;
}

[[noreturn]] void throw_unexpected(std::size_t line_number) {
  throw error("line " + std::to_string(line_number) +
              ": expected 'a <size> <pointer-hex> <thread> <ns>' or 'f <pointer-hex> <thread> <ns>'");
}

}  // namespace

bool text_source::next(event_batch& batch) {
  batch.resize(0);
  std::string_view line;
  while (batch.count() < batch_rows && lines_.next(line)) take(line, batch);
  batch.resize(batch.count());  // the columns that this form does not have
  batch.first = delivered_;
  delivered_ += batch.count();
  if (batch.count() == 0) finish();
  return batch.count() > 0;
}

void text_source::take(std::string_view line, event_batch& batch) {
  std::uint64_t size = 0;
  std::uint64_t address = 0;
  std::uint64_t thread = 0;
  std::uint64_t time = 0;
  const bool is_allocation = line.starts_with('a');
  std::string_view rest = line.substr(std::min<std::size_t>(line.size(), 1));
  const bool understood = (is_allocation ? take_number(rest, 10, size) : line.starts_with('f')) &&
                          take_number(rest, 16, address) && take_number(rest, 10, thread) &&
                          take_number(rest, 10, time) && rest.empty();
  if (!understood) throw_unexpected(lines_.number());
  if (!is_allocation && address == 0) {
    ++null_frees_;
    return;
  }
  batch.kind.push_back(is_allocation ? event_kind::allocate : event_kind::deallocate);
  batch.time.push_back(time);
  batch.thread.push_back(thread_index(thread));
  batch.address.push_back(address);
  batch.size.push_back(size);
}

// Threads are numbered in the order of their first events.
std::uint32_t text_source::thread_index(std::uint64_t number) {
  const auto [found, is_new] =
      thread_indices_.try_emplace(number, static_cast<std::uint32_t>(tables_.threads.size()));
  if (is_new) tables_.threads.push_back({.system_id = number});
  return found->second;
}

void text_source::finish() {
  if (finished_) return;
  finished_ = true;
  if (const std::string defect = lines_.defect(); !defect.empty()) {
    warnings_.push_back(defect);
    whole_ = false;
  }
  if (null_frees_ > 0) {
    warnings_.push_back(std::to_string(null_frees_) + " frees of a null pointer are left out");
  }
}

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
