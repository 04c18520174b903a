// spool: the file that a recorded program and the launcher share, one for each process.
//
//     [spool_header | unrecorded | ring_header 0..n-1 | modules | names | contexts | ring 0 | ... | ring n-1]
//                                                                        ^ shared by threads without one
//
// Each ring has one writer, the thread that owns it, and one reader, the launcher. How many contexts and
// rings there is room for is chosen when the spool is made, by the limits on files and on address space.
// The program maps contexts and rings as it needs them. They are backed by disk space from their
// beginning as far as `contexts_ready` and `rings_ready` say. The rest is a hole, or lies behind the end of
// the file, and nobody touches it: a full disk is noticed by the launcher and never by the program. The pages
// belong to the file, not to a process: what a thread has published survives its death, by whatever signal,
// and the launcher's.
//
// Invariants. A ring's records lie in [tail, head), positions in words that only grow. The owner writes
// words, then publishes head; the reader publishes tail once the events before it are in the journal's
// file. It announces each chunk that it is about to write: it sets `next_size` to UINT64_MAX, notes
// next_tail in each ring and the file's present size in `size`, and then sets next_size to the size that
// the file will have. So whenever the reader is killed:
//     next_size is UINT64_MAX     the file holds what lies before tail
//     the file has next_size      it holds what lies before next_tail
//     the file is shorter         its first `size` bytes hold what lies before tail; the rest is a torn chunk
// A context is written once, before the first event that names it, and its parent has a lower number.
//
// The program holds an open file description lock on the first byte of the file while it lives, by a mapping
// and not by a descriptor (spool_mapping.hpp). The kernel releases it, whatever ends the process and
// whichever process ids it and the launcher see.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace mallard::journal {

inline constexpr char spool_suffix[] = ".spool";  // behind the journal's name
inline constexpr char children_suffix[] =
    ".d";  // the folder of the children's journals, behind the root's name

// The environment variable by which a program learns where to record: "NUMBER:PROCESS:PATH", the recording
// and the process that recorded last before it (0, 0: none), and the path of the root's spool.
inline constexpr char spool_variable[] = "MALLARD_RECORD_SPOOL";

inline constexpr std::uint64_t spool_magic = 0x4c4f4f50534c4d06;
inline constexpr std::size_t spool_page = 4096;  // bytes
inline constexpr std::uint32_t least_rings = 2;  // the shared one, and the first thread's
inline constexpr std::uint32_t max_rings = 1024;
inline constexpr std::uint32_t max_contexts_in_spool = std::uint32_t{1} << 22;
inline constexpr std::size_t module_ring_bytes = std::size_t{256} * 1024;
inline constexpr std::size_t name_bytes = std::size_t{256} * 1024;
inline constexpr std::size_t smallest_ring = spool_page;           // bytes
inline constexpr std::size_t largest_ring = std::size_t{1} << 30;  // bytes
inline constexpr std::size_t default_ring = std::size_t{1} << 20;  // bytes
inline constexpr std::uint32_t deepest_stack = 2048;               // frames that are always recorded
inline constexpr std::uint32_t rings_at_first = 8;
inline constexpr std::uint32_t contexts_at_first = 1U << 14;

enum class stack_mode : std::uint32_t { none = 0, caller = 1, full = 2 };

// By what a program has ended its recording.
enum class limitation : std::uint32_t {
  none = 0,
  strict_mode = 1,  // of seccomp
  clock = 2,        // PR_SET_TSC
};

// What the user asked for; children take it over from their parent's spool.
struct spool_options {
  std::uint64_t ring_words = default_ring / sizeof(std::uint64_t);  // of each ring; a power of two
  std::uint32_t rings = max_rings;                                  // that there is room for
  std::uint32_t contexts = max_contexts_in_spool;                   // the same; a power of two
  stack_mode stacks = stack_mode::full;
  std::uint32_t depth = 0;        // frames of a stack, the innermost ones; 0: all
  std::uint32_t free_stacks = 0;  // not 0: frees have a stack as well
  std::uint32_t children = 1;     // not 0: what the process forks and executes is recorded as well
  std::uint32_t snapshots = 0;    // not 0: windows of allocations have snapshots
};

