#include "recorder/preload/spool/spool_mapping.hpp"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>

#include "recorder/preload/spool/raw_calls.hpp"
#include "recorder/preload/spool/reader_watch.hpp"
#include "unwind/rule_cache.hpp"

// Where this library begins and ends, from the linker.
extern "C" [[gnu::visibility("hidden")]] const char library_begin asm("__ehdr_start");
extern "C" [[gnu::visibility("hidden")]] const char library_end asm("_end");

namespace mallard::recorder {
using namespace journal;

context_entry* mapped_contexts[context_pieces];

namespace {

constexpr std::size_t piece_bytes = contexts_in_piece * sizeof(context_entry);
constexpr std::size_t front_bytes = contexts_at + piece_bytes;

// Places in memory, of this process's spool or its parent's. Each ring, and each further piece of contexts,
// has in front of it the page that precedes it in the file.
spool_header* front = nullptr;
bool is_kept = false;  // the front is the parent's, and stays that
std::uint64_t* rings[max_rings];
std::uint64_t ring_words = 0;
std::atomic<std::uint32_t> rings_mapped{0};  // of the present spool; other places are there to be taken again
std::atomic<std::uint32_t> pieces_mapped{0};  // the same
std::atomic<std::uint32_t> is_growing{0};     // a lock

std::size_t ring_bytes() noexcept { return ring_words * sizeof(std::uint64_t); }

char* page_before(void* place) noexcept {
  return place != nullptr ? static_cast<char*>(place) - spool_page : nullptr;
}

// A part of the file, at `where` or, if that is null, anywhere.
char* map(int descriptor, std::size_t begin, std::size_t bytes, void* where) noexcept {
  const int fixed = where != nullptr ? MAP_FIXED : 0;
  void* mapped = raw_map(where, bytes, MAP_SHARED | MAP_NORESERVE | fixed, descriptor, begin);
  if (mapped != nullptr) static_cast<void>(raw_call(SYS_madvise, mapped, bytes, MADV_DONTDUMP));
  return static_cast<char*>(mapped);
}

bool has(int descriptor, std::size_t bytes) noexcept {
  struct stat file{};
  return raw_call(SYS_fstat, descriptor, &file) == 0 && static_cast<std::size_t>(file.st_size) >= bytes;
}

// Locks the spool for as long as this process lives; the error if that fails. What has the lock is the open
// file, which a mapping keeps open: one of its own, so that it is not shared by a child.
int lock(const char* path) noexcept {
  const int descriptor = raw_open(path, O_RDWR);
  if (descriptor < 0) return -descriptor;
  struct flock wanted = journal::process_lock();
  long result = raw_call(SYS_fcntl, descriptor, F_OFD_SETLK, &wanted);
  if (result >= 0) result = raw_call(SYS_mmap, nullptr, spool_page, PROT_NONE, MAP_SHARED, descriptor, 0);
  if (result >= 0) static_cast<void>(raw_call(SYS_madvise, result, spool_page, MADV_DONTFORK));
  raw_close(descriptor);
  return result < 0 ? static_cast<int>(-result) : 0;
}

// Maps as many bytes of the file as there are at `before` once more, those behind them: an old size of 0
// makes a second mapping of the pages at an address, which may be longer. Returns their place, null if there
// is none.
void* map_next(void* before, std::size_t bytes, void* where) noexcept {
  const int fixed = where != nullptr ? MREMAP_FIXED : 0;
  const long mapped = raw_call(SYS_mremap, static_cast<char*>(before) + bytes - spool_page, 0,
                               spool_page + bytes, MREMAP_MAYMOVE | fixed, page_before(where));
  return mapped < 0 ? nullptr : reinterpret_cast<char*>(mapped) + spool_page;
}

// Puts private memory into a place.
void replace(void* begin, std::size_t bytes) noexcept {
  static_assert(names_at % spool_page == 0 && contexts_at % spool_page == 0);
  static_cast<void>(raw_map(begin, bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
}

// Held for a moment while something is mapped. A thread that has to wait for long does without.
class growth_lock {
 public:
  growth_lock() noexcept {
    constexpr int most_rounds = 1000;
    for (int round = 0; !(taken_ = is_growing.exchange(1, std::memory_order_acquire) == 0); ++round) {
      if (round == most_rounds) return;
      pause_for_ns(10'000);
    }
  }
  ~growth_lock() noexcept {
    if (taken_) is_growing.store(0, std::memory_order_release);
  }
  growth_lock(const growth_lock&) = delete;
  growth_lock& operator=(const growth_lock&) = delete;

  [[nodiscard]] bool taken() const noexcept { return taken_; }

 private:
  bool taken_ = false;
};

// The beginning of the spool and its shared ring; null if they cannot be mapped.
spool_header* map_spool(int descriptor, const spool_options& wanted) noexcept {
  if (!has(descriptor, ring_at(wanted, least_rings))) return nullptr;
  char* const begin = map(descriptor, 0, front_bytes, is_kept ? nullptr : front);
  if (begin == nullptr) return nullptr;
  is_kept = false;
  front = reinterpret_cast<spool_header*>(begin);
  mapped_contexts[0] = contexts_of(front);
  if (ring_words != wanted.ring_words) std::fill(rings, rings + max_rings, nullptr);
  ring_words = wanted.ring_words;
  char* const first =
      map(descriptor, ring_at(wanted, 0) - spool_page, spool_page + ring_bytes(), page_before(rings[0]));
  if (first == nullptr) return nullptr;
  rings[0] = reinterpret_cast<std::uint64_t*>(first + spool_page);
  pieces_mapped = rings_mapped = 1;
  is_growing = 0;
  return front;
}

// resident_pages: what of some mappings this process has in memory.
class resident_pages {
 public:
  resident_pages() noexcept : pagemap_(raw_open("/proc/self/pagemap", O_RDONLY)), is_known_(pagemap_ >= 0) {}
  ~resident_pages() noexcept {
    if (pagemap_ >= 0) raw_close(pagemap_);
  }
  resident_pages(const resident_pages&) = delete;
  resident_pages& operator=(const resident_pages&) = delete;

  void count(const void* begin, std::size_t bytes) noexcept {
    count_pages(reinterpret_cast<std::uintptr_t>(begin) / spool_page, (bytes + spool_page - 1) / spool_page);
  }
  void count_pages(std::uint64_t first, std::uint64_t pages) noexcept {
    constexpr std::uint64_t is_present = std::uint64_t{1} << 63;
    constexpr std::size_t at_once = 64;  // there may be little of the program's stack left
    std::uint64_t entries[at_once];
    for (std::uint64_t at = 0; is_known_ && at < pages; at += at_once) {
      const std::size_t some = std::min<std::uint64_t>(at_once, pages - at);
      const long got =
          raw_call(SYS_pread64, pagemap_, entries, some * sizeof *entries, (first + at) * sizeof *entries);
      is_known_ = got == static_cast<long>(some * sizeof *entries);
      for (std::size_t i = 0; is_known_ && i != some; ++i)
        bytes_ += (entries[i] & is_present) != 0 ? spool_page : 0;
    }
  }

  [[nodiscard]] bool is_known() const noexcept { return is_known_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  int pagemap_;
  bool is_known_;
  std::uint64_t bytes_ = 0;
};

// A figure of /proc/self/status, in bytes; 0 where it has none.
std::uint64_t bytes_told(const char* status, const char* name) noexcept {
  const char* digit = strstr(status, name);
  if (digit == nullptr) return 0;
  digit += strlen(name);
  while (*digit == ' ' || *digit == '\t') ++digit;
  std::uint64_t kilobytes = 0;
  for (; *digit >= '0' && *digit <= '9'; ++digit)
    kilobytes = 10 * kilobytes + static_cast<std::uint64_t>(*digit - '0');
  return 1024 * kilobytes;
}

// The most that the process has had in memory; 0 where nobody says so.
MALLARD_NOINLINE std::uint64_t peak_of_process() noexcept {
  char status[2048];
  const int file = raw_open("/proc/self/status", O_RDONLY);
  if (file < 0) return 0;
  const std::size_t size = raw_read(file, status, sizeof status - 1);
  raw_close(file);
  status[size] = '\0';
  return bytes_told(status, "\nVmHWM:");
}

}  // namespace

std::uint64_t peak_of_program() noexcept {
  const std::uint64_t peak = peak_of_process();
  resident_pages own;
  own.count(&library_begin, static_cast<std::size_t>(&library_end - &library_begin));
  for (const std::atomic<std::uint64_t>& known : known_pages)
    if (const std::uint64_t pages = known.load(std::memory_order_relaxed); pages != 0)
      own.count_pages(pages >> known_length_bits, pages & ((std::uint64_t{1} << known_length_bits) - 1));
  unwind::known_rules.for_each_table(
      [&](std::uint64_t first, std::uint64_t pages) { own.count_pages(first, pages); });
  if (front != nullptr) {
    own.count(front, front_bytes);
    for (std::uint32_t i = 0; i != rings_mapped; ++i) own.count(rings[i], ring_bytes());
    for (std::uint32_t i = 1; i < pieces_mapped; ++i) own.count(mapped_contexts[i], piece_bytes);
  }
  const std::uint64_t less = own.bytes() + bytes_of_unknown_pages.load(std::memory_order_relaxed);
  return own.is_known() && peak > less ? peak - less : 0;
}

spool_header* map_spool_page(const char* path) noexcept {
  const int descriptor = raw_open(path, O_RDWR);
  if (descriptor < 0) return nullptr;
  auto* spool = has(descriptor, ring_headers_at)
                    ? reinterpret_cast<spool_header*>(map(descriptor, 0, ring_headers_at, nullptr))
                    : nullptr;
  raw_close(descriptor);
  if (spool == nullptr || (spool->magic == spool_magic && is_possible(spool->options))) return spool;
  munmap(spool, ring_headers_at);
  return nullptr;
}

spool_header* map_spool(const char* path, const spool_options& wanted) noexcept {
  const int problem = lock(path);
  const int descriptor = problem != 0 ? -problem : raw_open(path, O_RDWR);
  if (descriptor < 0) {
    errno = -descriptor;
    return nullptr;
  }
  spool_header* spool = map_spool(descriptor, wanted);
  if (spool == nullptr) errno = ENOMEM;
  raw_close(descriptor);
  return spool;
}

std::uint64_t* map_ring(std::uint32_t index) noexcept {
  if (index < rings_mapped.load(std::memory_order_acquire)) return rings[index];
  const growth_lock lock;
  if (!lock.taken()) return nullptr;
  for (std::uint32_t next = rings_mapped; next <= index; ++next) {
    void* const place = map_next(rings[next - 1], ring_bytes(), rings[next]);
    if (place == nullptr) return nullptr;
    rings[next] = static_cast<std::uint64_t*>(place);
    rings_mapped.store(next + 1, std::memory_order_release);
  }
  return rings[index];
}

bool map_contexts(std::uint32_t count) noexcept {
  const std::uint32_t pieces = (count + contexts_in_piece - 1) / contexts_in_piece;
  if (pieces <= pieces_mapped.load(std::memory_order_acquire)) return true;
  const growth_lock lock;
  if (!lock.taken()) return false;
  for (std::uint32_t next = pieces_mapped; next < pieces; ++next) {
    void* const place = map_next(mapped_contexts[next - 1], piece_bytes, mapped_contexts[next]);
    if (place == nullptr) return false;
    mapped_contexts[next] = static_cast<context_entry*>(place);
    pieces_mapped.store(next + 1, std::memory_order_release);
  }
  return true;
}

void leave_parents_spool() noexcept {
  if (front == nullptr) return;
  replace(bytes_of(front, ring_headers_at), names_at - ring_headers_at);
  replace(bytes_of(front, contexts_at), piece_bytes);
  for (std::uint64_t* ring : rings)
    if (ring != nullptr) replace(page_before(ring), spool_page + ring_bytes());
  for (std::uint32_t i = 1; i < context_pieces; ++i)
    if (mapped_contexts[i] != nullptr) replace(page_before(mapped_contexts[i]), spool_page + piece_bytes);
}

spool_header* parents_spool() noexcept { return front; }

void keep_parents_spool() noexcept { is_kept = true; }

}  // namespace mallard::recorder
