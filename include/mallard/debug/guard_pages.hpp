// guard_pages: each block on pages of its own, ending where no access is allowed.
//
//     live    | no access | canary [ block | canary ] | no access |
//     freed   | no access ........................................ |    for a while: the quarantine
//
// A read or write behind a block, a page in front of it or after its end is a fault at the very instruction.
// What its pages have beside the block, behind it less than the alignment, holds canaries that are looked
// at when the block comes back, with what else is seen then: double and foreign returns, wrong sizes and
// alignments. block_at(address) tells what an address belongs to; report_faults()
// (fault_report.hpp) makes the process print that when it faults. The received size is the requested one.
// For debugging: two pages of address space and two mappings a block beside its own (the kernel allows
// 65530 mappings a process if not told otherwise, so about 30 000 live blocks), 7 to 10 us a pair.
// Exhausted, it empties its quarantine. At the kernel's limit a freed block between two others may not go,
// as what remains would be two mappings out of one: it stays in the quarantine, inaccessible and without
// memory, until trim(), a free or the end of others let it go. One thread at a time.
// Seed 000, section 1 (allocators aid debugging; some memory is protected).
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
#include "mallard/debug/block_book.hpp"
#include "mallard/debug/call_place.hpp"
#include "mallard/debug/fault_report.hpp"
#include "mallard/debug/misuse.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {

class guard_pages final : public watches_addresses {
 public:
  // Bytes of address space that freed blocks may keep, if not told otherwise.
  static constexpr std::size_t default_quarantine = std::size_t{1} << 26;

  guard_pages() = default;
  guard_pages(const guard_pages&) = delete;
  guard_pages& operator=(const guard_pages&) = delete;
  ~guard_pages() { release(); }

  // Blocks, their names and places, and how misuse is answered.
  [[nodiscard]] block_book& book() noexcept { return book_; }
  [[nodiscard]] const block_book& book() const noexcept { return book_; }

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
    known_block* const b = book_.ended(p, size, align, now);
    if (b == nullptr) return;
    report_changes(*b, now);
    end(b, now);
    trim(quarantine_);
  }

  // The live or freed block that an address belongs to, its inaccessible surroundings included, or null.
  [[nodiscard]] const known_block* block_at(const void* address) const noexcept override {
    return book_.around(address);
  }

  [[nodiscard]] const char* name() const noexcept override { return book_.name(); }

  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept {
    const known_block* const b = book_.live_at(p);
    return b == nullptr ? 0 : b->received();
  }

  [[nodiscard]] bool owns(const void* p) const noexcept { return book_.around(p) != nullptr; }

  // Takes blocks out of the quarantine, the oldest first, until it keeps at most `keep` bytes, or only what
  // the kernel does not take; bytes given back.
  std::size_t trim(std::size_t keep) noexcept {
    std::size_t returned = 0;
    for (known_block* b = book_.oldest_freed(); b != nullptr && book_.freed_bytes() > keep;) {
      known_block* const next = b->newer;
      if (::munmap(b->begin, b->whole) == 0) {
        returned += b->whole;
        book_.forget(b);
      }
      b = next;
    }
    return returned;
  }

  // Looks at the canaries of every block that it ends.
  void release() noexcept {
    while (known_block* const b = book_.oldest_live()) {
      report_changes(*b, {});
      end(b, {});
    }
    while (trim(0) != 0) {
    }
  }

  // Held and carved is address space; only the pages that a live block touches are memory.
  [[nodiscard]] heap_usage usage() const noexcept { return book_.usage(); }

  [[nodiscard]] violation validate() const noexcept {
    for (const known_block* b = book_.oldest_live(); b != nullptr; b = b->newer)
      if (changed_before(*b) != nullptr || changed_behind(*b) != nullptr)
        return {"guard_pages: a write beside a block"};
    return {};
  }

  // Reports every write beside a live block, each once; how many blocks are concerned.
  MALLARD_NOINLINE std::size_t report_damage() noexcept {
    const call_place now = call_place::from(__builtin_return_address(0));
    std::size_t damaged = 0;
    for (known_block* b = book_.oldest_live(); b != nullptr; b = b->newer)
      if (report_changes(*b, now)) {
        fill(first_page(*b), static_cast<std::size_t>(b->data - first_page(*b)), pattern::canary);
        fill(b->end(), static_cast<std::size_t>(last_page_end(*b) - b->end()), pattern::canary);
        ++damaged;
      }
    return damaged;
  }

 private:
  // Bytes of address space for a request, 0 if it is absurd: a page in front, the block's, a page behind,
  // and what a stricter alignment than a page's may shift it by.
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
    // As far to the end of its pages as the alignment allows; from there on that end is given.
    std::byte* data = begin + page + padding_for(begin + page, align);
    if (align <= page) data = begin + align_down(reserved - page - received, align);
    known_block* const b = book_.add(data, size, align, {mapped, reserved}, now);
    if (b == nullptr) {
      // Lost, if the kernel does not take it: address space without memory.
      ::munmap(mapped, reserved);
      return {};
    }
    if (!protect(*b, PROT_READ | PROT_WRITE)) {
      book_.set_freed(b, now);
      if (::munmap(mapped, reserved) == 0) book_.forget(b);
      return {};
    }
    fill(first_page(*b), static_cast<std::size_t>(last_page_end(*b) - first_page(*b)), pattern::canary);
    fill(data, received, pattern::fresh);
    return {data, received};
  }

  // Inaccessible from here on, and without memory. A new mapping becomes one with its neighbours; at the
  // limit of mappings there may be none, and the pages change as they are.
  void end(known_block* b, const call_place& now) noexcept {
    constexpr int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (::mmap(b->begin, b->whole, PROT_NONE, kind, -1, 0) == MAP_FAILED) {
      protect(*b, PROT_NONE);
      ::madvise(b->begin, b->whole, MADV_DONTNEED);
    }
    book_.set_freed(b, now);
  }

  // The pages that a block touches.
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

  // What they have in front of it, and behind it.
  static const std::byte* changed_before(const known_block& b) noexcept {
    return first_other(first_page(b), static_cast<std::size_t>(b.data - first_page(b)), pattern::canary);
  }
  static const std::byte* changed_behind(const known_block& b) noexcept {
    return first_other(b.end(), static_cast<std::size_t>(last_page_end(b) - b.end()), pattern::canary);
  }

  // Whether anything was written there; it is reported.
  bool report_changes(const known_block& b, const call_place& now) const noexcept {
    const auto told = [&](misuse what, const std::byte* at) {
      if (at != nullptr) book_.report({what, book_.name(), at, b.size, b.align, &b, now});
      return at != nullptr;
    };
    const bool before = told(misuse::written_before, changed_before(b));
    return told(misuse::written_behind, changed_behind(b)) || before;
  }

  block_book book_{"guard_pages"};
  std::size_t quarantine_ = default_quarantine;
};

}  // namespace mallard