struct spool_header {
  // Written by who makes the spool: the launcher, or a child for itself.
  std::atomic<std::uint64_t> magic;  // last
  spool_options options;
  std::uint64_t start_ticks;             // when recording of this process began
  std::uint64_t start_unix_ns;           // the same moment
  std::atomic<double> ticks_per_second;  // the launcher's latest estimate, or what a parent knew of it
  std::uint64_t pid_namespace;           // in which its process ids are; 0: not known
  std::uint32_t number;                  // of this recording: the root's is 0, each child takes the next
  std::uint32_t parent_number;           // of a child: of the one that recorded last before it
  std::uint32_t parent_process;          // the process of that; 0: the root
  std::uint32_t described;               // of a child: bytes of the first name, which is no scope's

  // Written by the program.
  alignas(64) std::atomic<std::uint32_t> attached;  // its process id, once the library has begun to record
  std::atomic<std::uint32_t> unmapped;  // not 0: it had no address space for the spool, and records nothing
  std::atomic<std::uint32_t> bypassed;  // the program calls a malloc that the library is not asked for
  std::atomic<std::uint32_t> gave_up;   // it recorded no further, since the launcher had died or hung
  std::atomic<limitation> limited;      // it recorded no further, since it has limited itself
  std::atomic<std::uint32_t> replaced;  // it became another program by exec, which records into its own spool
  std::atomic<std::uint32_t> threads;   // numbers given to threads so far
  std::atomic<std::uint32_t> rings_used;         // one more than the highest ring ever owned
  std::atomic<std::uint32_t> contexts_used;      // numbers given to contexts so far, in blocks
  std::atomic<std::uint32_t> contexts_wanting;   // for which there was no room, or no sight of their stack
  std::atomic<std::uint32_t> shared_ring_taken;  // lock of ring 0
  std::atomic<std::uint32_t> list_taken;         // lock of the modules and of the names
  std::atomic<std::uint32_t> names_used;         // bytes, published
  std::atomic<std::uint64_t> modules_head;       // bytes ever published
  std::atomic<std::uint64_t> deep_bound;  // a name as in a context_entry: of a module that was opened so
                                          // that its calls do not arrive; 0: none
  std::atomic<std::uint64_t> end_cpu_ns;  // CPU time of the process when it exited; 0: it has not
  std::atomic<std::uint64_t>
      peak_rss;  // bytes that it had in memory at most, without the recorder's own; 0: not known
  std::atomic<std::uint32_t> latest_call;  // number of the latest system call that the library has made
  std::atomic<std::uint32_t> open_calls;   // how many have not returned
  std::atomic<std::uint32_t> announced;    // root: grows with each child's spool that is ready
  std::atomic<std::uint32_t> numbered;     // root: children's recordings that have a number
  std::atomic<std::uint32_t> cannot_ring;  // root: not 0: a program may not ring the doorbell

  // Written by the launcher.
  alignas(64) std::atomic<std::uint32_t> heartbeat;  // root: grows with every round of reading
  std::atomic<std::uint32_t> reader;       // root: the launcher's thread, as a robust futex; 0: not known
  std::atomic<std::uint32_t> stopped;      // it reads no further: the program need not record
  std::atomic<std::uint32_t> left_alone;   // it has ended; what the rings still hold room for may be recorded
  std::atomic<std::uint32_t> rings_ready;  // rings backed by disk space
  std::atomic<std::uint32_t> contexts_ready;  // contexts backed by disk space
  std::atomic<std::uint32_t> contexts_full;   // not 0: there will be no more
  std::atomic<std::uint32_t> asleep;          // root: it waits on the doorbell
  std::atomic<std::uint64_t> modules_tail;    // bytes ever read, and in the journal's file
  std::atomic<std::uint64_t> cpu_before_ns;   // CPU time of the programs that the process was before
  std::atomic<std::uint64_t> size;            // bytes: see the invariants
  std::atomic<std::uint64_t> next_size;

