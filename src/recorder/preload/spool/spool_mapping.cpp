#include "recorder/preload/spool/spool_mapping.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include "recorder/preload/spool/raw_calls.hpp"

namespace mallard::recorder {
using namespace journal;

namespace {

void* place = nullptr;  // of the spool, this process's or its parent's
std::size_t place_bytes = 0;

spool_header* map(int descriptor, std::size_t bytes, void* where) noexcept {
  const int fixed = where != nullptr ? MAP_FIXED : 0;
  struct stat file{};
  if (fstat(descriptor, &file) != 0 || static_cast<std::size_t>(file.st_size) < bytes) return nullptr;
  void* mapped =
      mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | fixed, descriptor, 0);
  if (mapped == MAP_FAILED) return nullptr;
  madvise(mapped, bytes, MADV_DONTDUMP);
  return static_cast<spool_header*>(mapped);
}

// Puts private memory into the place.
void replace(std::size_t begin, std::size_t end) noexcept {
  static_assert(names_at % spool_page == 0 && contexts_at % spool_page == 0);
  [[maybe_unused]] void* const there =
      mmap(static_cast<char*>(place) + begin, end - begin, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

}  // namespace

spool_header* map_spool_page(const char* path) noexcept {
  const int descriptor = raw_open(path, O_RDWR);
  if (descriptor < 0) return nullptr;
  spool_header* spool = map(descriptor, spool_page, nullptr);
  raw_close(descriptor);
  if (spool == nullptr || (spool->magic == spool_magic && is_possible(spool->options))) return spool;
  munmap(spool, spool_page);
  return nullptr;
}

spool_header* map_spool(const char* path, std::uint64_t ring_words) noexcept {
  const int descriptor = raw_open(path, O_RDWR);
  if (descriptor < 0) return nullptr;
  spool_header* spool = map_spool(descriptor, ring_words);
  raw_close(descriptor);
  return spool;
}

spool_header* map_spool(int descriptor, std::uint64_t ring_words) noexcept {
  const std::size_t bytes = spool_bytes(ring_words);
  spool_header* spool = map(descriptor, bytes, place_bytes == bytes ? place : nullptr);
  if (spool != nullptr) {
    place = spool;
    place_bytes = bytes;
  }
  return spool;
}

void leave_parents_spool() noexcept {
  if (place == nullptr) return;
  replace(ring_headers_at, names_at);
  replace(contexts_at, place_bytes);
}

spool_header* parents_spool() noexcept { return static_cast<spool_header*>(place); }

void keep_parents_spool() noexcept { place_bytes = 0; }

}  // namespace mallard::recorder
