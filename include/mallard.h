/* mallard: heaps for C. A general one that grows blocks where they are and allocates many of them in one
 * call; regions that end as a whole; reaps, which are both.
 *
 *     mallard_heap* heap;
 *     if (mallard_heap_create(&heap, NULL) != MALLARD_OK) return;   // over the system, for one thread
 *     char* text = mallard_heap_allocate(heap, 100);
 *     mallard_heap_destroy(heap);                                   // and all blocks that still live
 *
 *     program --> mallard_heap --> pages of the system
 *                            \--> or a buffer of the program's, and nothing else
 *
 * For C99 and later, and for C++; link libmallard (CMake: mallard::c, pkg-config: mallard-c). Many heaps may
 * live at once and know nothing of each other, but for parents and children. The usual heap is `best_fit` of
 * the library in C++: 8 bytes in front of each block, and blocks rounded up to a multiple of 16 bytes with
 * them.
 *
 * What holds for every function here:
 *
 *   sizes       are in bytes where they are not said to be in objects. 0 is served as 1: a block of its own.
 *   alignments  are in bytes, powers of two. No block is aligned to less than MALLARD_ALIGNMENT.
 *   failure     is NULL, false or a status. Nothing throws, and nothing aborts. Where memory is exhausted no
 *               live block has changed, and the heap serves what it still can. What cannot be meant (an
 *               alignment that is no power of two, a product that overflows) is answered in the same way.
 *   pointers    are those of live heaps, and of live blocks of that very heap; NULL where it is said.
 *   threads     of a heap made with MALLARD_LOCKED any thread may call any function at any time, but
 *               mallard_heap_destroy; of one made with MALLARD_CACHED also those about a whole heap (clear,
 *               trim, measure, validate) are for times when no other thread is in it; of others one thread at
 *               a time. Any thread may free what another has allocated. A child process may use the heaps
 *               that no other thread was in when it was forked. A heap and its children count as one.
 *   cost        is O(1) for blocks below 1 KiB and O(log size) above where nothing else is said; now and
 *               then a chunk is taken besides, from the system or from the holes of the buffer. A locked heap
 *               takes its lock once a call, and for mallard_heap_reallocate a few times; a cached one for
 *               blocks up to 1000 bytes hardly ever, and as a locked one for all else.
 *
 * Later versions add functions, and members at the ends of the structs that begin with their size: programs
 * built against this header go on working. Symbols are versioned.
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

/* What every block is aligned to, in bytes. */
#define MALLARD_ALIGNMENT 16

/* How a call went that may fail in several ways. */
typedef enum mallard_status {
  MALLARD_OK = 0,
  MALLARD_OUT_OF_MEMORY = 1,    /* the system, or the buffer, has not enough */
  MALLARD_INVALID_ARGUMENT = 2, /* what was asked for means nothing, or nothing to this version */
} mallard_status;

/* --- heaps ------------------------------------------------------------------------------------ */

/* A heap. It is made by mallard_heap_create and lives until mallard_heap_destroy. */
typedef struct mallard_heap mallard_heap;

/* Flags of a heap. */
#define MALLARD_LOCKED 0x1u /* many threads at once, by one lock around each call */
/* Many threads at once, each with a cache of its own: blocks up to 1000 bytes that a thread frees serve its
 * next requests, without a lock. What it keeps, at most two batches a size of what fits into 4 KiB beside 2
 * KiB for the cache itself, goes back when it ends, or where memory is exhausted for it. With MALLARD_LOCKED
 * the same. */
#define MALLARD_CACHED 0x2u

/* Of a child: whenever its parent is cleared the child is, too. */
#define MALLARD_CLEARED_WITH_PARENT 0x4u

/* The heaps that there are.
 *
 *                        best_fit       region                          reap
 *     a block costs      8 bytes        nothing but its alignment       8 bytes
 *     free               joins          does nothing                    joins; without it, blocks are bumped
 *     usable_size        what it has    0: a region does not know       what it has
 *     reallocate         yes            NULL, but of a NULL block       yes
 *     children           no             yes                             yes
 *     first chunk        128 KiB        8 KiB                           8 KiB
 *
 * Of a region mallard_heap_allocation_command knows MALLARD_ALLOCATE_NEW alone, and mallard_heap_trim gives
 * nothing back: what mallard_heap_clear keeps is its largest chunk. Seed 002, sections 4.2 and 8. */
