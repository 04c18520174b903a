#include "journal/text/csapp_source.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "journal/events/event_batch.hpp"

namespace mallard::journal {
namespace {

constexpr std::size_t batch_rows = std::size_t{1} << 16;
constexpr std::size_t fewest_header_lines = 3;
constexpr std::size_t most_header_lines = 4;
constexpr std::size_t count_of_operations = 2;  // which line of the header
constexpr std::uint64_t first_address = 0x10000;
constexpr std::uint64_t end_of_addresses = std::uint64_t{1} << 63;
constexpr std::uint64_t unit = 16;  // bytes, what malloc aligns to

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// The first word of `rest`, which is taken away with the blanks behind it.
std::string_view take_word(std::string_view& rest) {
  std::size_t length = 0;
  while (length < rest.size() && !is_blank(rest[length])) ++length;
  const std::string_view word = rest.substr(0, length);
  rest = trimmed(rest.substr(length));
  return word;
}

bool is_number(std::string_view word, std::uint64_t& value) {
  const auto [last, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  return failure == std::errc() && last == word.data() + word.size();
}

bool is_passed_over(std::string_view line) { return line.empty() || line.front() == '#'; }

struct operation {
  char letter = 0;  // a, r or f
  bool of_null = false;
  std::uint64_t id = 0;
  std::uint64_t size = 0;
};

// What the line, which is trimmed, means; false if it is no operation.
bool parse(std::string_view line, operation& found) {
  const std::string_view letter = take_word(line);
  if (letter != "a" && letter != "r" && letter != "f") return false;
  found.letter = letter.front();
  const std::string_view id = take_word(line);
  found.of_null = found.letter == 'f' && id == "-1";
  if (!found.of_null && !is_number(id, found.id)) return false;
  return found.letter == 'f' ? line.empty() : is_number(line, found.size);
}

[[noreturn]] void throw_unexpected(std::size_t line_number, const std::string& expected) {
  throw error("line " + std::to_string(line_number) + ": expected " + expected);
}

}  // namespace

bool looks_like_csapp(std::string_view head) {
  std::size_t numbers = 0;
  while (!head.empty()) {
    const std::size_t length = std::min(head.find('\n'), head.size());
    const std::string_view line = trimmed(head.substr(0, length));
    head.remove_prefix(std::min(length + 1, head.size()));
    if (is_passed_over(line)) continue;
    operation ignored;
    if (parse(line, ignored)) return numbers >= fewest_header_lines;
    if (std::uint64_t value = 0; !is_number(line, value) || ++numbers > most_header_lines) return false;
  }
  return false;
}

csapp_source::csapp_source(input from) : lines_(std::move(from)), next_address_(first_address) {
  tables_.threads.push_back({.system_id = 1});
  about_.ticks_per_second = 1e6;
  about_.facts = {{"recorder", "none: a CS:APP trace"},
                  {"clock", "none: one operation a microsecond"},
                  {"addresses", "none: one block behind the other, none twice"}};
}

bool csapp_source::next(event_batch& batch) {
  if (header_.empty()) read_header();
  batch.resize(0);
  if (!first_operation_.empty()) take(std::exchange(first_operation_, {}), batch);
  std::string_view line;
  while (batch.count() < batch_rows && lines_.next(line)) {
    line = trimmed(line);
    if (!is_passed_over(line)) take(line, batch);
  }
  batch.resize(batch.count());  // the columns that this form does not have
  batch.first = delivered_;
  delivered_ += batch.count();
  if (batch.count() == 0) finish();
  return batch.count() > 0;
}

void csapp_source::read_header() {
  std::string_view line;
  while (lines_.next(line)) {
    line = trimmed(line);
    if (is_passed_over(line)) continue;
    std::uint64_t value = 0;
    if (header_.size() < most_header_lines && is_number(line, value)) {
      header_.push_back(value);
    } else if (header_.size() < fewest_header_lines) {
      throw_unexpected(lines_.number(),
                       "a number: a CS:APP trace begins with heap size, ids, operations and weight");
    } else {
      first_operation_ = line;
      return;
    }
  }
  if (header_.size() < fewest_header_lines) throw error("it ends within the header of a CS:APP trace");
}

void csapp_source::take(std::string_view line, event_batch& batch) {
  operation found;
  if (!parse(line, found))
    throw_unexpected(lines_.number(), "'a <id> <bytes>', 'r <id> <bytes>' or 'f <id>'");
  if (found.letter == 'a') {
    allocate(found.id, found.size, batch);
  } else if (found.letter == 'r') {
    reallocate(found.id, found.size, batch);
  } else if (found.of_null) {
    ++null_frees_;
  } else {
    deallocate(found.id, batch);
  }
  ++operations_;
}

void csapp_source::allocate(std::uint64_t id, std::uint64_t size, event_batch& batch) {
  const block made = place(size);
  taken_ids_ += blocks_.insert_or_assign(id, made).second ? 0 : 1;
  deliver(event_kind::malloc, made.address, size, 0, batch);
}

void csapp_source::reallocate(std::uint64_t id, std::uint64_t size, event_batch& batch) {
  const auto found = blocks_.find(id);
  if (found == blocks_.end()) {
    const block made = place(size);
    blocks_.emplace(id, made);
    return deliver(event_kind::realloc, made.address, size, 0, batch);
  }
  const std::uint64_t old_address = found->second.address;
  if (size == 0) {  // frees
    blocks_.erase(found);
    return deliver(event_kind::realloc, 0, 0, old_address, batch);
  }
  if (size > found->second.room) found->second = place(size);
  deliver(event_kind::realloc, found->second.address, size, old_address, batch);
}

void csapp_source::deallocate(std::uint64_t id, event_batch& batch) {
  const auto found = blocks_.find(id);
  if (found == blocks_.end()) {
    ++unknown_frees_;
    return;
  }
  deliver(event_kind::free, found->second.address, 0, 0, batch);
  blocks_.erase(found);
}

void csapp_source::deliver(event_kind kind, std::uint64_t address, std::uint64_t size,
                           std::uint64_t old_address, event_batch& batch) const {
  batch.kind.push_back(kind);
  batch.time.push_back(operations_);
  batch.address.push_back(address);
  batch.size.push_back(size);
  batch.old_address.push_back(old_address);
}

// Room for `size` bytes behind all that there was.
csapp_source::block csapp_source::place(std::uint64_t size) {
  const std::uint64_t left = end_of_addresses - next_address_;
  const std::uint64_t room = size == 0 ? unit : (size + unit - 1) / unit * unit;
  if (size > largest_possible || room > left)
    throw_unexpected(lines_.number(), "fewer bytes: no addresses are left for a block of this size");
  const block made{.address = next_address_, .room = room};
  next_address_ += room;
  return made;
}

void csapp_source::finish() {
  if (finished_) return;
  finished_ = true;
  const auto tell = [this](std::uint64_t count, const char* what) {
    if (count > 0) warnings_.push_back(std::to_string(count) + what);
  };
  if (const std::string defect = lines_.defect(); !defect.empty()) {
    warnings_.push_back(defect);
    whole_ = false;
  }
  if (header_[count_of_operations] != operations_) {
    warnings_.push_back("the header tells of " + std::to_string(header_[count_of_operations]) +
                        " operations, and there are " + std::to_string(operations_));
    whole_ = false;
  }
  tell(null_frees_, " frees of a null pointer are left out");
  tell(unknown_frees_, " frees of ids that name no block are left out");
  tell(taken_ids_, " allocations take the id of a live block, which is never freed then");
}

}  // namespace mallard::journal
