// guard_pages: places each block on pages of its own, next to a page that must not be accessed.
//
//     live    | no access | canary [ block | canary ] | no access |
//     freed   | no access ........................................ |    for a while: the quarantine
//
// A read or write behind a block, in the page before it or after it was freed faults at the very instruction.
// The rest of the block's own pages, behind it less than the alignment, holds canaries, which are checked
// when the block is freed; so are double and foreign frees, wrong sizes and wrong alignments.
// block_at(address) says what an address belongs to; report_faults() (fault_report.hpp) makes the process
// print that when it faults. The received size is the requested one. For debugging: two pages of address
// space and two mappings per block beside its own (by default the kernel allows 65530 mappings per process,
// so about 30,000 live blocks), 7 to 10 us per pair. If memory runs out, it empties its quarantine. At the
// kernel's limit, unmapping a freed block between two others may fail, as it would split one mapping into
// two: the block stays in the quarantine, inaccessible and without memory, until a later trim() or free can
// unmap it. One thread at a time. Seed 000, section 1 (allocators aid debugging; some memory is protected).
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/pattern.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/debug/block_table.hpp"
#include "mallard/debug/call_place.hpp"
#include "mallard/debug/fault_report.hpp"
#include "mallard/debug/misuse.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {

class guard_pages final : public watches_addresses {
 public:
  // Default limit for the address space of freed blocks, in bytes.
  static constexpr std::size_t default_quarantine = std::size_t{1} << 26;

  guard_pages() = default;
  guard_pages(const guard_pages&) = delete;
  guard_pages& operator=(const guard_pages&) = delete;
  ~guard_pages() { release(); }

  // The blocks, where they were allocated and freed, and the reaction to misuse.
  [[nodiscard]] block_table& table() noexcept { return table_; }
  [[nodiscard]] const block_table& table() const noexcept { return table_; }

  void set_quarantine(std::size_t bytes) noexcept {
    quarantine_ = bytes;
    trim(bytes);
  }

