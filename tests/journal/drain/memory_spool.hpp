// memory_spool: a spool in memory or in a file, as a program and a launcher would share it, for tests of what
// reads it; fill_sample puts two rings, a module, a name, contexts and records of several kinds there.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <new>
#include <string_view>

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

namespace mallard::journal {

inline constexpr std::uint64_t sample_spool_events = 42;

inline void fill_sample(test::memory_spool& spool) {
  spool_header* header = spool.header();
  header->attached = 4321;
  header->start_unix_ns = 1'700'000'000'123'456'789;
  header->end_cpu_ns = 5'000'000;

  const std::string_view path = "/lib/one.so";
  const std::string_view id = "\x0a\x1b";
  const module_entry module{.time = 3,
                            .begin = 0x1000,
                            .end = 0x9000,
                            .bias = 0,
                            .path_bytes = static_cast<std::uint32_t>(path.size()),
                            .build_id_bytes = static_cast<std::uint32_t>(id.size())};
  char* at = modules_of(header);
  std::memcpy(at, &module, sizeof module);
  std::memcpy(at + sizeof module, path.data(), path.size());
  std::memcpy(at + sizeof module + path.size(), id.data(), id.size());
  header->modules_head = (sizeof module + path.size() + id.size() + 7) / 8 * 8;

  const std::string_view process("/tmp\0/bin/p\0p\0-v\0", 17);
  const std::string_view name = "parser";
  for (const std::string_view text : {process, name}) {
    const auto length = static_cast<name_length>(text.size());
    char* to = names_of(header) + header->names_used;
    std::memcpy(to, &length, sizeof length);
    std::memcpy(to + sizeof length, text.data(), text.size());
    header->names_used += static_cast<std::uint32_t>((sizeof length + text.size() + 3) / 4 * 4);
  }
  header->described = static_cast<std::uint32_t>(process.size());
  const std::uint64_t name_at = (sizeof(name_length) + process.size() + 3) / 4 * 4;

  const std::uint32_t outer = spool.add_context({.parent = 0, .stack_offset = 0, .place = 0x1100});
  const std::uint32_t inner = spool.add_context({.parent = outer, .stack_offset = 6, .place = 0x1200});
  const std::uint32_t scope =
      spool.add_context({.parent = inner, .stack_offset = 0, .place = scope_bit | name_at});

  spool.begin_thread(1, 10, 0, 700);
  spool.begin_thread(2, 12, 1, 701);
  for (std::uint64_t i = 0; i < 20; ++i) {
    spool.put_malloc(1, 20 + 2 * i, 0x5000 + 64 * i, i % 2 == 0 ? inner : outer, 24 + i);
    spool.put_malloc(2, 21 + 2 * i, 0x9000 + 64 * i, scope, 48 + i);
  }
  constexpr unsigned reallocation =
      static_cast<unsigned>(event_kind::realloc) | site_bit | extra_bit | timed_bit;
  const std::uint64_t huge = std::uint64_t{1} << 33;
  spool.put(1, {first_word(reallocation, 70), 0x7000, site_word(outer, huge), huge, 0x5000, 91});
  spool.put(2, {first_word(static_cast<unsigned>(event_kind::free), 71), 0x9000});
  spool.put(2, {first_word(thread_end, 72), std::uint64_t{1} << 32 | 701});
}

// The places of a small spool in which something is, one after the other.
struct spool_parts {
  struct part {
    std::size_t at;
    std::size_t size;
  };

  static constexpr std::size_t rings = 3;
  static constexpr spool_options options = {.ring_words = smallest_ring / sizeof(std::uint64_t)};

  [[nodiscard]] static constexpr std::array<part, 5 + rings> all() noexcept {
    return {{{0, sizeof(spool_header)},
             {ring_headers_at, rings * sizeof(ring_header)},
             {modules_at, 256},
             {names_at, 64},
             {contexts_at, 16 * sizeof(context_entry)},
             {ring_at(options, 0), 64},
             {ring_at(options, 1), 600},
             {ring_at(options, 2), 600}}};
  }
};

}  // namespace mallard::journal
