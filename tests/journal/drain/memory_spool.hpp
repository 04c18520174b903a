// A spool in memory or in a file, as a program and a launcher would share it, for tests of what reads it.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <new>

#include "journal/spool/ring_record.hpp"
#include "journal/spool/spool.hpp"

namespace mallard::test {

class memory_spool {
 public:
  // Without a path the memory is nobody else's.
  explicit memory_spool(std::size_t ring_bytes, const std::filesystem::path& path = {})
      : options_{.ring_words = ring_bytes / 8},
        bytes_(journal::spool_bytes(options_)),
        pages_(map(bytes_, path)) {
    header_ = ::new (pages_) journal::spool_header{};
    header_->magic = journal::spool_magic;
    header_->options = options_;
    header_->contexts_used = 1;
    header_->ticks_per_second = 1e9;
  }
  ~memory_spool() { munmap(pages_, bytes_); }
  memory_spool(const memory_spool&) = delete;
  memory_spool& operator=(const memory_spool&) = delete;

  [[nodiscard]] journal::spool_header* header() const noexcept { return header_; }

  // Puts a record into a ring as a program would, whether there is room or not.
  void put(std::uint32_t ring, std::initializer_list<std::uint64_t> record) {
    journal::ring_header& to = journal::ring_of(header_, ring);
    const std::uint64_t size = options_.ring_words;
    std::uint64_t head = to.head;
    for (const std::uint64_t word : record)
      journal::ring_words_of(header_, ring, options_)[head++ % size] = word;
    to.head = head;
    if (header_->rings_used <= ring) header_->rings_used = ring + 1;
  }
  void begin_thread(std::uint32_t ring, std::uint64_t time, std::uint64_t number, std::uint64_t system_id) {
    put(ring, {journal::first_word(journal::thread_begin, time), number << 32 | system_id});
  }
  void put_malloc(std::uint32_t ring, std::uint64_t time, std::uint64_t address, std::uint32_t context,
                  std::uint64_t size) {
    constexpr unsigned kind = static_cast<unsigned>(journal::event_kind::malloc) | journal::site_bit;
    put(ring, {journal::first_word(kind, time), address, journal::site_word(context, size)});
  }

  // Adds a context; its number.
  std::uint32_t add_context(const journal::context_entry& entry) {
    const std::uint32_t number = header_->contexts_used;
    journal::contexts_of(header_)[number] = entry;
    header_->contexts_used = number + 1;
    return number;
  }

 private:
  static void* map(std::size_t bytes, const std::filesystem::path& path) {
    constexpr int access = PROT_READ | PROT_WRITE;
    if (path.empty()) return mmap(nullptr, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) std::abort();
    void* pages = mmap(nullptr, bytes, access, MAP_SHARED | MAP_NORESERVE, file, 0);
    ::close(file);
    return pages;
  }

  journal::spool_options options_;
  std::size_t bytes_;
  void* pages_;
  journal::spool_header* header_;
};

}  // namespace mallard::test