  alignas(64) std::atomic<std::uint32_t> doorbell;  // root: futex, rung by the programs
};

// Of the root: a program that ran without being recorded, and why. An entry belongs to the process that
// gives it its key, which also identifies the program and the reason; a process that meets both again adds
// to its count.
struct unrecorded_entry {
  std::atomic<std::uint64_t> key;        // 0: the entry is free
  std::atomic<std::uint32_t> processes;  // that ran it
  std::uint64_t ticks;                   // when the first of them did
  char reason[168];  // both end with a zero; a program that is too long has lost its beginning
  char program[320];
};
inline constexpr std::size_t max_unrecorded = 64;

struct alignas(64) ring_header {
  std::atomic<std::uint64_t> head;  // words ever published
  std::atomic<std::uint64_t> stalls;
  std::atomic<std::uint64_t> stalled_ticks;
  std::atomic<std::uint64_t> sampled_ticks;  // spent in the recorder during the events whose call was timed
  std::atomic<std::uint32_t> owned;          // 1: a thread is its writer

  alignas(64) std::atomic<std::uint64_t> tail;  // words ever read, and in the journal's file
  std::atomic<std::uint64_t> next_tail;         // see the invariants
  std::atomic<std::uint64_t> tail_thread;       // [number:32 | system id:32] of the thread at tail
  std::atomic<std::uint64_t> next_tail_thread;
};

// An entry of the context table: a frame, or a scope that the program named.
struct context_entry {
  std::uint32_t parent;        // 0: none known
  std::uint32_t stack_offset;  // in words, from this return address to the parent's; 0: unknown
  std::uint64_t place;         // the return address; of a scope, scope_bit and where its name stands
};
inline constexpr std::uint64_t scope_bit = std::uint64_t{1} << 63;

// An entry of the modules, in a ring of bytes; followed by the path and then the build id, both without
// a final zero, and padded to 8 bytes. One with an `end` of 0 says that the module at `begin` is gone.
struct module_entry {
  std::uint64_t time;  // ticks since recording began; 0: at the start
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t bias;
  std::uint32_t path_bytes;
  std::uint32_t build_id_bytes;
};

// A name: its length, then its bytes, padded to 4 bytes. Names are never removed.
using name_length = std::uint32_t;

static_assert(sizeof(spool_header) <= spool_page);
static_assert(sizeof(context_entry) == 16);
static_assert(sizeof(unrecorded_entry) == 512);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<double>::is_always_lock_free);

inline constexpr std::size_t unrecorded_at = spool_page;
inline constexpr std::size_t ring_headers_at = unrecorded_at + max_unrecorded * sizeof(unrecorded_entry);
inline constexpr std::size_t modules_at = ring_headers_at + max_rings * sizeof(ring_header);
inline constexpr std::size_t names_at = modules_at + module_ring_bytes;
inline constexpr std::size_t contexts_at = names_at + name_bytes;

[[nodiscard]] constexpr std::size_t rings_at(const spool_options& options) noexcept {
  return contexts_at + options.contexts * sizeof(context_entry);
}

// Where ring `index` begins; of the number of rings, the end of all.
[[nodiscard]] constexpr std::size_t ring_at(const spool_options& options, std::uint64_t index) noexcept {
  return rings_at(options) + index * options.ring_words * sizeof(std::uint64_t);
}

[[nodiscard]] constexpr std::size_t spool_bytes(const spool_options& options) noexcept {
  return ring_at(options, options.rings);
}

