// block_table: the live blocks of a heap that detects misuse, and the blocks freed last.
//
//     live   oldest <-> ... <-> newest          in the order of allocation
//     freed  oldest <-> ... <-> newest          in the order of freeing: the quarantine
//     by address: all of both
//
// The table lies on pages of its own, away from the blocks, so no write beside a block can damage it, and no
// freed pointer is trusted before it is found here. Blocks and their memory belong to the heap: it adds what
// it allocates, asks ended() about what is freed, and removes the oldest freed block to reuse its memory.
// Invariant: a block is in one of the two lists, and found by its address. Cost: O(log n) per operation,
// about 400 bytes per block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory_resource>
#include <new>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/counters.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/debug/call_place.hpp"
#include "mallard/debug/misuse.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {

class block_table {
 public:
  explicit block_table(const char* heap) noexcept : heap_(heap) {}
  block_table(const block_table&) = delete;
  block_table& operator=(const block_table&) = delete;

  // The heap's name in reports. Precondition: the text outlives the table.
  void set_name(const char* heap) noexcept { heap_ = heap; }
  [[nodiscard]] const char* name() const noexcept { return heap_; }

  // Called on misuse; null prints the report and aborts the program.
  void set_handler(misuse_handler handler, void* context) noexcept {
    handler_ = handler;
    context_ = context;
  }

  // --- blocks -------------------------------------------------------------------------------

