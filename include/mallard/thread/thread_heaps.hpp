// thread_heaps<Heap>: an unsynchronised heap for each thread, that together are one heap for all threads.
//
//     thread 1:  magazines <--batches--> Heap 1 <--chunks-- Upstream
//                    |                      ^ when it needs blocks
//                    | blocks of Heap 2     |
//                    |               [batch][batch]  returned to Heap 1, by any thread, no lock
//                    v
//     thread 2:  [batch][batch] --> Heap 2 <--batches--> magazines
//     (ended)    [batch] ---------> Heap 3   idle, until another thread begins
//
// A thread allocates from its magazines and frees to them, whichever thread has allocated the block: that
// touches no block, and asks for no owner. Only a batch that leaves a full magazine is sorted: its own blocks
// go back to the thread's Heap, those of others, chained, to the Heap that each came from, by one
// compare-and-swap per owner and batch. The owner takes a batch when a magazine is empty, before it asks its
// Heap; and all of them when its Heap has fetched pages, has none left, and now and then.
// The owner of a block is found in the table of its page (owned_pages.hpp), so Heap may be any heap over
// thread_pages<Upstream>, and needs no headers. Blocks of size classes are served as such: Heap sees only the
// sizes of classes. Others pass through to the thread's Heap, and return to it one by one.
// When a thread ends, what its magazines have of others goes to the owners, and its Heap to the next thread
// that begins: with all it holds, what the magazines have of its own included, in constant time.
// A thread keeps two batches a list at most, as in synchronized heaps (thread_cache.hpp): 32 blocks or what
// fits into 4 KiB. Of a list that it only frees to it keeps one at most. If the thread of a Heap allocates
// nothing any more, what returns to it waits there. Heap is used by one thread at a time; the lock guards the
// upstream and the memory of magazines. Lock order: the heap's lock, locks of upstreams, ends_mutex. Seed
// 003, section 8.2 (thread-local pools, without the restriction that a block is freed where it was
// allocated).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/burst.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/magazine.hpp"
#include "mallard/core/size_classes.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/layer/bump.hpp"
#include "mallard/layer/shared_chunks.hpp"
#include "mallard/source/upstream_ref.hpp"
#include "mallard/thread/attached_parts.hpp"
#include "mallard/thread/owned_pages.hpp"
#include "mallard/thread/returned_blocks.hpp"
#include "mallard/thread/thread_cache.hpp"
#include "mallard/thread/thread_heap.hpp"

namespace mallard {

// Heap stands on thread_pages<Upstream, Mutex>, which it constructs from an origin. `Classes`: the sizes that
// are cached; those of Heap itself if it keeps_batches.
template <heap Heap, class Classes = thread_heap_classes>
class alignas(cache_line) thread_heaps {
  using part = thread_heap<Heap, Classes>;
  using pages = typename part::pages;
  using slot = magazine::slot;

 public:
  using upstream_type = typename pages::upstream_type;
  using heap_type = Heap;
  using classes = typename part::classes;

  static constexpr bool is_concurrent = true;

  static constexpr std::size_t largest_cached = part::largest_cached;

  template <class... Args>
    requires constructible_as_root<upstream_type, Args...>
  explicit thread_heaps(Args&&... args) : pages_(std::forward<Args>(args)...), store_(pages_.upstream()) {}
  thread_heaps(const thread_heaps&) = delete;
  thread_heaps& operator=(const thread_heaps&) = delete;
  ~thread_heaps() {
    MALLARD_VALIDATE();
    end_members();
  }

  // Not synchronised. Memory that is allocated from the upstream directly may end with this heap's release().
  [[nodiscard]] upstream_type& upstream() noexcept { return pages_.upstream(); }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return pages_.upstream(); }

