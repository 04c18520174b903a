#include "journal/open.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "journal/binary/binary_source.hpp"
#include "journal/drain/spool_source.hpp"
#include "journal/text/csapp_source.hpp"
#include "journal/text/text_form.hpp"
#include "mallard/journal/layout.hpp"

namespace mallard::journal {
namespace {

template <class Magic>
bool starts_with(byte_span bytes, const Magic& magic) {
  return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

constexpr std::size_t trace_head = 4096;  // bytes in which a CS:APP trace must begin with its operations

bool looks_like_text(byte_span bytes) {
  return bytes.size() >= 2 && (bytes[0] == 'a' || bytes[0] == 'f') && bytes[1] == ' ';
}

// The journal that the spool at `path` belongs to, by its name; empty if it is not called after one.
std::filesystem::path journal_of(const std::filesystem::path& path) {
  const std::string name = path.string();
  const std::string_view suffix = spool_suffix;
  return name.size() > suffix.size() && name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size())
                                                               : "";
}

// What a journal says of its recording before its first events; nothing if it cannot be read.
metadata opening_words(const std::filesystem::path& path) try {
  binary_source source(input(open_file(path)));
  event_batch batch;
  source.next(batch);
  return source.about();
} catch (const error&) {
  return {};
}

// Copies the spool of a journal that there is. Throws journal::error, also where the two do not belong
// together.
spool_copy copy_spool(const std::filesystem::path& spool, const std::filesystem::path& journal) {
  spool_copy copy(spool, journal);
  const std::uint64_t started = opening_words(journal).start_unix_ns;
  const std::uint64_t spool_started = copy.header()->start_unix_ns;
  if (started != 0 && spool_started != 0 && started != spool_started)
    throw error("it belongs to another recording");
  return copy;
}

std::unique_ptr<event_source> open_both(const std::filesystem::path& journal,
                                        const std::filesystem::path& spool) {
  std::string reason;
  try {
    spool_copy copy = copy_spool(spool, journal);
    auto own = std::make_unique<binary_source>(input(open_file(journal, copy.journal_bytes())), "");
    return std::make_unique<spool_source>(std::move(own), std::move(copy), spool.string());
  } catch (const error& unusable) {
    reason = unusable.what();
  }
  return std::make_unique<binary_source>(
      input(open_file(journal)),
      "the recording was cut off, and " + spool.string() + " cannot be read: " + reason);
}

enum class contents { none, binary, other };  // none: not even a header

contents contents_of(const std::filesystem::path& journal) {
  std::error_code unknown;
  const auto status = std::filesystem::status(journal, unknown);
  if (status.type() == std::filesystem::file_type::not_found) return contents::none;
  if (status.type() != std::filesystem::file_type::regular) return contents::other;
  input from(open_file(journal));
  const byte_span head = from.peek(file_header_size);
  const std::size_t known = std::min(head.size(), file_magic.size());
  if (!std::equal(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(known), file_magic.begin()))
    return contents::other;
  return head.size() == file_header_size ? contents::binary : contents::none;
}

}  // namespace

std::unique_ptr<event_source> open(const std::filesystem::path& path) {
  const bool spool_named = spool_copy::is_spool(path);
  const std::filesystem::path journal = spool_named ? journal_of(path) : path;
  const std::filesystem::path spool =
      spool_named ? path : std::filesystem::path(path.string() + spool_suffix);
  if (!spool_named && !spool_copy::is_spool(spool)) return open(input(open_file(path)));
  const contents found = contents_of(journal);
  if (found == contents::binary) return open_both(journal, spool);
  if (found == contents::other && !spool_named) return open(input(open_file(path)));
  return std::make_unique<spool_source>(nullptr, spool_copy(spool, {}), spool.string());
}

std::unique_ptr<event_source> open(input from) {
  from = unpacked(std::move(from));
  const byte_span head = from.peek(file_magic.size());
  if (head.empty()) throw error(from.defect().empty() ? "it is empty" : from.defect());
  if (starts_with(head, file_magic)) return std::make_unique<binary_source>(std::move(from));
  if (looks_like_text(head)) return std::make_unique<text_source>(std::move(from));
  const byte_span start = from.peek(trace_head);
  if (looks_like_csapp({reinterpret_cast<const char*>(start.data()), start.size()}))
    return std::make_unique<csapp_source>(std::move(from));
  throw error("it is not a journal");
}

}  // namespace mallard::journal
