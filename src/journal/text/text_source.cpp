#include "journal/text/text_source.hpp"

#include <algorithm>
#include <charconv>

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

}  // namespace mallard::journal
