/* mallard: heaps for C: a general heap that grows blocks in place and allocates many in one call; regions
 * that end as a whole; reaps, which are both; heaps of segments, of which a process may have thousands.
 *
 *     mallard_heap* heap;
 *     if (mallard_heap_create(&heap, NULL) != MALLARD_OK) return;   // over the system, for one thread
 *     char* text = mallard_heap_allocate(heap, 100);
 *     mallard_heap_destroy(heap);                                   // with all blocks that are still live
 *
 *     program --> mallard_heap --> pages of the system
 *                            \--> or a buffer of the program's, and nothing else
 *
 * For C99 and later, and for C++; link libmallard (CMake: mallard::c, pkg-config: mallard-c). Any number
 * of heaps may exist; except for parents and children they are independent. The default heap is `best_fit`
 * of the C++ library: a tag of 8 bytes in front of each block, and blocks with their tags rounded up to a
 * multiple of 16 bytes.
 *
 * Rules for every function:
 *
 *   sizes       are in bytes unless stated to be in objects. 0 is served as 1: a block of its own.
 *   alignments  are in bytes, powers of two. No block has less than MALLARD_ALIGNMENT.
 *   failure     is NULL, false or a status. Nothing throws or aborts. If memory is exhausted, no live block
 *               has changed, and the heap still serves what it can. Invalid arguments (an alignment that is
 *               no power of two, a product that overflows) fail in the same way.
 *   pointers    must be of live heaps, and of live blocks of that heap; NULL only where stated.
 *   threads     Any thread may call any function of a heap made with MALLARD_LOCKED at any time, except
 *               mallard_heap_destroy. With MALLARD_CACHED, functions for a whole heap (clear, trim, measure,
 *               validate) also need all other threads to be outside the heap. Other heaps may be used by one
 *               thread at a time. Any thread may free a block that another has allocated. A child process
 *               may use a heap if no other thread was inside it at the fork. A heap and its children count
 *               as one heap. A MALLARD_SEGMENTS has an owner: see there.
 *   cost        is O(1) for blocks below 1 KiB and O(log size) above, unless stated; occasionally a chunk is
 *               taken from the system or from the buffer as well. A locked heap takes its lock once per
 *               call, mallard_heap_reallocate a few times; a cached one rarely for blocks up to 1000 bytes,
 *               otherwise as a locked one.
 *
 * Later versions may add functions, and members at the ends of the structs that start with their size;
 * programs built against this header continue to work. Symbols are versioned.
 * Seed 001, chapters 1 and 2 (its dl_allocation_command, dl_multialloc_nodes, dl_multialloc_arrays and
 * dl_multidealloc); seed 002, section 8.
 */