  // NOLINTNEXTLINE(readability-convert-member-functions-to-static): a heap's member
  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    return reserved_size(size, align) == 0 ? 0 : std::max<std::size_t>(size, 1);
  }

  [[nodiscard]] MALLARD_NOINLINE block allocate(std::size_t size, std::size_t align) noexcept {
    MALLARD_CHECK(is_valid_align(align));
    const std::size_t reserved = reserved_size(size, align);
    if (reserved == 0) return {};
    const call_place now = call_place::from(__builtin_return_address(0));
    block b = place_block(size, align, reserved, now);
    if (!b && trim(0) != 0) b = place_block(size, align, reserved, now);
    return b;
  }

  MALLARD_NOINLINE void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    const call_place now = call_place::from(__builtin_return_address(0));
    known_block* const b = table_.ended(p, size, align, now);
    if (b == nullptr) return;
    report_changes(*b, now);
    end(b, now);
    trim(quarantine_);
  }

  // Returns the live or freed block that an address belongs to, inaccessible pages included, or null.
  [[nodiscard]] const known_block* block_at(const void* address) const noexcept override {
    return table_.around(address);
  }

  [[nodiscard]] const char* name() const noexcept override { return table_.name(); }

  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept {
    const known_block* const b = table_.live_at(p);
    return b == nullptr ? 0 : b->received();
  }

  [[nodiscard]] bool owns(const void* p) const noexcept { return table_.around(p) != nullptr; }

  // Unmaps blocks of the quarantine, the oldest first, until it holds at most `keep` bytes, or only blocks
  // that the kernel cannot unmap. Returns the bytes unmapped.
  std::size_t trim(std::size_t keep) noexcept {
    std::size_t returned = 0;
    for (known_block* b = table_.oldest_freed(); b != nullptr && table_.freed_bytes() > keep;) {
      known_block* const next = b->newer;
      if (::munmap(b->begin, b->whole) == 0) {
        returned += b->whole;
        table_.forget(b);
      }
      b = next;
    }
    return returned;
  }

  // Checks the canaries of every live block, and frees all blocks.
  void release() noexcept {
    while (known_block* const b = table_.oldest_live()) {
      report_changes(*b, {});
      end(b, {});
    }
    while (trim(0) != 0) {
    }
  }

  // `held` and `carved` are address space; only the pages that a live block touches are memory.
  [[nodiscard]] heap_usage usage() const noexcept { return table_.usage(); }

  [[nodiscard]] violation validate() const noexcept {
    for (const known_block* b = table_.oldest_live(); b != nullptr; b = b->newer)
      if (changed_before(*b) != nullptr || changed_behind(*b) != nullptr)
        return {"guard_pages: a write beside a block"};
    return {};
  }

  // Reports every write beside a live block, each once; returns the number of damaged blocks.
  MALLARD_NOINLINE std::size_t report_damage() noexcept {
    const call_place now = call_place::from(__builtin_return_address(0));
    std::size_t damaged = 0;
    for (known_block* b = table_.oldest_live(); b != nullptr; b = b->newer)
      if (report_changes(*b, now)) {
        fill(first_page(*b), static_cast<std::size_t>(b->data - first_page(*b)), pattern::canary);
        fill(b->end(), static_cast<std::size_t>(last_page_end(*b) - b->end()), pattern::canary);
        ++damaged;
      }
    return damaged;
  }

 private:
  // Bytes of address space for a request, 0 if it is too large: the block's pages, a page on either side, and
  // what an alignment above a page may shift the block by.
  static std::size_t reserved_size(std::size_t size, std::size_t align) noexcept {
    const std::size_t page = os_pages::page_size();
    const std::size_t shift = align > page ? align : 0;
    if (size > max_request - 3 * page || shift > max_request - 3 * page - size) return 0;
    return 2 * page + shift + align_up(std::max<std::size_t>(size, 1), page);
  }

  block place_block(std::size_t size, std::size_t align, std::size_t reserved,
                    const call_place& now) noexcept {
    const std::size_t page = os_pages::page_size();
    void* const mapped =
        ::mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return {};
    std::byte* const begin = static_cast<std::byte*>(mapped);
    const std::size_t received = std::max<std::size_t>(size, 1);
    // As close to the end of its pages as the alignment allows.
    std::byte* data = begin + page + padding_for(begin + page, align);
    if (align <= page) data = begin + align_down(reserved - page - received, align);
    known_block* const b = table_.add(data, size, align, {mapped, reserved}, now);
    if (b == nullptr) {
      // If this fails, address space is lost, but no memory.
      ::munmap(mapped, reserved);
      return {};
    }
    if (!protect(*b, PROT_READ | PROT_WRITE)) {
      table_.set_freed(b, now);
      if (::munmap(mapped, reserved) == 0) table_.forget(b);
      return {};
    }
    fill(first_page(*b), static_cast<std::size_t>(last_page_end(*b) - first_page(*b)), pattern::canary);
    fill(data, received, pattern::fresh);
    return {data, received};
  }

  // Makes the pages inaccessible and frees their memory. A new mapping merges with its neighbours; at the
  // limit of mappings there may be no new one, and the existing pages are changed.
  void end(known_block* b, const call_place& now) noexcept {
    constexpr int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (::mmap(b->begin, b->whole, PROT_NONE, kind, -1, 0) == MAP_FAILED) {
      protect(*b, PROT_NONE);
      ::madvise(b->begin, b->whole, MADV_DONTNEED);
    }
    table_.set_freed(b, now);
  }

  // The first page that a block touches, and the end of the last.
  static std::byte* first_page(const known_block& b) noexcept {
    return b.data - (address_of(b.data) & (os_pages::page_size() - 1));
  }
  static std::byte* last_page_end(const known_block& b) noexcept {
    return b.end() + padding_for(b.end(), os_pages::page_size());
  }
  static bool protect(const known_block& b, int access) noexcept {
    std::byte* const first = first_page(b);
    return ::mprotect(first, static_cast<std::size_t>(last_page_end(b) - first), access) == 0;
  }

  // The first changed canary before a block, and behind it; null if there is none.
  static const std::byte* changed_before(const known_block& b) noexcept {
    return first_other(first_page(b), static_cast<std::size_t>(b.data - first_page(b)), pattern::canary);
  }
  static const std::byte* changed_behind(const known_block& b) noexcept {
    return first_other(b.end(), static_cast<std::size_t>(last_page_end(b) - b.end()), pattern::canary);
  }

  // Reports writes to the canaries of a block; returns whether there were any.
  bool report_changes(const known_block& b, const call_place& now) const noexcept {
    const auto reported = [&](misuse what, const std::byte* at) {
      if (at != nullptr) table_.report({what, table_.name(), at, b.size, b.align, &b, now});
      return at != nullptr;
    };
    const bool before = reported(misuse::written_before, changed_before(b));
    return reported(misuse::written_behind, changed_behind(b)) || before;
  }

  block_table table_{"guard_pages"};
  std::size_t quarantine_ = default_quarantine;
};

}  // namespace mallard