// Of the calling process; 0 where /proc does not show it. Process ids of two namespaces mean nothing to each
// other.
[[nodiscard]] inline std::uint64_t own_pid_namespace() noexcept {
  struct stat about{};
  return stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
}

[[nodiscard]] inline char* bytes_of(spool_header* spool, std::size_t at) noexcept {
  return reinterpret_cast<char*>(spool) + at;
}

[[nodiscard]] inline unrecorded_entry* unrecorded_of(spool_header* spool) noexcept {
  return reinterpret_cast<unrecorded_entry*>(bytes_of(spool, unrecorded_at));
}

[[nodiscard]] inline ring_header& ring_of(spool_header* spool, std::uint32_t index) noexcept {
  return reinterpret_cast<ring_header*>(bytes_of(spool, ring_headers_at))[index];
}

// In a spool that is mapped as a whole, which a program does not do.
[[nodiscard]] inline std::uint64_t* ring_words_of(spool_header* spool, std::uint32_t index,
                                                  const spool_options& options) noexcept {
  return reinterpret_cast<std::uint64_t*>(bytes_of(spool, ring_at(options, index)));
}
[[nodiscard]] inline context_entry* contexts_of(spool_header* spool) noexcept {
  return reinterpret_cast<context_entry*>(bytes_of(spool, contexts_at));
}

// Lays out the header of a new, zeroed spool of which `rings` rings are backed, and as many contexts as there
// are at first. A process that finds the file by its name takes it for a spool once it has its magic.
inline void lay_out(spool_header* spool, const spool_options& options, std::uint32_t rings) noexcept {
  spool->options = options;
  spool->contexts_used = 1;  // 0 is the unknown one
  spool->contexts_ready = contexts_at_first;
  spool->rings_ready = rings;
}

[[nodiscard]] constexpr bool is_possible(const spool_options& options) noexcept {
  const std::uint64_t bytes = options.ring_words * sizeof(std::uint64_t);
  return options.ring_words <= largest_ring / sizeof(std::uint64_t) && bytes >= smallest_ring &&
         (bytes & (bytes - 1)) == 0 && options.rings >= least_rings && options.rings <= max_rings &&
         options.contexts >= contexts_at_first && options.contexts <= max_contexts_in_spool &&
         (options.contexts & (options.contexts - 1)) == 0;
}

// The options with room for no more than a spool of `bytes` can hold, as far as that is possible: contexts
// take a quarter of it at most, and rings are smaller if not even the least number fits.
[[nodiscard]] constexpr spool_options fit_into(std::uint64_t bytes, spool_options wanted) noexcept {
  while (wanted.contexts > contexts_at_first && wanted.contexts * sizeof(context_entry) > bytes / 4)
    wanted.contexts /= 2;
  while (wanted.ring_words > smallest_ring / sizeof(std::uint64_t) && ring_at(wanted, least_rings) > bytes)
    wanted.ring_words /= 2;
  while (wanted.rings > least_rings && spool_bytes(wanted) > bytes) --wanted.rings;
  return wanted;
}

// The lock of the process that records into a spool: F_OFD_SETLK takes it, F_OFD_GETLK asks for it.
[[nodiscard]] inline struct flock process_lock() noexcept {
  struct flock first_byte{};
  first_byte.l_type = F_WRLCK;
  first_byte.l_whence = SEEK_SET;
  first_byte.l_len = 1;
  return first_byte;
}

// Whether somebody has that lock of the spool in `descriptor`.
[[nodiscard]] inline bool is_locked_by_process(int descriptor) noexcept {
  struct flock asked = process_lock();
  return fcntl(descriptor, F_OFD_GETLK, &asked) != 0 || asked.l_type != F_UNLCK;
}

[[nodiscard]] inline char* modules_of(spool_header* spool) noexcept { return bytes_of(spool, modules_at); }
[[nodiscard]] inline char* names_of(spool_header* spool) noexcept { return bytes_of(spool, names_at); }

}  // namespace mallard::journal