#ifndef MALLARD_H
#define MALLARD_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define MALLARD_API __attribute__((visibility("default")))
#else
#define MALLARD_API
#endif
#ifdef __cplusplus
#define MALLARD_NOEXCEPT noexcept
extern "C" {
#else
#define MALLARD_NOEXCEPT
#endif

/* The minimum alignment of every block, in bytes. */
#define MALLARD_ALIGNMENT 16

/* The result of a call that may fail in several ways. */
typedef enum mallard_status {
  MALLARD_OK = 0,
  MALLARD_OUT_OF_MEMORY = 1,    /* the system or the buffer is exhausted */
  MALLARD_INVALID_ARGUMENT = 2, /* an invalid argument, or one unknown to this version */
} mallard_status;

/* --- heaps ------------------------------------------------------------------------------------ */

/* A heap, from mallard_heap_create until mallard_heap_destroy. */
typedef struct mallard_heap mallard_heap;

/* Flags of a heap. */
#define MALLARD_LOCKED 0x1u /* many threads at once, by one lock around each call */
/* Many threads at once, each with a cache of its own: blocks up to 1000 bytes that a thread frees serve
 * its next requests without a lock. A cache takes 2 KiB and keeps at most two batches per size, a batch
 * being what fits into 4 KiB; it is returned when the thread ends or memory runs out. MALLARD_LOCKED makes
 * no difference then. */
#define MALLARD_CACHED 0x2u

/* For a child: it is cleared whenever its parent is. */
#define MALLARD_CLEARED_WITH_PARENT 0x4u

/* Kinds of heaps.
 *
 *                   best_fit     region                    reap                    segments
 *     a block costs 8 bytes      only its alignment        8 bytes                 up to 1/8 of its size
 *     free          coalesces    does nothing              coalesces; none: bumps  to blocks of its size
 *     usable_size   the size     0: a region does not know the size                the size
 *     reallocate    yes          NULL, but for a NULL      yes                     yes
 *     children      no           yes                       yes                     no
 *     first chunk   128 KiB      8 KiB                     8 KiB                   a page for each size
 *
 * For a region, mallard_heap_allocation_command supports only MALLARD_ALLOCATE_NEW, and mallard_heap_trim
 * returns nothing: mallard_heap_clear keeps only its largest chunk. Seed 002, sections 4.2 and 8.
 */
#define MALLARD_BEST_FIT 0u /* serves all sizes from the same memory, and coalesces free blocks */
#define MALLARD_REGION 1u   /* blocks end all at once, by a clear or with the region */
#define MALLARD_REAP 2u     /* as cheap as a region while nothing is freed, otherwise as best_fit */

/* A heap of segments of 64 KiB, which it shares with all others of its kind, for blocks that other threads
 * free: a heap for each subsystem, session or thread.
 *
 *     owner    everything      -->  heap  -->  segments of the process, for the next heap as well
 *     others   mallard_heap_free  ---^         by one compare-and-swap
 *
 * Its owner is the thread that has created it, or has called mallard_heap_adopt since. Other threads may
 * call mallard_heap_free, mallard_heap_free_chain and mallard_heap_usable_size for its live blocks at any
 * time, without a lock; freeing a block above 32 KiB takes one of the process. Everything else is its
 * owner's alone, but mallard_heap_destroy, which may be any thread's. With MALLARD_LOCKED it has no owner.
 *
 * It lies in a page, at most 4 KiB, and holds nothing else until it is used; blocks cannot lie in a
 * buffer. A block up to 32 KiB is one of its size class, without a header; above that it has segments of
 * its own, which grow where what follows is free. Memory that it no longer needs serves any other heap of
 * segments, and returns to the system half a second later, when such a heap is used. Seed 002, section 4.2;
 * seed 003, chapter 3. */
#define MALLARD_SEGMENTS 3u

/* Options of a new heap. Start with MALLARD_HEAP_OPTIONS and change members. */
typedef struct mallard_heap_options {
  size_t size;        /* of this struct, in bytes, as the program was compiled */
  unsigned kind;      /* MALLARD_BEST_FIT, MALLARD_REGION, MALLARD_REAP or MALLARD_SEGMENTS */
  unsigned flags;     /* MALLARD_LOCKED; for best_fit also MALLARD_CACHED; or 0 */
  void* buffer;       /* for the heap and all its blocks; NULL: pages of the system */
  size_t buffer_size; /* bytes of the buffer; 0 without one */
} mallard_heap_options;

/* The defaults: best_fit over the system, for one thread. */
#define MALLARD_HEAP_OPTIONS {sizeof(mallard_heap_options), MALLARD_BEST_FIT, 0, NULL, 0}

/* Creates a heap in `*created`, NULL on failure. `options` may be NULL for the defaults. Over the system a
 * heap takes a page at once and chunks on demand. In a buffer, of any alignment, the heap itself takes
 * less than 4 KiB, and no memory comes from elsewhere; the buffer belongs to the heap until
 * mallard_heap_destroy. O(1).
 *
 *   MALLARD_OUT_OF_MEMORY     there is no page, or the buffer is too small for the heap itself
 *   MALLARD_INVALID_ARGUMENT  an unknown kind, a flag that the kind does not support, or a later member; a
 *                             size that no version's options have; a buffer size without a buffer; a
 *                             buffer for a MALLARD_SEGMENTS
 */
MALLARD_API mallard_status mallard_heap_create(mallard_heap** created,
                                               const mallard_heap_options* options) MALLARD_NOEXCEPT;

/* Creates a child of a heap, of the same kind, in `*created`, NULL on failure. It has chunks of its own
 * and ends with its parent, or before. If its parent ends first, the child holds nothing and returns NULL
 * for every request; its handle remains and must be destroyed as any other. `flags`: 0, or
 * MALLARD_CLEARED_WITH_PARENT. O(1). Seed 002, section 8 (regionCreate).
 *
 * A child of a heap that has ended in this way is created, and has ended as well.
 *
 *   MALLARD_OUT_OF_MEMORY     there is no page for it
 *   MALLARD_INVALID_ARGUMENT  the parent is a best_fit or of segments, is locked, or lies in a buffer;
 *                             an unknown flag */
MALLARD_API mallard_status mallard_heap_create_child(mallard_heap** created, mallard_heap* parent,
                                                     unsigned flags) MALLARD_NOEXCEPT;

/* Ends a heap and all its blocks; its memory returns to the system, or to the next heap of the process.
 * NULL does nothing. No other thread may be in the heap. O(chunks and blocks above 128 KiB). */
MALLARD_API void mallard_heap_destroy(mallard_heap* heap) MALLARD_NOEXCEPT;

/* Makes the calling thread the owner of a MALLARD_SEGMENTS, which another thread hands over: that one uses
 * the heap no more, not even to free, from then on until this call has returned. Further threads may free
 * meanwhile. Of a heap without an owner it changes nothing. O(1). */
MALLARD_API void mallard_heap_adopt(mallard_heap* heap) MALLARD_NOEXCEPT;

/* Ends all blocks. The heap keeps its chunks for new ones; mallard_heap_trim returns them. A region keeps
 * only its largest chunk, until it ends; a heap of segments keeps none. In other heaps blocks above 128 KiB
 * are outside chunks and return at once. O(chunks and such blocks). Seed 002, section 8 (regionDelete). */
MALLARD_API void mallard_heap_clear(mallard_heap* heap) MALLARD_NOEXCEPT;

/* Returns chunks without live blocks until at most `keep` bytes of them are held; live blocks stay. The
 * result is the number of bytes returned. O(chunks), and the coalescing of up to 512 freed blocks. */
MALLARD_API size_t mallard_heap_trim(mallard_heap* heap, size_t keep) MALLARD_NOEXCEPT;

/* --- one block -------------------------------------------------------------------------------- */

/* A block of at least `size` bytes, aligned to MALLARD_ALIGNMENT, of undefined contents. NULL: exhausted. */
MALLARD_API void* mallard_heap_allocate(mallard_heap* heap, size_t size) MALLARD_NOEXCEPT;

/* The same, aligned to `alignment`; also NULL if that is no power of two. Padding in front of the block
 * serves other blocks, except in a region and for blocks above 128 KiB. */
MALLARD_API void* mallard_heap_allocate_aligned(mallard_heap* heap, size_t alignment,
                                                size_t size) MALLARD_NOEXCEPT;

/* Frees a block, however it was allocated. NULL does nothing. */
MALLARD_API void mallard_heap_free(mallard_heap* heap, void* block) MALLARD_NOEXCEPT;

/* Changes the size of a block, in place if possible, and returns its address; the contents stay up to the
 * smaller size. For a NULL block: as mallard_heap_allocate. NULL: exhausted, the block is unchanged. A
 * block that moves has the alignment MALLARD_ALIGNMENT, whatever it had before. O(size) if it moves. */
MALLARD_API void* mallard_heap_reallocate(mallard_heap* heap, void* block, size_t size) MALLARD_NOEXCEPT;

/* The usable size of a block, at least the requested one, all of it the caller's. 0 for NULL. O(1). */
MALLARD_API size_t mallard_heap_usable_size(const mallard_heap* heap, const void* block) MALLARD_NOEXCEPT;

/* --- growing and shrinking in place -------------------------------------------------------------- */

/* What a command may do, as bits. The ways to grow are tried in the order forward, backward, new. */
#define MALLARD_ALLOCATE_NEW 0x01u        /* a new block; the old one stays alive */
#define MALLARD_EXPAND_FWD 0x02u          /* the block's end moves up */
#define MALLARD_EXPAND_BWD 0x04u          /* its start moves down; its end up, too, with MALLARD_EXPAND_FWD */
#define MALLARD_SHRINK_IN_PLACE 0x08u     /* its end moves down, at least to the limit */
#define MALLARD_NOTHROW_ALLOCATION 0x10u  /* has no effect: no command throws */
#define MALLARD_TRY_SHRINK_IN_PLACE 0x40u /* the same as far as possible, even if not at all */

/* The result of a command. */
typedef struct mallard_command_result {
  void* first;     /* the block now; NULL: nothing has changed */
  size_t received; /* whole objects that fit into it now; 0 with NULL */
  bool reused;     /* it is the old block, grown or shrunk; false: it is a new one */
} mallard_command_result;

/* Grows or shrinks the block `reuse`, an array of objects, or allocates a new one, in one call.
 *
 *      limit       objects: the minimum of a grown, the maximum of a shrunk block
 *      preferred   objects: the best size. Growing: limit <= preferred; shrinking: preferred <= limit
 *
 *     growing      to `preferred` if possible, at least to `limit`. Backward, the start moves by a multiple
 *                  of object_size; the caller moves the objects, which stay in place. A new block leaves the
 *                  old one alive, for the caller to copy and free. A NULL `reuse` grows only by
 *                  MALLARD_ALLOCATE_NEW.
 *     shrinking    to `preferred` if possible, at most to `limit`; it never moves or copies.
 *
 * `object_size` is the size of an object, `alignment` the alignment of objects, as the block was
 * allocated.
 *
 * `first` is NULL if nothing that `command` names is possible; also for a command that names both ways to
 * grow and ways to shrink, or neither, or unknown bits; for an object_size of 0; for an alignment that is
 * no power of two. Neighbours are found in O(1); MALLARD_EXPAND_FWD and MALLARD_EXPAND_BWD without
 * MALLARD_ALLOCATE_NEW coalesce up to 512 freed blocks if that is not enough. Seed 001, "New functions for
 * expansion capabilities".
 */
MALLARD_API mallard_command_result mallard_heap_allocation_command(mallard_heap* heap, unsigned command,
                                                                   size_t object_size, size_t alignment,
                                                                   size_t limit, size_t preferred,
                                                                   void* reuse) MALLARD_NOEXCEPT;

/* --- many blocks ------------------------------------------------------------------------------ */

/* Blocks linked through their first words. Writing into a block breaks the chain: take the block out
 * before. A chain is a value that owns nothing; dropping it does not free its blocks.
 *
 *     first --> [next| ... ] --> [next| ... ] --> [NULL| ... ] <-- last */
typedef struct mallard_chain {
  void* first;  /* NULL if empty */
  void* last;   /* NULL if empty */
  size_t count; /* blocks */
} mallard_chain;

/* No block. */
#define MALLARD_CHAIN {NULL, NULL, 0}

/* Bytes of adjacent blocks carved from one free block: the default, 4096; or as many as there are. */
#define MALLARD_CONTIGUOUS_DEFAULT ((size_t)0)
#define MALLARD_CONTIGUOUS_ALL ((size_t)-1)

/* Appends `count` blocks to `out`, each of at least `size` bytes, aligned to `alignment`, to be freed one
 * by one or in chains. Up to `contiguous` bytes of blocks, but at least one block, are carved from one
 * free block: a small value fills holes, a large one puts blocks side by side. It is a hint: without a
 * large enough free block the runs are shorter, and blocks above 128 KiB are never adjacent. O(1) per
 * block, and a search per run.
 * False: exhausted, or an alignment that is no power of two; nothing is allocated then, and `out` is
 * unchanged. Only in a locked region, blocks allocated before the failure stay in use until it is cleared.
 * Seed 001, chapter 2 (dl_multialloc_nodes, there with the limit in nodes). */
MALLARD_API bool mallard_heap_allocate_nodes(mallard_heap* heap, mallard_chain* out, size_t count,
                                             size_t size, size_t alignment,
                                             size_t contiguous) MALLARD_NOEXCEPT;

/* The same for arrays: the i-th of the `count` blocks has at least lengths[i] * object_size bytes, in the
 * order of `lengths`. Also false if a product overflows. Seed 001, chapter 2 (dl_multialloc_arrays). */
MALLARD_API bool mallard_heap_allocate_arrays(mallard_heap* heap, mallard_chain* out, const size_t* lengths,
                                              size_t count, size_t object_size, size_t alignment,
                                              size_t contiguous) MALLARD_NOEXCEPT;

/* Frees all blocks of a chain, of any sizes and however they were allocated; the chain is empty
 * afterwards. O(1) per block; adjacent blocks in sequence are merged first, which is cheaper than single
 * frees. Seed 001, chapter 2 (dl_multidealloc). */
MALLARD_API void mallard_heap_free_chain(mallard_heap* heap, mallard_chain* chain) MALLARD_NOEXCEPT;

/* Functions of chains: all O(1), for one thread at a time. A block must have at least the size of a
 * pointer, as every block of a heap has. Seed 001, chapter 2 ("Multiallocation chain functions"). */

/* The block linked behind `block`, which is in a chain; NULL behind the last. */
static inline void* mallard_chain_next(const void* block) {
  void* next;
  memcpy(&next, block, sizeof next);
  return next;
}

/* Puts a block in front of all others. */
static inline void mallard_chain_push_front(mallard_chain* chain, void* block) {
  memcpy(block, &chain->first, sizeof chain->first);
  chain->first = block;
  if (chain->last == NULL) chain->last = block;
  ++chain->count;
}

/* Puts a block behind all others. */
static inline void mallard_chain_push_back(mallard_chain* chain, void* block) {
  void* const none = NULL;
  memcpy(block, &none, sizeof none);
  if (chain->last == NULL)
    chain->first = block;
  else
    memcpy(chain->last, &block, sizeof block);
  chain->last = block;
  ++chain->count;
}

/* Removes the first block and returns it; NULL if there is none. */
static inline void* mallard_chain_pop_front(mallard_chain* chain) {
  void* const taken = chain->first;
  if (taken == NULL) return NULL;
  chain->first = mallard_chain_next(taken);
  if (chain->first == NULL) chain->last = NULL;
  --chain->count;
  return taken;
}

/* Moves all blocks of `other`, another chain, behind those of `chain`; `other` is empty afterwards. */
static inline void mallard_chain_splice_back(mallard_chain* chain, mallard_chain* other) {
  const mallard_chain none = MALLARD_CHAIN;
  if (other->first == NULL) return;
  if (chain->last == NULL)
    chain->first = other->first;
  else
    memcpy(chain->last, &other->first, sizeof other->first);
  chain->last = other->last;
  chain->count += other->count;
  *other = none;
}

/* --- figures ---------------------------------------------------------------------------------- */

/* Figures of a heap, in bytes. Memory that is held is in use, or cached, or the heap's own: tags, tables,
 * padding. */
typedef struct mallard_heap_statistics {
  size_t size;   /* of this struct, in bytes, as the program was compiled */
  size_t in_use; /* of live blocks, by usable_size; for a region what it has handed out since a clear */
  size_t held;   /* taken from the system or the buffer and not returned, with the heap itself */
  size_t cached; /* of these, free for the next requests */
} mallard_heap_statistics;

/* The initial value for mallard_heap_measure. */
#define MALLARD_HEAP_STATISTICS {sizeof(mallard_heap_statistics), 0, 0, 0}

/* Fills in the members that the struct has, by its size, and that this version knows; others are
 * unchanged. MALLARD_INVALID_ARGUMENT: a size that no version's statistics have. By walking: O(blocks). */
MALLARD_API mallard_status mallard_heap_measure(const mallard_heap* heap,
                                                mallard_heap_statistics* statistics) MALLARD_NOEXCEPT;

/* Checks the whole heap for damage by writes beyond blocks or into freed ones. NULL: intact; otherwise an
 * English description of the damage, a static string. O(blocks log chunks). */
MALLARD_API const char* mallard_heap_validate(const mallard_heap* heap) MALLARD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#undef MALLARD_API
#undef MALLARD_NOEXCEPT

#endif
