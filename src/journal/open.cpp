#include <algorithm>
#include <array>
#include <utility>

#include "journal/binary_source.hpp"
#include "journal/event_source.hpp"
#include "journal/input.hpp"
#include "journal/text_source.hpp"
#include "mallard/journal/layout.hpp"

namespace mallard::journal {
namespace {

constexpr std::array<unsigned char, 6> xz_magic = {0xfd, '7', 'z', 'X', 'Z', 0x00};

template <class Magic>
bool starts_with(byte_span bytes, const Magic& magic) {
  return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

bool looks_like_text(byte_span bytes) {
  return bytes.size() >= 2 && (bytes[0] == 'a' || bytes[0] == 'f') && bytes[1] == ' ';
}

}  // namespace

std::unique_ptr<event_source> open(const std::filesystem::path& path) { return open(input(open_file(path))); }

std::unique_ptr<event_source> open(input from) {
  if (starts_with(from.peek(xz_magic.size()), xz_magic)) from = input(unpack_xz(std::move(from)));
  const byte_span head = from.peek(file_magic.size());
  if (head.empty()) throw error(from.defect().empty() ? "it is empty" : from.defect());
  if (starts_with(head, file_magic)) return std::make_unique<binary_source>(std::move(from));
  if (looks_like_text(head)) return std::make_unique<text_source>(std::move(from));
  throw error("it is not a journal");
}

}  // namespace mallard::journal
