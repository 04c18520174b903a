// owned_pages: pages that belong to the heap of a thread, and whose they are, for any address of the process.
//
//     heap of thread 1 --> thread_pages --+                       page 7: heap 1
//                                         +--> one Upstream       page 8: heap 2
//     heap of thread 2 --> thread_pages --+                       page 9: heap 1
//
//     address   [ 12 bits | 12 bits | 12 bits | 12 bits: within the page ]
//                    |         |         |
//     root ------> [ * ] --> [ * ] --> [ owner ]        a radix tree; each node has 4096 words
//
// A block that any thread frees must find its way back to the heap that it came from, and blocks have no
// headers. So thread_pages, an upstream for the heap of one thread, hands out whole pages and marks them with
// their owner, and unmarks them before they go back. No page has two owners. A lock guards an upstream that
// is not `concurrent`; heaps request chunks so rarely that a thread hardly ever waits. The owners are in
// page_owners, a dense table outside of the pages: eight bytes a page, so a lookup touches no page of a heap,
// and pages may come from any upstream. A reserved range of addresses with a flat table would save one load,
// as a reader remembers the node that it has used last; it would need a source of its own beside the chunk
// cache, and fails where address space is limited. Threads: any member at any time. Marks are read like the
// memory that they belong to: a thread that is given a block by another one sees the owner of its page. Cost:
// a chunk costs the upstream's, a lock, and a store a page; a lookup three loads, or one by a reader. A node
// takes 32 KiB of addresses, of which the pages in use are resident: 8 KiB in all, and 4 KiB for each 2 MiB
// that are marked. They stay until the process ends, and no heap counts them as held.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/light_mutex.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {

// What a page may belong to; how many times it has asked for pages, for its own thread.
struct page_owner {
  std::size_t requests = 0;
};

class page_owners {
 public:
  // Bytes that have one owner, also where the system's pages are larger.
  static constexpr std::size_t page_bytes = 4096;

  constexpr page_owners() = default;
  page_owners(const page_owners&) = delete;
  page_owners& operator=(const page_owners&) = delete;

  // Looks up owners, most of which lie near each other: it remembers the lowest node that it has used.
  class reader {
   public:
    explicit reader(const page_owners& of) noexcept : of_(of) {}

    // The owner of the page that `p` points into; null if it has none.
    [[nodiscard]] MALLARD_INLINE page_owner* owner_of(const void* p) noexcept {
      const std::uintptr_t page = address_of(p) / page_bytes;
      if (page / fanout != part_) [[unlikely]] {
        part_ = page / fanout;
        leaf_ = of_.leaf_of(page);
      }
      return leaf_ == nullptr ? nullptr : owner_in(*leaf_, page);
    }

   private:
    const page_owners& of_;
    std::uintptr_t part_ = ~std::uintptr_t{0};
    const std::array<void*, 4096>* leaf_ = nullptr;
  };

  [[nodiscard]] page_owner* owner_of(const void* p) const noexcept { return reader(*this).owner_of(p); }

  // Gives the `bytes` bytes of pages from `p` on, a page's begin, to `owner`. False, with nothing changed, if
  // there is no memory for a node, or the addresses are beyond 2^48.
  [[nodiscard]] bool give(const void* p, std::size_t bytes, page_owner* owner) noexcept {
    const std::uintptr_t first = address_of(p) / page_bytes;
    MALLARD_CHECK(is_aligned(p, page_bytes) && bytes % page_bytes == 0);
    if (first >= pages || bytes / page_bytes > pages - first) return false;
    const std::uintptr_t end = first + bytes / page_bytes;
    for (std::uintptr_t page = first; page < end; page = (page / fanout + 1) * fanout)
      if (make_leaf(page) == nullptr) return false;
    for (std::uintptr_t page = first; page < end;) {
      node& leaf = *make_leaf(page);
      do word(&leaf, page, 0).store(owner, std::memory_order_relaxed);
      while (++page < end && page % fanout != 0);
    }
    return true;
  }

  // The opposite: the pages have no owner any more. Precondition: they have one.
  void take_back(const void* p, std::size_t bytes) noexcept {
    const bool is_marked = give(p, bytes, nullptr);
    MALLARD_CHECK(is_marked);
    (void)is_marked;
  }

 private:
  static constexpr std::uintptr_t fanout = 4096;
  static constexpr std::uintptr_t pages = fanout * fanout * fanout;
  using node = std::array<void*, fanout>;  // the nodes below, or the owners

  // The word for a page in a node that stands `level` above the lowest ones.
  static std::atomic_ref<void*> word(const node* n, std::uintptr_t page, int level) noexcept {
    return std::atomic_ref(const_cast<void*&>((*n)[page >> (12 * level) & (fanout - 1)]));
  }

  static page_owner* owner_in(const node& leaf, std::uintptr_t page) noexcept {
    return static_cast<page_owner*>(word(&leaf, page, 0).load(std::memory_order_relaxed));
  }

  // The node with the owner of `page`; null if nothing near it was ever given to anybody.
  [[nodiscard]] const node* leaf_of(std::uintptr_t page) const noexcept {
    const node* found = page < pages ? &root_ : nullptr;
    for (int level = 2; level != 0 && found != nullptr; --level)
      found = static_cast<const node*>(word(found, page, level).load(std::memory_order_acquire));
    return found;
  }

  // The node with the owner of `page`; null if there is no memory for it.
  node* make_leaf(std::uintptr_t page) noexcept {
    node* found = &root_;
    for (const int level : {2, 1}) {
      const std::atomic_ref<void*> link = word(found, page, level);
      void* lower = link.load(std::memory_order_acquire);
      if (lower == nullptr && (lower = add_node(link)) == nullptr) return nullptr;
      found = static_cast<node*>(lower);
    }
    return found;
  }