#define MALLARD_BEST_FIT 0u /* serves any size from the same memory, and joins what is free */
#define MALLARD_REGION 1u   /* blocks end all at once: by a clear, or with the region */
#define MALLARD_REAP 2u     /* as cheap as a region while nothing is freed, and else as best_fit */

/* What heap is wanted. Begin with MALLARD_HEAP_OPTIONS and change what shall differ. */
typedef struct mallard_heap_options {
  size_t size;        /* of this struct, in bytes, as the program was compiled */
  unsigned kind;      /* MALLARD_BEST_FIT, MALLARD_REGION or MALLARD_REAP */
  unsigned flags;     /* MALLARD_LOCKED; of best_fit MALLARD_CACHED; or 0 */
  void* buffer;       /* where the heap and all its blocks lie; NULL: in pages of the system */
  size_t buffer_size; /* bytes of the buffer; 0 without one */
} mallard_heap_options;

/* The usual ones: best_fit over the system, for one thread. */
#define MALLARD_HEAP_OPTIONS {sizeof(mallard_heap_options), MALLARD_BEST_FIT, 0, NULL, 0}

/* Makes a heap: `*created`, NULL where there is none. `options` may be NULL, which means the usual ones. Over
 * the system a heap takes a page at once and others when they are needed. In a buffer, of any alignment, the
 * heap itself takes less than 4 KiB of it, and no memory comes from anywhere else; the buffer is the heap's
 * until mallard_heap_destroy. O(1).
 *
 *   MALLARD_OUT_OF_MEMORY     there is no page, or the buffer is too small for the heap itself
 *   MALLARD_INVALID_ARGUMENT  an unknown kind, a flag that it has not, or a later member; a size that no
 *                             version's options have; a buffer's size without a buffer */
MALLARD_API mallard_status mallard_heap_create(mallard_heap** created,
                                               const mallard_heap_options* options) MALLARD_NOEXCEPT;

/* Makes a child of a heap, of the same kind: `*created`, NULL where there is none. It has chunks of its own
 * and ends with its parent, or before. When its parent ends first, the child holds nothing any more and
 * answers every request with NULL; its handle stays, and is destroyed like any other. `flags`: 0, or
 * MALLARD_CLEARED_WITH_PARENT. O(1). Seed 002, section 8 (regionCreate).
 *
 * A child of what has ended so is made, and has ended, too.
 *
 *   MALLARD_OUT_OF_MEMORY     there is no page for it
 *   MALLARD_INVALID_ARGUMENT  the parent is a best_fit, is locked, or lies in a buffer; an unknown flag */
MALLARD_API mallard_status mallard_heap_create_child(mallard_heap** created, mallard_heap* parent,
                                                     unsigned flags) MALLARD_NOEXCEPT;

/* Ends a heap and all its blocks; memory of the system goes back to it, or to the next heap of the process.
 * NULL: nothing happens. No other thread may be in the heap. O(chunks and blocks above 128 KiB). */
MALLARD_API void mallard_heap_destroy(mallard_heap* heap) MALLARD_NOEXCEPT;

/* Ends all blocks. The heap lives on and keeps its chunks for new ones; mallard_heap_trim gives those back. A
 * region keeps its largest only, which nothing but its end gives back. Of other heaps blocks above 128 KiB
 * are in no chunk, and go back at once. O(chunks and such blocks). Seed 002, section 8 (regionDelete). */
MALLARD_API void mallard_heap_clear(mallard_heap* heap) MALLARD_NOEXCEPT;

/* Gives chunks without live blocks back until at most `keep` bytes of such are held; live blocks stay.
 * Returns the bytes given back. O(chunks), and the joining of up to 512 freed blocks. */
MALLARD_API size_t mallard_heap_trim(mallard_heap* heap, size_t keep) MALLARD_NOEXCEPT;

/* --- one block -------------------------------------------------------------------------------- */

/* A block of at least `size` bytes, aligned to MALLARD_ALIGNMENT, of undefined contents. NULL: exhausted. */
MALLARD_API void* mallard_heap_allocate(mallard_heap* heap, size_t size) MALLARD_NOEXCEPT;

