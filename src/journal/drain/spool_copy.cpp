#include "journal/drain/spool_copy.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "journal/bytes/wire.hpp"

namespace mallard::journal {
namespace {

constexpr std::size_t headers_end = modules_at;
constexpr int tries = 100;

std::uint64_t size_of(const std::filesystem::path& path) {
  std::error_code unknown;
  const auto size = std::filesystem::file_size(path, unknown);
  return unknown ? 0 : size;
}

}  // namespace

class spool_copy::file {
 public:
  explicit file(const std::filesystem::path& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
    struct stat about{};
    if (descriptor_ < 0 || fstat(descriptor_, &about) != 0) fail(errno);
    if (S_ISDIR(about.st_mode)) fail(EISDIR);
    if (S_ISREG(about.st_mode)) size_ = static_cast<std::uint64_t>(about.st_size);
  }
  ~file() { close(); }
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  // Up to `size` bytes; what cannot be read is left as it is.
  std::size_t read(void* to, std::size_t size, std::uint64_t at) const noexcept {
    std::size_t done = 0;
    while (done < size) {
      const ssize_t got =
          pread(descriptor_, static_cast<char*>(to) + done, size - done, static_cast<off_t>(at + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  // Whether the launcher holds it, which takes its lock for good; see spool_file.hpp.
  [[nodiscard]] bool is_held() const noexcept {
    if (flock(descriptor_, LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
    flock(descriptor_, LOCK_UN);
    return false;
  }

  // Whether the program still has it.
  [[nodiscard]] bool is_recorded_into() const noexcept { return is_locked_by_process(descriptor_); }

 private:
  [[noreturn]] void fail(int reason) {
    close();
    throw error(std::strerror(reason));
  }
  void close() noexcept {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  int descriptor_;
  std::uint64_t size_ = 0;
};

namespace {

bool is_magic(std::uint64_t word) noexcept { return (word ^ spool_magic) < 256; }  // the rest is the version

// Copies [begin, end) of the file to the same place in memory that is all zeros, whose pages of zeros stay
// untouched. With `until_zeros`, ends at the first whole one.
template <class File>
void copy_range(const File& from, char* memory, std::uint64_t begin, std::uint64_t end,
                bool until_zeros = false) noexcept {
  static constexpr std::array<char, spool_page> zeros{};
  std::array<char, 16 * spool_page> buffer;
  while (begin < end) {
    const std::size_t got =
        from.read(buffer.data(), std::min<std::uint64_t>(buffer.size(), end - begin), begin);
    if (got == 0) return;
    for (std::size_t at = 0; at < got;) {
      const std::size_t page = std::min<std::size_t>(spool_page - (begin + at) % spool_page, got - at);
      if (std::memcmp(&buffer[at], zeros.data(), page) != 0)
        std::memcpy(memory + begin + at, &buffer[at], page);
      else if (until_zeros && page == spool_page)
        return;
      at += page;
    }
    begin += got;
  }
}

}  // namespace

bool spool_copy::is_spool(const std::filesystem::path& path) noexcept {
  try {
    std::uint64_t magic = 0;
    return file(path).read(&magic, sizeof magic, 0) == sizeof magic && is_magic(magic);
  } catch (const error&) {
    return false;
  }
}

spool_copy::spool_copy(const std::filesystem::path& path, const std::filesystem::path& journal) {
  const file from(path);
  try {
    for (int i = 0; i < tries; ++i) {
      copy(from, journal);
      if (is_still_so(from)) {
        in_progress_ = is_going_on(from);
        return;
      }
      release();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } catch (...) {
    release();
    throw;
  }
  throw error("it changes too fast to be read");
}

spool_copy::spool_copy(spool_copy&& from) noexcept
    : header_(std::exchange(from.header_, nullptr)),
      bytes_(from.bytes_),
      options_(from.options_),
      rings_(from.rings_),
      journal_bytes_(from.journal_bytes_),
      by_next_tails_(from.by_next_tails_),
      in_progress_(from.in_progress_) {}

spool_copy::~spool_copy() { release(); }

void spool_copy::release() noexcept {
  if (header_ != nullptr) munmap(header_, bytes_);
  header_ = nullptr;
}

void spool_copy::copy(const file& from, const std::filesystem::path& journal) {
  std::vector<std::uint64_t> headers(headers_end / sizeof(std::uint64_t));
  if (from.read(headers.data(), headers_end, 0) < headers_end) throw error("it is no spool, or cut off");
  reserve(*reinterpret_cast<const spool_header*>(headers.data()), from.size());
  std::memcpy(static_cast<void*>(header_), headers.data(), headers_end);
  choose_tails(size_of(journal));
  copy_contents(from);
}

// Room for the rings that are there, which the size of the file bounds.
void spool_copy::reserve(const spool_header& claimed, std::uint64_t file_size) {
  if (!is_magic(claimed.magic)) throw error("it is no spool");
  if (claimed.magic != spool_magic) throw error("it is the spool of another version of mallard-record");
  options_ = claimed.options;
  if (!is_possible(options_)) throw error("it is a damaged spool");
  if (file_size < rings_at(options_)) throw error("it is no spool, or cut off");
  const std::uint64_t there =
      (file_size - rings_at(options_)) / (ring_at(options_, 1) - ring_at(options_, 0));
  rings_ = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::min(claimed.rings_used.load(), options_.rings), there));
  bytes_ = ring_at(options_, rings_);
  void* pages =
      mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) throw error(std::strerror(errno));
  header_ = static_cast<spool_header*>(pages);
}

void spool_copy::choose_tails(std::uint64_t journal_size) noexcept {
  header_->rings_used = rings_;
  const std::uint64_t next_size = header_->next_size;
  by_next_tails_ = next_size <= journal_size;
  journal_bytes_ = by_next_tails_ || next_size == UINT64_MAX ? journal_size : header_->size.load();
  for (std::uint32_t i = 0; by_next_tails_ && i < rings_; ++i) {
    ring_header& ring = ring_of(header_, i);
    ring.tail = ring.next_tail.load();
    ring.tail_thread = ring.next_tail_thread.load();
  }
}

void spool_copy::copy_contents(const file& from) noexcept {
  char* memory = bytes_of(header_, 0);
  const std::uint64_t contexts = std::min(header_->contexts_used.load(), options_.contexts);
  const auto copy_ring = [&](std::uint64_t at, std::uint64_t size, std::uint64_t tail, std::uint64_t head,
                             bool until_zeros) {
    if (head - tail > size) return;  // its reader sees it, too
    const std::uint64_t first = at + tail % size;
    const std::uint64_t before_end = std::min(head - tail, at + size - first);
    copy_range(from, memory, first, first + before_end, until_zeros);
    copy_range(from, memory, at, at + (head - tail - before_end), until_zeros);
  };
  copy_ring(modules_at, module_ring_bytes, header_->modules_tail, header_->modules_head, false);
  copy_range(from, memory, names_at, names_at + std::min<std::uint64_t>(header_->names_used, name_bytes));
  copy_range(from, memory, contexts_at, contexts_at + contexts * sizeof(context_entry));
  for (std::uint32_t i = 0; i < rings_; ++i) {
    const ring_header& ring = ring_of(header_, i);
    const std::uint64_t bytes = options_.ring_words * sizeof(std::uint64_t);
    copy_ring(ring_at(options_, i), bytes, ring.tail * sizeof(std::uint64_t),
              ring.head * sizeof(std::uint64_t), true);
  }
}

// Whether the launcher has announced and given back nothing since copy() began.
bool spool_copy::is_still_so(const file& from) const {
  std::vector<std::uint64_t> headers(headers_end / sizeof(std::uint64_t));
  if (from.read(headers.data(), headers_end, 0) < headers_end) return false;
  auto* now = reinterpret_cast<spool_header*>(headers.data());
  if (now->next_size != header_->next_size || now->size != header_->size) return false;
  for (std::uint32_t i = 0; i < rings_; ++i) {
    const ring_header& ring = ring_of(now, i);
    if ((by_next_tails_ ? ring.next_tail : ring.tail) != ring_of(header_, i).tail) return false;
  }
  return true;
}

bool spool_copy::is_going_on(const file& from) const {
  if (header_->stopped != 0 || header_->gave_up != 0) return false;
  return from.is_held() || (header_->end_cpu_ns == 0 && from.is_recorded_into());
}

}  // namespace mallard::journal
