#include "recorder/launcher/spool_file.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

namespace mallard::recorder {
namespace {

constexpr std::uint32_t rings_at_first = 8;

[[noreturn]] void fail(const std::string& path) {
  throw std::system_error(errno, std::generic_category(), "cannot make " + path);
}

}  // namespace

spool_file::spool_file(std::string path, const plan& wanted) : path_(std::move(path)) {
  unlink(path_.c_str());
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor_ < 0) fail(path_);
  bytes_ = rings_at + max_rings * wanted.ring_bytes;
  void* mapped = MAP_FAILED;
  if (ftruncate(descriptor_, static_cast<off_t>(bytes_)) == 0)
    mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
  if (mapped != MAP_FAILED) {
    header_ = static_cast<spool_header*>(mapped);
    if (back_rings(rings_at_first)) {
      ::new (mapped) spool_header{};
      header_->magic = spool_magic;
      header_->ring_words = wanted.ring_bytes / sizeof(std::uint64_t);
      header_->start_ticks = wanted.start_ticks;
      header_->ring_count = max_rings;
      header_->free_callers = wanted.free_callers ? 1 : 0;
      header_->rings_ready = rings_at_first;
      return;
    }
  }
  const int reason = errno;
  if (mapped != MAP_FAILED) munmap(mapped, bytes_);
  close(descriptor_);
  unlink(path_.c_str());
  errno = reason;
  fail(path_);
}

spool_file::~spool_file() {
  munmap(header_, bytes_);
  close(descriptor_);
  unlink(path_.c_str());
}

bool spool_file::back_rings(std::uint32_t count) {
  const std::size_t ring_bytes = (bytes_ - rings_at) / max_rings;
  errno = posix_fallocate(descriptor_, 0, static_cast<off_t>(rings_at + count * ring_bytes));
  return errno == 0;
}

void spool_file::prepare_rings() {
  const std::uint32_t ready = header_->rings_ready;
  const std::uint32_t wanted = std::min(2 * header_->rings_used.load(), max_rings);
  if (full_ || wanted <= ready) return;
  if (back_rings(wanted))
    header_->rings_ready.store(wanted, std::memory_order_release);
  else
    full_ = true;
}

void spool_file::sleep(long ns) {
  const std::uint32_t rung = header_->doorbell.load();
  header_->asleep.store(1);
  const timespec limit{.tv_sec = 0, .tv_nsec = ns};
  syscall(SYS_futex, &header_->doorbell, FUTEX_WAIT, rung, &limit, nullptr, 0);
  header_->asleep.store(0);
}

}  // namespace mallard::recorder
