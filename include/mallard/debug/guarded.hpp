// guarded<Upstream>: canaries around blocks, and a record of where each was allocated and freed.
//
//     upstream's block   [ canary  ... | the caller's size bytes | canary ....... ]
//     given back         [ canary  ... | freed freed freed freed | canary ....... ]   kept for a while
//
// It detects, when a block is freed: a double or foreign free, a wrong size or alignment, writes beside the
// block; when the block leaves the quarantine: a write after free. report_damage() and validate() check all
// blocks at once. Each report names the block and the call sites (misuse.hpp). The received size is the
// requested one, so a write of one byte too many is detected; new memory is filled with a pattern, so reading
// it uninitialised shows. The quarantine holds freed blocks up to a number of bytes; the oldest leave first,
// and all of them if the upstream is exhausted.
// For debugging: 2 to 5 us per pair, for the call sites, and about 400 bytes per block beside the canaries.
// One thread at a time; for more use locked<guarded<Heap>>, which updates the records under the lock. A pool
// of a given size must have room for both canaries, 32 bytes, and more for alignments above 16:
// guarded<pool>(96) for nodes of up to 64 bytes. A pool that takes its size from the first request adapts
// itself. Suggested: guard_pages stops at the very instruction that writes; guarded serves millions of
// blocks. Seed 000, section 1 (allocators aid testing, debugging and measurement).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/pattern.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/debug/block_table.hpp"
#include "mallard/debug/call_place.hpp"
#include "mallard/debug/misuse.hpp"

namespace mallard {

template <heap Upstream>
class guarded {
 public:
  using upstream_type = Upstream;

  // Minimum size of a canary on either side. The front one fills up to the alignment, the rear one also
  // covers any bytes that the upstream gave in excess.
  static constexpr std::size_t canary_size = 16;

  // Default number of bytes of freed blocks in the quarantine.
  static constexpr std::size_t default_quarantine = std::size_t{1} << 20;

  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit guarded(Args&&... args) : upstream_(std::forward<Args>(args)...) {}
  guarded(const guarded&) = delete;
  guarded& operator=(const guarded&) = delete;
  ~guarded() { release(); }

  [[nodiscard]] upstream_type& upstream() noexcept { return upstream_; }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return upstream_; }

  // Blocks, their names and places, and how misuse is answered.
  [[nodiscard]] block_table& table() noexcept { return table_; }
  [[nodiscard]] const block_table& table() const noexcept { return table_; }

  void set_quarantine(std::size_t bytes) noexcept {
    quarantine_ = bytes;
    trim(bytes);
  }

  [[nodiscard]] MALLARD_NOINLINE block allocate(std::size_t size, std::size_t align) noexcept {
    MALLARD_CHECK(is_valid_align(align));
    const std::size_t wanted = whole_size(size, align);
    if (wanted == 0) return {};
    block whole = upstream_.allocate(wanted, align);
    if (!whole && trim(0) != 0) whole = upstream_.allocate(wanted, align);
    if (!whole) return {};
    std::byte* const data = static_cast<std::byte*>(whole.data) + front(align);
    known_block* const b =
        table_.add(data, size, align, whole, call_place::from(__builtin_return_address(0)));
    if (b == nullptr) {
      upstream_.deallocate(whole.data, whole.size, align);
      return {};
    }
    fill(b->begin, static_cast<std::size_t>(data - b->begin), pattern::canary);
    fill(data, b->received(), pattern::fresh);
    fill(b->end(), static_cast<std::size_t>(b->whole_end() - b->end()), pattern::canary);
    return {data, b->received()};
  }

  MALLARD_NOINLINE void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    const call_place now = call_place::from(__builtin_return_address(0));
    if (known_block* const b = table_.ended(p, size, align, now)) end(b, now);
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept
    requires predictable<Upstream>
  {
    const std::size_t wanted = whole_size(size, align);
    return wanted == 0 || upstream_.received_size(wanted, align) == 0 ? 0 : std::max<std::size_t>(size, 1);
  }

  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept {
    const known_block* const b = table_.live_at(p);
    return b == nullptr ? 0 : b->received();
  }

  [[nodiscard]] bool owns(const void* p) const noexcept { return table_.around(p) != nullptr; }