/* The same, aligned to `alignment`; NULL also where that is no power of two. What lies before the block, for
 * it to be aligned, serves other blocks, but in a region, and of blocks above 128 KiB. */
MALLARD_API void* mallard_heap_allocate_aligned(mallard_heap* heap, size_t alignment,
                                                size_t size) MALLARD_NOEXCEPT;

/* Ends a block, however it was allocated. NULL: nothing happens. */
MALLARD_API void mallard_heap_free(mallard_heap* heap, void* block) MALLARD_NOEXCEPT;

/* Gives a block `size` bytes, where it is if that can be done, and returns where it is now; its contents come
 * along, up to the smaller size. A NULL block: as mallard_heap_allocate. NULL: exhausted, the block lives on
 * as it was. A block that moves is aligned to MALLARD_ALIGNMENT, whatever it was aligned to. O(size) where it
 * moves. */
MALLARD_API void* mallard_heap_reallocate(mallard_heap* heap, void* block, size_t size) MALLARD_NOEXCEPT;

/* Bytes that a block really has, all of them the caller's: at least what was asked for. 0 for NULL. O(1). */
MALLARD_API size_t mallard_heap_usable_size(const mallard_heap* heap, const void* block) MALLARD_NOEXCEPT;

/* --- growing and shrinking where it is ---------------------------------------------------------- */

/* What a command may do, as a set of bits. The ways to grow are tried in the order forward, backward, new. */
#define MALLARD_ALLOCATE_NEW 0x01u    /* a new block; the old one lives on */
#define MALLARD_EXPAND_FWD 0x02u      /* the block's end moves up */
#define MALLARD_EXPAND_BWD 0x04u      /* its begin moves down, its end up where MALLARD_EXPAND_FWD says so */
#define MALLARD_SHRINK_IN_PLACE 0x08u /* its end moves down, to the limit at least */
#define MALLARD_NOTHROW_ALLOCATION 0x10u  /* means nothing: no command throws */
#define MALLARD_TRY_SHRINK_IN_PLACE 0x40u /* the same as far as can be, and be it not at all */

/* What a command did. */
typedef struct mallard_command_result {
  void* first;     /* the block now; NULL: nothing has changed */
  size_t received; /* whole objects that fit into it now; 0 with NULL */
  bool reused;     /* it is the old block, grown or shrunk; false: it is a new one */
} mallard_command_result;

/* Grows or shrinks the block `reuse`, an array of objects, or allocates a new one, in one call.
 *
 *      limit       objects: the least a grown, the most a shrunk block may have
 *      preferred   objects: what is wished for. Growing: limit <= preferred; shrinking: preferred <= limit
 *
 *     growing      to `preferred` if that can be had, to `limit` at the least. Backward the begin moves by a
 *                  multiple of object_size; objects stay where they are, for the caller to move. A new block
 *                  leaves the old one alive, for the caller to copy and free. A NULL `reuse` grows by
 *                  MALLARD_ALLOCATE_NEW alone.
 *     shrinking    to `preferred` if that can be had, to `limit` at the most; it never moves or copies.
 *
 * `object_size` is sizeof an object, `alignment` what objects are aligned to, as the block was allocated.
 *
 * `first` is NULL where nothing that `command` names can be done, and for a command that names both ways to
 * grow and ways to shrink, or neither, or unknown bits; for an object_size of 0; for an alignment that is no
 * power of two. What lies beside the block is found in O(1); MALLARD_EXPAND_FWD and MALLARD_EXPAND_BWD
 * without MALLARD_ALLOCATE_NEW join up to 512 freed blocks where that is not enough. Seed 001, "New functions
 * for expansion capabilities". */
MALLARD_API mallard_command_result mallard_heap_allocation_command(mallard_heap* heap, unsigned command,
                                                                   size_t object_size, size_t alignment,
                                                                   size_t limit, size_t preferred,
                                                                   void* reuse) MALLARD_NOEXCEPT;

/* --- many blocks ------------------------------------------------------------------------------ */

