// The heap concept and the capabilities a heap may add to it.
//
// A heap is a plain class with two members. Everything else is a capability: a concept below names it, and
// code tests for it (`if constexpr (mallard::releasable<H>)`) instead of assuming it. docs/heap-concept.md
// explains each with examples. Rules for every heap:
//
//   size     in bytes. 0 is served as 1: a block of its own, with its own address. A size above
//            max_request, or one that would overflow when rounded up, returns a null block.
//   align    in bytes, a power of two (a precondition, checked in debug builds). The block has that
//            alignment, or is null; never a weaker one.
//   received block.size >= the requested size; all of it belongs to the caller.
//   freed    with any size between the requested and the received one (after a resize: of the latest)
//            and the same alignment. Precondition: the pointer is a live block of this heap.
//   failure  a null block; no block has changed, and the heap still serves what it can. It may have
//            returned memory that it had kept for later. No member throws.
//   threads  the caller serialises calls on one heap unless the heap is `concurrent`. Blocks have no
//            thread affinity: any thread may free a block that another has allocated.
//   identity heaps are neither copied nor moved: blocks, facades and children hold their address.
//   end      the destructor returns everything to the upstream; live blocks end with the heap.
//
// Each concept checks members and noexcept; comments beside them define the meaning.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/resize.hpp"
#include "mallard/core/usage.hpp"

