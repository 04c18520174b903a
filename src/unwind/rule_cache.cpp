#include "unwind/rule_cache.hpp"

#include "unwind/eh_frame_table.hpp"

namespace mallard::unwind {

constinit rule_cache known_rules;

MALLARD_NOINLINE frame_rule rule_cache::find_further(std::uintptr_t return_address) noexcept {
  if (return_address <= forgotten) return {};
  const std::size_t first = first_index(return_address);
  for (std::size_t i = 0; i < slots; ++i) {
    const slot& place = slots_[(first + i) % slots];
    const std::uintptr_t key = place.key.load(std::memory_order_acquire);
    if (key == return_address) return frame_rule(place.bits.load(std::memory_order_relaxed));
    if (key == empty) break;
  }
  eh_frame_table table;
  if (!find_table(return_address - 1, table)) return {};  // a module may be loaded there later
  const frame_rule rule = find_frame_rule(table, return_address - 1);
  insert(return_address, rule);
  const auto* const code = reinterpret_cast<const std::uint8_t*>(return_address);
  if (code < table.begin || code > table.end) note(table);
  return rule;
}

void rule_cache::note(const eh_frame_table& read) noexcept {
  const std::uint64_t first = (reinterpret_cast<std::uintptr_t>(read.header) + page - 1) / page;
  const std::uint64_t end = (reinterpret_cast<std::uintptr_t>(read.end) + page - 1) / page;
  const std::uint64_t wanted = first << table_length_bits | (end - first);
  if (end <= first) return;
  for (const std::atomic<std::uint64_t>& place : tables_)
    if (place.load(std::memory_order_relaxed) == wanted) return;
  for (std::atomic<std::uint64_t>& place : tables_) {
    std::uint64_t found = 0;
    if (place.compare_exchange_strong(found, wanted) || found == wanted) return;
  }
}

// Two threads may insert the same address; then it stands twice, with the same rule.
void rule_cache::insert(std::uintptr_t return_address, frame_rule rule) noexcept {
  const std::size_t first = first_index(return_address);
  for (std::size_t i = 0; i < slots; ++i) {
    slot& place = slots_[(first + i) % slots];
    std::uintptr_t key = place.key.load(std::memory_order_relaxed);
    if (key != empty && key != forgotten) continue;
    const bool is_new = key == empty;
    if (is_new && used() >= most_used) return;
    if (!place.key.compare_exchange_strong(key, busy, std::memory_order_acquire))
      continue;  // somebody else's
    if (is_new) used_.fetch_add(1, std::memory_order_relaxed);
    place.bits.store(rule.bits, std::memory_order_relaxed);
    place.key.store(return_address, std::memory_order_release);
    return;
  }
}

void rule_cache::forget_rules(std::uintptr_t begin, std::uintptr_t end) noexcept {
  for (slot& place : slots_) {
    std::uintptr_t key = place.key.load(std::memory_order_relaxed);
    if (key > forgotten && key - 1 >= begin && key - 1 < end)
      place.key.compare_exchange_strong(key, forgotten, std::memory_order_relaxed);
  }
  for (std::atomic<std::uint64_t>& place : tables_) {
    std::uint64_t found = place.load(std::memory_order_relaxed);
    const std::uintptr_t at = (found >> table_length_bits) * page;
    if (found != 0 && at >= begin / page * page && at < end) place.compare_exchange_strong(found, 0);
  }
}

}  // namespace mallard::unwind