/* Blocks linked through their first words. As soon as a program writes into a block it is none of a chain any
 * more: take it out before. Chains are values without an owner; blocks that are forgotten in one live on.
 *
 *     first --> [next| ... ] --> [next| ... ] --> [NULL| ... ] <-- last */
typedef struct mallard_chain {
  void* first;  /* NULL if empty */
  void* last;   /* NULL if empty */
  size_t count; /* blocks */
} mallard_chain;

/* No block. */
#define MALLARD_CHAIN {NULL, NULL, 0}

/* Bytes that may be cut in a row from one free piece: the heap's choice, 4096; and as many as there are. */
#define MALLARD_CONTIGUOUS_DEFAULT ((size_t)0)
#define MALLARD_CONTIGUOUS_ALL ((size_t)-1)

/* Appends `count` blocks to `out`, each of at least `size` bytes, aligned to `alignment`, to be freed one by
 * one or in chains. Up to `contiguous` bytes, but one block at least, are cut in a row from one free piece of
 * memory: little keeps to the holes that there are, much lays blocks side by side. It is a wish: where no
 * piece is as large shorter rows do, and blocks above 128 KiB are never in a row. O(1) a block, and a search
 * a row.
 * False: exhausted, or an alignment that is no power of two; nothing is allocated then, and `out` is as it
 * was. Only of a locked region, what was begun stays in use until that is cleared. Seed 001, chapter 2
 * (dl_multialloc_nodes, there with the limit in nodes). */
MALLARD_API bool mallard_heap_allocate_nodes(mallard_heap* heap, mallard_chain* out, size_t count,
                                             size_t size, size_t alignment,
                                             size_t contiguous) MALLARD_NOEXCEPT;

/* The same of arrays: the i-th of the `count` blocks has at least lengths[i] * object_size bytes, in the
 * order of `lengths`. False also where a product overflows. Seed 001, chapter 2 (dl_multialloc_arrays). */
MALLARD_API bool mallard_heap_allocate_arrays(mallard_heap* heap, mallard_chain* out, const size_t* lengths,
                                              size_t count, size_t object_size, size_t alignment,
                                              size_t contiguous) MALLARD_NOEXCEPT;

/* Ends all blocks of a chain, of any sizes and however they were allocated; the chain is empty afterwards.
 * O(1) a block; neighbours that follow each other are joined first, which makes it cheaper than one by one.
 * Seed 001, chapter 2 (dl_multidealloc). */
MALLARD_API void mallard_heap_free_chain(mallard_heap* heap, mallard_chain* chain) MALLARD_NOEXCEPT;

/* The functions of a chain itself: all O(1), for one thread at a time; a block has at least the size of a
 * pointer, which every block of a heap has. Seed 001, chapter 2 ("Multiallocation chain functions"). */

/* The block linked behind `block`, which is of a chain; NULL behind the last. */
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

/* Takes the first block out; NULL if there is none. */
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

/* What a heap has, in bytes. What is held is in use, or cached, or the heap's own: tags, tables, padding. */
typedef struct mallard_heap_statistics {
  size_t size;   /* of this struct, in bytes, as the program was compiled */
  size_t in_use; /* of live blocks, as usable_size tells; of a region what it has handed out since a clear */
  size_t held;   /* taken from the system or the buffer and not given back, the heap itself included */
  size_t cached; /* of these, free: they serve the next requests */
} mallard_heap_statistics;

/* As mallard_heap_measure wants it. */
#define MALLARD_HEAP_STATISTICS {sizeof(mallard_heap_statistics), 0, 0, 0}

/* Fills in the members that the struct has, by its size, and that this version knows; others are as they
 * were. MALLARD_INVALID_ARGUMENT: a size that no version's statistics have. Found by walking: O(blocks). */
MALLARD_API mallard_status mallard_heap_measure(const mallard_heap* heap,
                                                mallard_heap_statistics* statistics) MALLARD_NOEXCEPT;

/* Looks through the whole heap for what writing beyond blocks, or into freed ones, has destroyed. NULL: all
 * is as it must be; else what is not, in English, a string that lives for ever. O(blocks log chunks). */
MALLARD_API const char* mallard_heap_validate(const mallard_heap* heap) MALLARD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#undef MALLARD_API
#undef MALLARD_NOEXCEPT

#endif