namespace mallard {

// block allocate(size, align) noexcept;            a block of at least `size` bytes, or null
// void  deallocate(p, size, align) noexcept;       ends the block at p
template <class H>
concept heap = requires(H& h, void* p, std::size_t size, std::size_t align) {
  { h.allocate(size, align) } noexcept -> std::same_as<block>;
  { h.deallocate(p, size, align) } noexcept -> std::same_as<void>;
};

// A heap over another one, its upstream, which provides its chunks. Sources have none.
template <class H>
concept layered = heap<H> && requires(H& h) {
  typename H::upstream_type;
  { h.upstream() } noexcept -> std::same_as<typename H::upstream_type&>;
};

// --- ends of many blocks at once ------------------------------------------------------------

// void release() noexcept;     ends every block and returns every chunk upstream: wink-out.
//                              The heap is as new. O(chunks).
template <class H>
concept releasable = heap<H> && requires(H& h) {
  { h.release() } noexcept -> std::same_as<void>;
};

// void clear() noexcept;       ends every block but keeps chunks for reuse, as the heap documents.
//                              O(chunks).
template <class H>
concept clearable = heap<H> && requires(H& h) {
  { h.clear() } noexcept -> std::same_as<void>;
};

// size_t trim(keep) noexcept;  returns chunks without live blocks upstream until at most `keep` bytes
//                              of them are held; live blocks stay. The result is the bytes returned.
template <class H>
concept trimmable = heap<H> && requires(H& h, std::size_t keep) {
  { h.trim(keep) } noexcept -> std::same_as<std::size_t>;
};

// mark_type mark() const;      a point in the order of allocations.
// void rewind(mark) noexcept;  ends every block allocated since; older blocks stay. Marks taken since
//                              end too; clear() and release() end all marks. Chunks may be kept.
//                              A block resized since counts as allocated since.
template <class H>
concept rewindable = heap<H> && requires(H& h, const H& c) {
  typename H::mark_type;
  { c.mark() } noexcept -> std::same_as<typename H::mark_type>;
  { h.rewind(c.mark()) } noexcept -> std::same_as<void>;
};

// void return_to_system(p, size, align) noexcept;   ends the block at p as deallocate does, but memory that
//                              would be kept for the next request goes back to the system.
template <class H>
concept caching = heap<H> && requires(H& h, void* p, std::size_t size, std::size_t align) {
  { h.return_to_system(p, size, align) } noexcept -> std::same_as<void>;
};

// block allocate(size, align, is_fresh) noexcept;   as allocate; sets `is_fresh`: whether the system has just
//                              mapped all of the block, so that the first touch of each page is a page fault.
//                              False with a null block.
template <class H>
concept tells_fresh = heap<H> && requires(H& h, std::size_t size, std::size_t align, bool& is_fresh) {
  { h.allocate(size, align, is_fresh) } noexcept -> std::same_as<block>;
  requires !requires { h.allocate(size, align, true); };  // a third argument of another meaning
};

// --- what a heap knows about one block ------------------------------------------------------

// void deallocate(p) noexcept; ends the block at p, its size being known to the heap.
template <class H>
concept freeable = heap<H> && requires(H& h, void* p) {
  { h.deallocate(p) } noexcept -> std::same_as<void>;
};

// size_t usable_size(p) const noexcept;   received size, in bytes, of the live block at p.
template <class H>
concept measurable = heap<H> && requires(const H& c, const void* p) {
  { c.usable_size(p) } noexcept -> std::same_as<std::size_t>;
};

// size_t received_size(size, align) const noexcept;   the received size for such a request, 0 if it
//                              cannot be served. The same for every size between the requested
//                              and the received one.
template <class H>
concept predictable = heap<H> && requires(const H& c, std::size_t size, std::size_t align) {
  { c.received_size(size, align) } noexcept -> std::same_as<std::size_t>;
};

// bool owns(p) const noexcept; whether p points into memory this heap holds (into a chunk, not
//                              necessarily a live block).
template <class H>
concept owning = heap<H> && requires(const H& c, const void* p) {
  { c.owns(p) } noexcept -> std::same_as<bool>;
};

// size_t block_size() const noexcept;     every block has this size, in bytes; larger requests are
// size_t block_align() const noexcept;    answered with null, and so are stricter alignments.
template <class H>
concept fixed_size = heap<H> && requires(const H& c) {
  { c.block_size() } noexcept -> std::same_as<std::size_t>;
  { c.block_align() } noexcept -> std::same_as<std::size_t>;
};

// --- changing a block's size in place -------------------------------------------------------

// resize_result resize(const resize_request&) noexcept;   see resize.hpp
// static constexpr resize_way ways;                       the ways this heap knows at all; others
//                                                         in a request are ignored
template <class H>
concept resizable = heap<H> && requires(H& h, const resize_request& request) {
  { H::ways } -> std::convertible_to<resize_way>;
  { h.resize(request) } noexcept -> std::same_as<resize_result>;
};

template <class H>
concept expandable =
    resizable<H> && has_way(H::ways, resize_way::expand_forward | resize_way::expand_backward);

template <class H>
concept shrinkable = resizable<H> && has_way(H::ways, resize_way::shrink | resize_way::try_shrink);

// --- bursts ---------------------------------------------------------------------------------

// bool allocate_burst(out, count, size, align, contiguous) noexcept;
//      appends `count` blocks of at least max(size, sizeof(void*)) bytes to `out`, each to be ended
//      on its own or in a burst; all or none. Runs of up to `contiguous` bytes are adjacent where
//      the heap can do so; 0 leaves it to the heap.
// void deallocate_burst(blocks, size, align) noexcept;
//      ends all blocks of the chain, which is empty afterwards; one size for all.
template <class H>
concept burst = heap<H> && requires(H& h, chain& c, std::size_t n) {
  { h.allocate_burst(c, n, n, n, n) } noexcept -> std::same_as<bool>;
  { h.deallocate_burst(c, n, n) } noexcept -> std::same_as<void>;
};

// bool allocate_burst(out, lengths, count, unit, align, contiguous) noexcept;
//      appends `count` blocks to `out`, the i-th of at least max(lengths[i] * unit, sizeof(void*))
//      bytes; all or none, and none if a product overflows. Otherwise as above.
// void deallocate_burst(blocks) noexcept;
//      ends all blocks of the chain, which is empty afterwards; blocks of any sizes.
template <class H>
concept burst_of_sizes = freeable<H> && requires(H& h, chain& c, const std::size_t* lengths, std::size_t n) {
  { h.allocate_burst(c, lengths, n, n, n, n) } noexcept -> std::same_as<bool>;
  { h.deallocate_burst(c) } noexcept -> std::same_as<void>;
};

// --- nesting --------------------------------------------------------------------------------

// How a child region depends on its parent: it ends with the parent; the second kind is also cleared whenever
// the parent is cleared, and continues.
enum class nesting { ends_with_parent, cleared_with_parent };

// H(H& parent, nesting);       a child: its chunks come from the parent's upstream, and it is ended
//                              by the parent as `nesting` says.
// H* parent() const noexcept;  null for a root, and for a child whose parent has ended.
// bool ended() const noexcept; true once the parent has ended: the child holds nothing, allocates
//                              nothing (null), and may be destroyed at any time.
template <class H>
concept nestable = releasable<H> && std::constructible_from<H, H&, nesting> && requires(const H& c) {
  { c.parent() } noexcept -> std::same_as<H*>;
  { c.ended() } noexcept -> std::same_as<bool>;
};

// Whether `args` construct an H, and not a child: a heap that keeps memory of an upstream of its own takes
// none that ends before it does.
template <class H, class... Args>
concept constructible_as_root = std::constructible_from<H, Args...> &&
                                ((!std::same_as<std::remove_cvref_t<Args>, nesting> && ...) || !nestable<H>);

// --- threads --------------------------------------------------------------------------------

// static constexpr bool is_concurrent = true;
//      several threads at once may call allocate, deallocate, resize, the bursts, usable_size,
//      received_size, owns, flush, held and max_held, as far as the heap has them. What walks or ends
//      the whole heap (usage, validate, clear, release, rewind, trim), construction and destruction
//      need the other threads quiet.
template <class H>
concept concurrent = heap<H> && requires { requires static_cast<bool>(H::is_concurrent); };

// void flush() noexcept;       returns the calling thread's cached blocks to the shared part.
//                              A thread's end does the same; neither needs the other threads.
template <class H>
concept thread_caching = concurrent<H> && requires(H& h) {
  { h.flush() } noexcept -> std::same_as<void>;
};

// --- inspection -----------------------------------------------------------------------------

// heap_usage usage() const noexcept;   bytes held, carved and granted, found by walking. O(memory held).
// violation validate() const noexcept;     walks every structure; the first broken invariant, or none. A walk
//                              of free and large blocks, chunks and runs, and a lookup of O(log chunks and
//                              runs) for each. MALLARD_VALIDATE calls it where many blocks end.
template <class H>
concept inspectable = heap<H> && requires(const H& c) {
  { c.usage() } noexcept -> std::same_as<heap_usage>;
  { c.validate() } noexcept -> std::same_as<violation>;
};

// size_t held() const noexcept;       bytes handed out by a source now
// size_t max_held() const noexcept;   and the peak so far. Counted per chunk, off the hot path.
template <class H>
concept counted = heap<H> && requires(const H& c) {
  { c.held() } noexcept -> std::same_as<std::size_t>;
  { c.max_held() } noexcept -> std::same_as<std::size_t>;
};

namespace detail {

// Types that only some heaps have; for the others a type that satisfies no concept.
struct none_such {};
template <class Heap>
struct upstream_type_of {
  using type = none_such;
};
template <layered Heap>
struct upstream_type_of<Heap> {
  using type = typename Heap::upstream_type;
};
template <class Heap>
struct mark_type_of {
  using type = none_such;
};
template <rewindable Heap>
struct mark_type_of<Heap> {
  using type = typename Heap::mark_type;
};

}  // namespace detail

// The name of a heap in tables, plans and command lines. Each complete heap specialises it beside its
// definition; `a/b` is a over upstream b. Users specialise it for heaps of their own.
template <class Heap>
inline constexpr std::string_view heap_name{};

template <class Heap>
concept named = !heap_name<Heap>.empty();

}  // namespace mallard
