// sample_spool: a small spool with two rings, a module, a name, contexts and records of several kinds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "journal/drain/memory_spool.hpp"

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

// The places of a small spool in which something stands, one behind the other.
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