  // Adds a block; null if there is no memory for the entry. A block known at that address is forgotten:
  // a heap that reuses its memory knows that it is free.
  [[nodiscard]] known_block* add(std::byte* data, std::size_t size, std::size_t align, block whole,
                                 const call_place& place) noexcept {
    known_block* b = nullptr;
    try {
      b = &blocks_[address_of(data)];
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    if (b->data != nullptr) unlink(b);
    *b = {};
    b->data = data;
    b->size = size;
    b->align = align;
    b->begin = static_cast<std::byte*>(whole.data);
    b->whole = whole.size;
    b->number = ++numbers_;
    b->allocated = place;
    live_.push(b);
    count_.add(1);
    bytes_.add(size);
    return b;
  }

  // Returns the live block at p that is freed with these arguments, or null. Reports whatever is wrong.
  [[nodiscard]] known_block* ended(void* p, std::size_t size, std::size_t align,
                                   const call_place& place) noexcept {
    const auto found = blocks_.find(address_of(p));
    if (found == blocks_.end()) {
      report({misuse::foreign_pointer, heap_, p, size, align, around(p), place});
      return nullptr;
    }
    known_block& b = found->second;
    if (!b.live) {
      report({misuse::double_free, heap_, p, size, align, &b, place});
      return nullptr;
    }
    if (size != b.size && size != b.received())
      report({misuse::wrong_size, heap_, p, size, align, &b, place});
    if (align != b.align) report({misuse::wrong_align, heap_, p, size, align, &b, place});
    return &b;
  }

  // Moves a block from the live to the freed.
  void set_freed(known_block* b, const call_place& place) noexcept {
    unlink(b);
    b->live = false;
    b->freed = place;
    freed_.push(b);
    freed_bytes_ += b->whole;
  }

  // Forgets a block.
  void forget(known_block* b) noexcept {
    unlink(b);
    blocks_.erase(address_of(b->data));
  }

  [[nodiscard]] const known_block* live_at(const void* p) const noexcept {
    const auto found = blocks_.find(address_of(p));
    return found == blocks_.end() || !found->second.live ? nullptr : &found->second;
  }

  // Returns the live or freed block whose memory, guard bytes included, `p` points into, or null.
  [[nodiscard]] const known_block* around(const void* p) const noexcept {
    auto above = blocks_.upper_bound(address_of(p));
    if (above != blocks_.end() && address_of(above->second.begin) <= address_of(p)) return &above->second;
    if (above == blocks_.begin()) return nullptr;
    const known_block& below = std::prev(above)->second;
    return address_of(p) < address_of(below.whole_end()) ? &below : nullptr;
  }

  [[nodiscard]] known_block* oldest_live() const noexcept { return live_.oldest; }
  [[nodiscard]] known_block* oldest_freed() const noexcept { return freed_.oldest; }

  // Bytes held by freed blocks.
  [[nodiscard]] std::size_t freed_bytes() const noexcept { return freed_bytes_; }

  [[nodiscard]] counters blocks() const noexcept { return count_.read(); }
  [[nodiscard]] counters bytes() const noexcept { return bytes_.read(); }

  // Bytes held by live and freed blocks.
  [[nodiscard]] heap_usage usage() const noexcept {
    heap_usage found{freed_bytes_, 0, 0};
    for (const known_block* b = live_.oldest; b != nullptr; b = b->newer) {
      found.carved += b->whole;
      found.granted += b->received();
    }
    found.held += found.carved;
    return found;
  }

  // The number of the block allocated last.
  [[nodiscard]] std::uint64_t last_number() const noexcept { return numbers_; }

  // --- reports ------------------------------------------------------------------------------

  void report(const misuse_report& r) const noexcept {
    if (handler_ != nullptr) return handler_(r, context_);
    print(r);
    std::abort();
  }

  // Reports live blocks with a number above `since` as leaks, each once, and returns their number. `when` may
  // say what happened before. Without a handler it prints up to `printed_leaks` of them, then the sum, and
  // aborts the program.
  std::size_t report_leaks(std::uint64_t since, const call_place& now, const char* when = nullptr) noexcept {
    std::size_t leaks = 0;
    std::size_t bytes = 0;
    for (known_block* b = live_.oldest; b != nullptr; b = b->newer) {
      if (b->number <= since || b->reported) continue;
      b->reported = true;
      const misuse_report r{misuse::leaked, heap_, b->data, b->size, b->align, b, now, when};
      if (handler_ != nullptr)
        handler_(r, context_);
      else if (leaks < printed_leaks)
        print(r);
      ++leaks;
      bytes += b->size;
    }
    if (leaks == 0 || handler_ != nullptr) return leaks;
    error_line("mallard: %s: blocks leaked: %zu, bytes: %zu", heap_, leaks, bytes);
    std::abort();
  }

  static constexpr std::size_t printed_leaks = 16;

 private:
  // Memory of the system, so that the table never allocates through the heap it belongs to.
  class pages final : public std::pmr::memory_resource {
    void* do_allocate(std::size_t size, std::size_t align) override {
      const block b = os_pages().allocate(size, align);
      if (!b) throw std::bad_alloc();
      return b.data;
    }
    void do_deallocate(void* p, std::size_t size, std::size_t align) override {
      os_pages().deallocate(p, size, align);
    }
    [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
      return this == &other;
    }
  };

  struct list {
    known_block* oldest = nullptr;
    known_block* newest = nullptr;

    void push(known_block* b) noexcept {
      b->older = newest;
      b->newer = nullptr;
      (newest == nullptr ? oldest : newest->newer) = b;
      newest = b;
    }

    void remove(known_block* b) noexcept {
      (b->older == nullptr ? oldest : b->older->newer) = b->newer;
      (b->newer == nullptr ? newest : b->newer->older) = b->older;
    }
  };

  // Removes a block from its list and from that list's counters.
  void unlink(known_block* b) noexcept {
    if (b->live) {
      live_.remove(b);
      count_.remove(1);
      bytes_.remove(b->size);
    } else {
      freed_.remove(b);
      freed_bytes_ -= b->whole;
    }
  }

  pages pages_;
  std::pmr::unsynchronized_pool_resource entries_{&pages_};
  std::pmr::map<std::uintptr_t, known_block> blocks_{&entries_};
  list live_;
  list freed_;
  std::size_t freed_bytes_ = 0;
  counter<> count_;
  counter<> bytes_;
  std::uint64_t numbers_ = 0;
  const char* heap_;
  misuse_handler handler_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace mallard