  // Removes blocks from the quarantine until it keeps at most `keep` bytes; returns the bytes returned
  // upstream.
  std::size_t trim(std::size_t keep) noexcept {
    std::size_t returned = 0;
    while (table_.freed_bytes() > keep) {
      known_block* const b = table_.oldest_freed();
      report_changes(*b, {});
      const block whole{b->begin, b->whole};
      const std::size_t align = b->align;
      table_.forget(b);
      upstream_.deallocate(whole.data, whole.size, align);
      returned += whole.size;
    }
    return returned;
  }

  // Checks the canaries of every block that it ends.
  void release() noexcept {
    end_all();
    if constexpr (releasable<Upstream>) upstream_.release();
  }

  // So does this.
  void clear() noexcept
    requires clearable<Upstream>
  {
    end_all();
    upstream_.clear();
  }

  [[nodiscard]] heap_usage usage() const noexcept { return table_.usage(); }

  // The first canary or freed block that was written to.
  [[nodiscard]] violation validate() const noexcept {
    for (const known_block* b = table_.oldest_live(); b != nullptr; b = b->newer)
      if (changed_before(*b) != nullptr || changed_behind(*b) != nullptr)
        return {"guarded: a write beside a block"};
    for (const known_block* b = table_.oldest_freed(); b != nullptr; b = b->newer)
      if (changed_freed(*b) != nullptr) return {"guarded: a write after free"};
    return {};
  }

  // Reports everything that validate() would find, each once; how many blocks are concerned.
  MALLARD_NOINLINE std::size_t report_damage() noexcept {
    return report_damage(call_place::from(__builtin_return_address(0)));
  }

  // `now`: the place of the check.
  std::size_t report_damage(const call_place& now) noexcept {
    std::size_t damaged = 0;
    for (known_block* b = table_.oldest_live(); b != nullptr; b = b->newer)
      if (report_changes(*b, now)) {
        repair(*b);
        ++damaged;
      }
    for (known_block* b = table_.oldest_freed(); b != nullptr; b = b->newer)
      if (report_changes(*b, now)) {
        fill(b->data, b->received(), pattern::freed);
        repair(*b);
        ++damaged;
      }
    return damaged;
  }

 private:
  static constexpr std::size_t front(std::size_t align) noexcept { return std::max(canary_size, align); }

  // Size of the upstream's block; 0 if that exceeds max_request.
  static constexpr std::size_t whole_size(std::size_t size, std::size_t align) noexcept {
    const std::size_t around = front(align) + canary_size;
    if (size > max_request || around > max_request - size) return 0;
    return around + std::max<std::size_t>(size, 1);
  }

  void end(known_block* b, const call_place& now) noexcept {
    if (report_changes(*b, now)) repair(*b);
    fill(b->data, b->received(), pattern::freed);
    table_.set_freed(b, now);
    trim(quarantine_);
  }

  void end_all() noexcept {
    while (known_block* const b = table_.oldest_live()) {
      report_changes(*b, {});
      fill(b->data, b->received(), pattern::freed);
      repair(*b);
      table_.set_freed(b, {});
    }
    trim(0);
  }

  static const std::byte* changed_before(const known_block& b) noexcept {
    return first_other(b.begin, static_cast<std::size_t>(b.data - b.begin), pattern::canary);
  }
  static const std::byte* changed_behind(const known_block& b) noexcept {
    return first_other(b.end(), static_cast<std::size_t>(b.whole_end() - b.end()), pattern::canary);
  }
  static const std::byte* changed_freed(const known_block& b) noexcept {
    if (const std::byte* const at = changed_before(b)) return at;
    if (const std::byte* const at = first_other(b.data, b.received(), pattern::freed)) return at;
    return changed_behind(b);
  }

  // Whether bytes outside live data were overwritten; reports it.
  bool report_changes(const known_block& b, const call_place& now) const noexcept {
    const auto reported = [&](misuse what, const std::byte* at) {
      if (at != nullptr) table_.report({what, table_.name(), at, b.size, b.align, &b, now});
      return at != nullptr;
    };
    if (!b.live) return reported(misuse::written_after_free, changed_freed(b));
    const bool before = reported(misuse::written_before, changed_before(b));
    return reported(misuse::written_behind, changed_behind(b)) || before;
  }

  static void repair(const known_block& b) noexcept {
    fill(b.begin, static_cast<std::size_t>(b.data - b.begin), pattern::canary);
    fill(b.end(), static_cast<std::size_t>(b.whole_end() - b.end()), pattern::canary);
  }

  Upstream upstream_;
  block_table table_{"guarded"};
  std::size_t quarantine_ = default_quarantine;
};

}  // namespace mallard
