#include "journal/binary/section.hpp"

#include <xxhash.h>

#include <algorithm>
#include <string>

namespace mallard::journal {
namespace {

constexpr std::size_t checksum_size = sizeof(std::uint64_t);
constexpr std::size_t max_file_header_size = 4096;

}  // namespace

std::uint64_t checksum(byte_span bytes) noexcept { return XXH3_64bits(bytes.data(), bytes.size()); }

void put_section(byte_vector& out, section_type type, std::size_t rows, byte_span payload) {
  const std::size_t start = out.size();
  out.resize(start + section_header_size);
  unsigned char* header = out.data() + start;
  std::copy(section_marker.begin(), section_marker.end(), header);
  store(header + 4, static_cast<std::uint32_t>(type));
  store(header + 8, std::uint32_t{0});
  store(header + 12, static_cast<std::uint32_t>(rows));
  store(header + 16, static_cast<std::uint64_t>(payload.size()));
  store(header + 24, checksum(payload));
  store(header + 32, checksum({header, section_header_size - checksum_size}));
  out.insert(out.end(), payload.begin(), payload.end());
}

std::optional<section_header> parse_section_header(byte_span bytes) noexcept {
  if (bytes.size() < section_header_size) return {};
  const unsigned char* from = bytes.data();
  if (!std::equal(section_marker.begin(), section_marker.end(), from)) return {};
  if (load<std::uint64_t>(from + 32) != checksum(bytes.first(section_header_size - checksum_size))) return {};
  section_header header{.type = static_cast<section_type>(load<std::uint32_t>(from + 4)),
                        .flags = load<std::uint32_t>(from + 8),
                        .rows = load<std::uint32_t>(from + 12),
                        .stored_size = load<std::uint64_t>(from + 16),
                        .payload_checksum = load<std::uint64_t>(from + 24)};
  if (header.rows > max_section_rows || header.stored_size > max_section_size) return {};
  return header;
}

byte_vector make_file_header() {
  byte_vector header(file_header_size);
  std::copy(file_magic.begin(), file_magic.end(), header.data());
  store(header.data() + 8, format_major);
  store(header.data() + 10, format_minor);
  store(header.data() + 12, static_cast<std::uint32_t>(file_header_size));
  store(header.data() + 24, checksum({header.data(), file_header_size - checksum_size}));
  return header;
}

std::size_t check_file_header(byte_span bytes) {
  if (bytes.size() < file_header_size) throw error("the journal is cut off inside its first bytes");
  const auto major = load<std::uint16_t>(bytes.data() + 8);
  const std::size_t size = load<std::uint32_t>(bytes.data() + 12);
  if (major > format_major) {
    throw error("it is a journal of version " + std::to_string(major) +
                ", this program reads up to version " + std::to_string(format_major) +
                ": use a newer mallard");
  }
  if (size < file_header_size || size > max_file_header_size) throw error("the journal's header is damaged");
  if (bytes.size() < size) throw error("the journal is cut off inside its first bytes");
  const std::size_t checked = size - checksum_size;
  if (load<std::uint64_t>(bytes.data() + checked) != checksum(bytes.first(checked))) {
    throw error("the journal's header is damaged");
  }
  return size;
}

}  // namespace mallard::journal