  // Another thread may add it at the same time.
  MALLARD_NOINLINE static void* add_node(std::atomic_ref<void*> link) noexcept {
    const block memory = os_pages().allocate(sizeof(node), alignof(node));
    if (!memory) return nullptr;
    void* const made = ::new (memory.data) node;  // not written: the system's pages are zero
    void* present = nullptr;
    if (link.compare_exchange_strong(present, made, std::memory_order_acq_rel, std::memory_order_acquire))
      return made;
    os_pages().deallocate(made, sizeof(node), alignof(node));
    return present;
  }

  node root_{};
};

// Of the process: shared libraries share it as far as MALLARD_VISIBLE goes.
MALLARD_VISIBLE inline constinit page_owners the_page_owners;

// What the heaps of all threads stand on. The lock guards the upstream, and what else its user likes.
template <heap Upstream, class Mutex = light_mutex>
class pages_of_threads {
 public:
  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit pages_of_threads(Args&&... args) : upstream_(std::forward<Args>(args)...) {}
  pages_of_threads(const pages_of_threads&) = delete;
  pages_of_threads& operator=(const pages_of_threads&) = delete;

  // Precondition: the lock is held, or no other thread is inside.
  [[nodiscard]] Upstream& upstream() noexcept { return upstream_; }
  [[nodiscard]] const Upstream& upstream() const noexcept { return upstream_; }
  [[nodiscard]] std::lock_guard<Mutex> lock() const noexcept { return std::lock_guard(mutex_); }

  // The table that the pages are marked in: that of the library that constructed this.
  [[nodiscard]] page_owners& owners() const noexcept { return *owners_; }

 private:
  mutable Mutex mutex_;
  Upstream upstream_;
  page_owners* owners_ = &the_page_owners;
};

template <heap Upstream, class Mutex = light_mutex>
class thread_pages {
 public:
  using upstream_type = Upstream;
  using mutex_type = Mutex;
  using shared = pages_of_threads<Upstream, Mutex>;

  static constexpr bool is_concurrent = concurrent<Upstream>;

  // Whose pages, and from where. Both outlive this.
  struct origin {
    shared& from;
    page_owner& owner;
  };

  explicit thread_pages(origin o) noexcept : from_(&o.from), owner_(&o.owner) {}
  thread_pages(const thread_pages&) = delete;
  thread_pages& operator=(const thread_pages&) = delete;

  [[nodiscard]] upstream_type& upstream() noexcept { return from_->upstream(); }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    return owned(size, align, [](Upstream& u, std::size_t bytes, std::size_t boundary) {
      return u.allocate(bytes, boundary);
    });
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align, bool& is_fresh) noexcept
    requires tells_fresh<Upstream>
  {
    is_fresh = false;
    const block given = owned(size, align, [&](Upstream& u, std::size_t bytes, std::size_t boundary) {
      return u.allocate(bytes, boundary, is_fresh);
    });
    is_fresh = is_fresh && static_cast<bool>(given);
    return given;
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    with_upstream([&](Upstream& u) { u.deallocate(p, taken_back(u, p, size, align), align_of(align)); });
  }

  void return_to_system(void* p, std::size_t size, std::size_t align) noexcept
    requires caching<Upstream>
  {
    with_upstream(
        [&](Upstream& u) { u.return_to_system(p, taken_back(u, p, size, align), align_of(align)); });
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept
    requires predictable<Upstream>
  {
    return with_upstream([&](Upstream& u) { return bytes_of(u, size, align); });
  }

 private:
  static constexpr std::size_t page = page_owners::page_bytes;

  static constexpr std::size_t align_of(std::size_t align) noexcept { return std::max(align, page); }

  // The pages that `from` takes from the upstream, the owner's from now on.
  template <class From>
  block owned(std::size_t size, std::size_t align, From from) noexcept {
    MALLARD_CHECK(is_valid_align(align));
    ++owner_->requests;
    return with_upstream([&](Upstream& u) -> block {
      const std::size_t bytes = bytes_of(u, size, align);
      if (bytes == 0) return {};
      const block pages = from(u, bytes, align_of(align));
      if (!pages) return {};
      if (from_->owners().give(pages.data, bytes, owner_)) return {pages.data, bytes};
      u.deallocate(pages.data, bytes, align_of(align));
      return {};
    });
  }

  // Bytes of the pages for a request, the same for each size between the requested and the received one; 0
  // if it cannot be served.
  static std::size_t bytes_of(const Upstream& u, std::size_t size, std::size_t align) noexcept {
    if (size > max_request - page) return 0;
    const std::size_t bytes = align_up(std::max<std::size_t>(size, 1), page);
    if constexpr (predictable<Upstream>)
      return u.received_size(bytes, align_of(align)) / page * page;
    else
      return bytes;
  }

  // Bytes of the pages at `p`, which have no owner any more.
  std::size_t taken_back(const Upstream& u, const void* p, std::size_t size,
                         std::size_t align) const noexcept {
    const std::size_t bytes = bytes_of(u, size, align);
    from_->owners().take_back(p, bytes);
    return bytes;
  }

  template <class F>
  auto with_upstream(F f) const noexcept {
    if constexpr (concurrent<Upstream>) {
      return f(from_->upstream());
    } else {
      const auto guard = from_->lock();
      return f(from_->upstream());
    }
  }

  shared* from_;
  page_owner* owner_;
};

}  // namespace mallard
