#include "recorder/launcher/spool_file.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/file.h>
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

[[noreturn]] void fail(const std::string& path) {
  throw std::system_error(errno, std::generic_category(), "cannot make " + path);
}

}  // namespace

spool_file::spool_file(std::string path, const spool_options& wanted, std::uint64_t start_ticks)
    : path_(std::move(path)), ring_words_(wanted.ring_words) {
  unlink(path_.c_str());
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor_ < 0) fail(path_);
  flock(descriptor_, LOCK_EX);  // nobody else knows the file yet
  bytes_ = spool_bytes(ring_words_);
  void* mapped = MAP_FAILED;
  if (ftruncate(descriptor_, static_cast<off_t>(bytes_)) == 0)
    mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
  if (mapped != MAP_FAILED) {
    if (back(0, contexts_at) && back_contexts(contexts_at_first) && back_rings(rings_at_first)) {
      header_ = ::new (mapped) spool_header{};
      header_->magic = spool_magic;
      header_->options = wanted;
      header_->start_ticks = start_ticks;
      header_->contexts_used = 1;  // 0 is the unknown one
      header_->contexts_ready = contexts_at_first;
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

bool spool_file::back(std::size_t begin, std::size_t end) {
  errno = posix_fallocate(descriptor_, static_cast<off_t>(begin), static_cast<off_t>(end - begin));
  return errno == 0;
}

bool spool_file::back_rings(std::uint32_t count) {
  return back(rings_at, rings_at + count * ring_words_ * sizeof(std::uint64_t));
}

bool spool_file::back_contexts(std::uint32_t count) {
  return back(contexts_at, contexts_at + count * sizeof(context_entry));
}

void spool_file::prepare() {
  if (full_) return;
  const std::uint32_t rings = std::min(2 * header_->rings_used.load(), max_rings);
  if (rings > header_->rings_ready) {
    full_ = !back_rings(rings);
    if (!full_) header_->rings_ready.store(rings, std::memory_order_release);
  }
  const std::uint32_t contexts = std::min(2 * header_->contexts_used.load(), max_contexts_in_spool);
  if (contexts > header_->contexts_ready) {
    full_ = full_ || !back_contexts(contexts);
    if (!full_) header_->contexts_ready.store(contexts, std::memory_order_release);
  }
  if (full_) header_->contexts_full = 1;
}

void spool_file::sleep(long ns) {
  const std::uint32_t rung = header_->doorbell.load();
  header_->asleep.store(1);
  const timespec limit{.tv_sec = 0, .tv_nsec = ns};
  syscall(SYS_futex, &header_->doorbell, FUTEX_WAIT, rung, &limit, nullptr, 0);
  header_->asleep.store(0);
}

}  // namespace mallard::recorder
