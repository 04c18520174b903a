#include "replay/trace/part_routes.hpp"

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <unordered_map>

namespace mallard::replay {
namespace {

static_assert(std::endian::native == std::endian::little, "the numbers are read as they lie");

constexpr std::size_t most_heaps = std::numeric_limits<std::uint16_t>::max() - 1;
constexpr std::uintmax_t most_events = std::uintmax_t{1} << 30;

}  // namespace

part_routes::part_routes(const std::string& path) : path_(path) {
  expect_file();
  std::ifstream file(path, std::ios::binary);
  std::unordered_map<std::uint32_t, std::uint16_t> numbers{{0, 0}};
  std::array<std::uint32_t, 16384> chunk;
  while (file) {
    file.read(reinterpret_cast<char*>(chunk.data()), sizeof chunk);
    const auto bytes = static_cast<std::size_t>(file.gcount());
    if (bytes % sizeof(chunk[0]) != 0) refuse("does not consist of 32-bit numbers, one for each event");
    for (std::size_t i = 0; i < bytes / sizeof(chunk[0]); ++i) {
      if (chunk[i] == out) {
        heaps_of_events_.push_back(left_out);
        continue;
      }
      const auto [known, is_new] = numbers.try_emplace(chunk[i], static_cast<std::uint16_t>(numbers.size()));
      if (is_new && numbers.size() - 1 > most_heaps)
        refuse("routes to more than " + std::to_string(most_heaps) + " heaps");
      heaps_of_events_.push_back(known->second);
    }
  }
  if (!file.eof()) refuse(std::string("cannot be read: ") + std::strerror(errno));
  heaps_ = numbers.size() - 1;
  if (heaps_ == 0) refuse_as_empty();
}

// A device or a pipe may have no end.
void part_routes::expect_file() const {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path_, error);
  if (status.type() == std::filesystem::file_type::not_found) refuse("cannot be read: " + error.message());
  if (!std::filesystem::is_regular_file(status)) refuse("is no regular file");
  const std::uintmax_t bytes = std::filesystem::file_size(path_, error);
  if (error) refuse("cannot be read: " + error.message());
  if (bytes / sizeof(std::uint32_t) > most_events)
    refuse("has more than " + std::to_string(most_events) + " numbers");
}

void part_routes::expect_events(std::uint64_t events) const {
  if (events != heaps_of_events_.size())
    refuse("has " + std::to_string(heaps_of_events_.size()) + " numbers, the journal " +
           std::to_string(events) + " events: one is needed for each");
}

void part_routes::refuse_as_empty() const { refuse("routes no block: nothing would differ"); }

void part_routes::refuse_event(std::uint64_t event) const {
  refuse("routes event " + std::to_string(event) + ", which allocates nothing");
}

void part_routes::refuse(const std::string& why) const { throw std::runtime_error(path_ + " " + why); }

}  // namespace mallard::replay