  [[nodiscard]] MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    if (classes::is_small(size, align)) [[likely]] {
      const std::size_t index = classes::small_index(size, align);
      if (member* const mine = last(); mine != nullptr) [[likely]]
        if (void* const reused = mine->lists().pop(index); reused != nullptr) [[likely]]
          return {reused, classes::size(index)};
    }
    return allocate_slow(size, align);
  }

  MALLARD_INLINE void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    if (classes::is_small(size, align)) [[likely]]
      if (member* const mine = last(); mine != nullptr) [[likely]]
        if (mine->lists().push(classes::small_index(size, align), p)) [[likely]]
          return;
    deallocate_slow(p, size, align);
  }

  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t /*contiguous*/) noexcept {
    return allocate_each(*this, out, count, size, align);
  }

  void deallocate_burst(chain& blocks, std::size_t size, std::size_t align) noexcept {
    while (!blocks.empty()) deallocate(blocks.pop_front(), size, align);
  }

  // For a block that no class serves, a Heap made for that is asked, which holds nothing: each would answer
  // the same, and none may be looked at while its thread is inside.
  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept
    requires predictable<Heap>
  {
    if (classes::serves(size, align)) return classes::size(classes::index(size, align));
    page_owner nobody;
    const Heap any(typename pages::origin{pages_, nobody});
    return any.received_size(part::large_size(size), align);
  }

  // As a thread's end: what the calling thread has cached goes to the owners, and its Heap to the next thread
  // that needs one, if this one does not need it sooner.
  void flush() noexcept {
    members_.give_up([](member& mine) { retire_blocks(mine); });
  }

  // Ends all blocks; keeps what each Heap keeps. A clearable upstream decides itself what it keeps.
  void clear() noexcept
    requires clearable<Heap>
  {
    MALLARD_VALIDATE();
    if constexpr (clearable<upstream_type>) {
      end_members();
      store_.release();
      pages_.upstream().clear();
    } else {
      for_each_locked([](member& m) { m.forget(); });
      for_each([](member& m) { m.heap().clear(); });
    }
  }

  void release() noexcept {
    MALLARD_VALIDATE();
    end_members();
    store_.release();
    if constexpr (releasable<upstream_type>) pages_.upstream().release();
  }

  // Trims each Heap, to which all that is cached and returned goes before. Without blocks, what threads have
  // of this heap ends too if it is more than `keep`.
  [[nodiscard]] std::size_t trim(std::size_t keep) noexcept
    requires trimmable<Heap>
  {
    const std::size_t before = usage().held;
    for_each_locked([this](member& m) { return_all(m); });
    std::size_t wanted = keep;
    for_each([&](member& m) {
      (void)m.take_back();
      (void)m.heap().trim(wanted);
      if (const heap_usage left = m.heap().usage(); left.granted == 0) wanted -= std::min(wanted, left.held);
    });
    if (const heap_usage left = usage(); left.granted == 0 && left.held > keep) {
      end_members();
      store_.release();
    }
    return before - usage().held;
  }

  [[nodiscard]] bool owns(const void* p) const noexcept {
    if (is_member(pages_.owners().owner_of(p))) return true;
    bool is_found = false;
    for_each_locked([&](const member& m) { is_found = is_found || address_of(p) - address_of(&m) < m.held; });
    const auto guard = pages_.lock();
    return is_found || store_.owns(p);
  }

  // Blocks carved, and free in magazines or elsewhere, of class `index`, below classes::count. O(its blocks).
  [[nodiscard]] pool_statistics statistics(std::size_t index) const noexcept
    requires keeps_batches<Heap>
  {
    pool_statistics found{classes::size(index), 0, unused(index)};
    for_each([&](const member& m) {
      const pool_statistics own = m.heap().statistics(index);
      found.carved += own.carved;
      found.free += own.free;
    });
    return found;
  }

  [[nodiscard]] heap_usage usage() const noexcept {
    heap_usage found{store_.held(), 0, 0};
    for_each([&](const member& m) {
      const heap_usage own = m.usage();
      found.held += m.held + own.held;
      found.carved += own.carved;
      found.granted += own.granted;
    });
    for (std::size_t i = 0; i < classes::count; ++i) {
      const std::size_t free = unused(i) * classes::size(i);
      found.carved -= free;
      found.granted -= free;
    }
    return found;
  }

  // O(what validates Heap + cached blocks * Heaps).
  [[nodiscard]] violation validate() const noexcept {
    violation found = store_.validate();
    for_each([&](const member& m) {
      if (!found) found = m.heap().validate();
    });
    for (std::size_t i = 0; i < classes::count && !found; ++i) found = validate_unused(i);
    return found;
  }

 private:
  static constexpr std::size_t cached = part::cached;

  // What belongs to one thread: a block of the upstream, of which the rest serves magazines.
  struct alignas(cache_line) member final : listed_part<member>, part {
    member(thread_heaps& set, block from) noexcept
        : part(set.pages_),
          of(set),
          held(from.size),
          room(reinterpret_cast<std::byte*>(this + 1), static_cast<std::byte*>(from.data) + from.size) {}

    thread_heaps& of;
    const std::size_t held;    // bytes of this block
    bump room;                 // what is left of it
    bool left_behind = false;  // idle with blocks, by a fork
  };

  // At most a batch of blocks of a list on their way to their owner.
  struct leaving_batch {
    member* owner = nullptr;
    std::size_t count = 0;
    std::array<slot, most_batch_blocks> blocks;

    void push(std::size_t list) const noexcept {
      if (count != 0) owner->give(list, {blocks.data(), count});
    }
  };

  // The calling thread's, if this is the heap that it has used last.
  [[nodiscard]] MALLARD_INLINE member* last() const noexcept { return members_.find_last(); }

  // The calling thread's; null if it has none.
  [[nodiscard]] member* present() const noexcept {
    member* const mine = members_.search();
    if (mine != nullptr) this_threads_table.remember(*mine);
    return mine;
  }

  MALLARD_NOINLINE block allocate_slow(std::size_t size, std::size_t align) noexcept {
    if (member* const mine = present(); mine != nullptr) return mine->allocate(size, align, places(*mine));
    return allocate_first(size, align);
  }

  // Of a thread that has nothing yet: from what an ended one has left, for good if possible, or from a new
  // Heap. A request that is refused leaves none behind.
  MALLARD_NOINLINE block allocate_first(std::size_t size, std::size_t align) noexcept {
    if (member* const idle = members_.attach_if_idle(taken, retire); idle != nullptr)
      return idle->allocate(size, align, places(*idle));
    if (member* const borrowed = members_.borrow(); borrowed != nullptr) {
      const block b = borrowed->allocate_alone(size, align);
      members_.give_back(*borrowed);
      return b;
    }
    member* const made = make();
    if (made == nullptr) return {};
    const block b = made->allocate_alone(size, align);
    if (!b) {
      end(*made);
      return {};
    }
    members_.add(*made);
    (void)members_.attach_if_idle(taken, retire);
    return b;
  }

  MALLARD_NOINLINE void deallocate_slow(void* p, std::size_t size, std::size_t align) noexcept {
    member* mine = present();
    if (!classes::serves(size, align)) return deallocate_large(mine, p, part::large_size(size), align);
    const std::size_t list = classes::index(size, align);
    if (mine == nullptr && list < cached) mine = attach();
    const slot alone = address_of(p);
    if (mine == nullptr) return owner_of(p).give(list, {&alone, 1});
    if (list >= cached) return pass_back(*mine, list, {&alone, 1});
    auto& lists = mine->lists();
    if (lists.keep(list, p, classes::size(list), places(*mine))) return;
    if (!lists.is_open(list)) return pass_back(*mine, list, {&alone, 1});
    do {
      pass_back(*mine, list, lists.oldest(list));
      lists.drop_oldest(list);
    } while (lists.narrow_if_only_freed(list));
    (void)lists.push(list, p);
  }

  // A thread that has given its heap up takes it again, if nobody else has, rather than let the block wait.
  void deallocate_large(member* mine, void* p, std::size_t size, std::size_t align) noexcept {
    member& owner = owner_of(p);
    if (mine == nullptr) mine = members_.attach_if_idle(taken, retire);
    if (&owner == mine)
      owner.deallocate_own(p, size, align);
    else
      owner.give(p, size, align);
  }

  // Precondition: p is one of this heap's blocks.
  [[nodiscard]] member& owner_of(const void* p) const noexcept {
    page_owner* const owner = pages_.owners().owner_of(p);
    MALLARD_CHECK(owner != nullptr);
    return static_cast<member&>(*owner);
  }
  // Blocks of a list go back, at most a batch, by a thread that uses `m`.
  void pass_back(member& m, std::size_t list, std::span<const slot> blocks) noexcept {
    sort(m, list, blocks, [&](std::span<const slot> own) { m.deallocate_own(list, own); });
  }

  // Gives blocks of a list, at most a batch, to their owners: those of `m` by `own(blocks)`. Mostly all have
  // the same owner.
  template <class Own>
  void sort(const member& m, std::size_t list, std::span<const slot> blocks, Own own) const noexcept {
    page_owners::reader owners(pages_.owners());
    const auto owner = [&](slot block) { return owners.owner_of(reinterpret_cast<const void*>(block)); };
    page_owner* const first = owner(blocks.front());
    if (std::all_of(blocks.begin() + 1, blocks.end(), [&](slot b) { return owner(b) == first; })) [[likely]] {
      MALLARD_CHECK(first != nullptr);
      return first == &m ? own(blocks) : static_cast<member&>(*first).give(list, blocks);
    }
    leaving_batch mine;
    std::array<leaving_batch, 2> leaving;  // of the two owners met last
    for (const slot block : blocks) {
      auto* const to = static_cast<member*>(owner(block));
      MALLARD_CHECK(to != nullptr);
      leaving_batch* found = to == &m ? &mine : &leaving[0];
      if (to != &m && to != found->owner) found = &leaving[1];
      if (to != &m && to != found->owner) {
        found->push(list);
        *found = leaving[0];
        found = &leaving[0];
        *found = {to, 0, {}};
      }
      found->blocks[found->count++] = block;
    }
    if (mine.count != 0) own(std::span<const slot>(mine.blocks.data(), mine.count));
    for (const leaving_batch& b : leaving) b.push(list);
  }

  // What is in the magazines waits with the owners, also what is the Heap's own: without a lock.
  void return_all(member& m) const noexcept {
    m.lists().drain([&](std::size_t list, std::span<const slot> blocks) {
      sort(m, list, blocks, [&](std::span<const slot> own) { m.give(list, own); });
    });
  }

  // The same for the blocks of others, while its own stay.
  void return_others(member& m) const noexcept {
    page_owners::reader owners(pages_.owners());
    m.lists().sift([&](slot block) { return owners.owner_of(reinterpret_cast<const void*>(block)) == &m; },
                   [&](std::size_t list, std::span<const slot> blocks) {
                     sort(m, list, blocks, [](std::span<const slot>) {});
                   });
  }

  // Called when its thread ends, under ends_mutex. What a fork leaves behind stays as it is until a thread
  // takes it over: a child that does not use the heap must not depend on what the other threads were doing.
  static void retire(attachment& ending, attachment::end end) noexcept {
    member& m = static_cast<member&>(ending);
    if (end == attachment::end::of_thread)
      retire_blocks(m);
    else
      m.left_behind = true;
    m.of.members_.retired(m);
  }
  // Others' blocks go to their owners. Its own ones wait in the magazines, where the next thread begins with
  // them, and that takes back what has returned before it asks Heap.
  static void retire_blocks(member& m) noexcept {
    m.of.return_others(m);
    m.take_back_soon();
  }
  static void taken(member& m) noexcept {
    if (std::exchange(m.left_behind, false)) retire_blocks(m);
  }

  MALLARD_NOINLINE member* attach() noexcept {
    member* const mine = members_.attach([this] { return make(); }, taken, retire);
    if (mine != nullptr) this_threads_table.remember(*mine);
    return mine;
  }

  // Whole pages, as upstreams give them mostly: what a member leaves of them is room for its magazines.
  static constexpr std::size_t member_bytes = align_up(sizeof(member) + 1024, page_owners::page_bytes);

  member* make() noexcept {
    block memory;
    {
      const auto guard = pages_.lock();
      memory = pages_.upstream().allocate(member_bytes, alignof(member));
    }
    return memory ? ::new (memory.data) member(*this, memory) : nullptr;
  }

  // Its Heap returns what it holds.
  void end(member& m) noexcept {
    m.~member();
    const auto guard = pages_.lock();
    pages_.upstream().deallocate(&m, member_bytes, alignof(member));
  }

  void end_members() noexcept {
    member* m = members_.newest();
    members_.detach_all();
    while (m != nullptr) end(*std::exchange(m, members_.older(*m)));
  }

  // Memory for a magazine.
  auto places(member& m) noexcept {
    return [this, &m](std::size_t align, std::size_t bytes) {
      void* memory = nullptr;
      if (m.room.take(bytes, align, memory)) return static_cast<std::byte*>(memory);
      const auto guard = pages_.lock();
      return store_.cut(0, align, bytes, 1).begin;
    };
  }

  // Calls f(member) with each. Precondition: other threads are quiet or ending, and `f` does not look at what
  // ending threads do: magazines, and what has returned.
  template <class F>
  void for_each(F f) const noexcept {
    for (member* m = members_.newest(); m != nullptr; m = members_.older(*m)) f(*m);
  }
  template <class F>
  void for_each_locked(F f) const noexcept {
    const auto guard = members_.lock();
    for_each(f);
  }

  [[nodiscard]] bool is_member(const page_owner* owner) const noexcept {
    bool is_found = false;
    for_each_locked([&](const member& m) { is_found = is_found || &m == owner; });
    return is_found;
  }

  // Blocks of a list that a Heap has handed out and no caller has.
  [[nodiscard]] std::size_t unused(std::size_t list) const noexcept {
    std::size_t blocks = 0;
    for_each_locked([&](const member& m) {
      if (list < cached) blocks += m.lists().count(list);
      m.for_each_waiting(list, [&](const void*) { return ++blocks != 0; });
    });
    return blocks;
  }

  [[nodiscard]] violation validate_unused(std::size_t list) const noexcept {
    std::size_t handed_out = static_cast<std::size_t>(-1);
    if constexpr (keeps_batches<Heap>) {
      handed_out = 0;
      for_each([&](const member& m) { handed_out += m.heap().statistics(list).live(); });
    }
    violation found;
    std::size_t blocks = 0;
    for_each_locked([&](const member& m) {
      if (found) return;
      if (!m.is_linked()) found = {"thread_heaps: a heap is not in its thread's list"};
      m.for_each_waiting(list, [&](const void* p) {
        if (pages_.owners().owner_of(p) != &m)
          found = {"thread_heaps: a block has returned to a heap that it is not from"};
        else if (++blocks > handed_out)
          found = {"thread_heaps: more blocks have returned than were handed out"};
        return !found;
      });
      if (list < cached && !found)
        found = m.lists().validate(list, [&](const void* p) {
          bool is_block = false;
          for_each([&, owner = pages_.owners().owner_of(p)](const member& other) {
            is_block = is_block || owner == &other;
          });
          return is_block && ++blocks <= handed_out;
        });
    });
    return found;
  }

  attached_parts<member> members_;
  alignas(cache_line) mutable pages_of_threads<upstream_type, typename pages::mutex_type> pages_;
  shared_chunks<upstream_ref<upstream_type>, doubling<1024, 8192>> store_;  // of magazines, under the lock
};

}  // namespace mallard
