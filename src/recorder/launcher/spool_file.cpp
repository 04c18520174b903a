#include "recorder/launcher/spool_file.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <system_error>

namespace mallard::recorder {
spool_file::spool_file(std::string path, const journal::spool_options& wanted, std::uint64_t start_ticks)
    : path_(std::move(path)),
      bytes_(journal::spool_bytes(wanted.ring_words)),
      ring_words_(wanted.ring_words) {
  unlink(path_.c_str());
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor_ < 0) fail(errno, false);
  flock(descriptor_, LOCK_EX);  // nobody else knows the file yet
  if (ftruncate(descriptor_, static_cast<off_t>(bytes_)) != 0 || !back(0, journal::contexts_at) ||
      !back_contexts(journal::contexts_at_first) || !back_rings(journal::rings_at_first))
    fail(errno, true);
  map();
  if (header_ == nullptr) fail(errno, true);
  lay_out(header_, wanted, journal::rings_at_first);
  header_->start_ticks = start_ticks;
  header_->magic = journal::spool_magic;
}

spool_file::spool_file(std::string path, std::uint64_t ring_words)
    : path_(std::move(path)), bytes_(journal::spool_bytes(ring_words)), ring_words_(ring_words) {
  descriptor_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);
  struct stat file{};
  if (descriptor_ < 0 || fstat(descriptor_, &file) != 0) fail(errno, false);
  if (file.st_size != static_cast<off_t>(bytes_)) fail(EAGAIN, false);
  map();
  if (header_ == nullptr) fail(errno, false);
  if (header_->magic.load(std::memory_order_acquire) != journal::spool_magic) fail(EAGAIN, false);
  flock(descriptor_, LOCK_EX | LOCK_NB);
}

spool_file::~spool_file() {
  if (!left_) header_->stopped = 1;  // a program that still writes must not wait for a reader
  munmap(header_, bytes_);
  close(descriptor_);
  if (!left_) unlink(path_.c_str());
}

void spool_file::map() {
  void* mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
  if (mapped != MAP_FAILED) header_ = static_cast<journal::spool_header*>(mapped);
}

void spool_file::fail(int reason, bool remove) {
  if (header_ != nullptr) munmap(header_, bytes_);
  if (descriptor_ >= 0) close(descriptor_);
  if (remove) unlink(path_.c_str());
  throw std::system_error(reason, std::generic_category(), "cannot make " + path_);
}

void spool_file::leave() {
  left_ = true;
  header_->left_alone = 1;
}

bool spool_file::back(std::size_t begin, std::size_t end) {
  do errno = posix_fallocate(descriptor_, static_cast<off_t>(begin), static_cast<off_t>(end - begin));
  while (errno == EINTR);
  return errno == 0;
}

bool spool_file::back_rings(std::uint32_t count) {
  return back(journal::rings_at, journal::rings_at + count * ring_words_ * sizeof(std::uint64_t));
}

bool spool_file::back_contexts(std::uint32_t count) {
  return back(journal::contexts_at, journal::contexts_at + count * sizeof(journal::context_entry));
}

void spool_file::prepare() {
  if (full_) return;
  const std::uint32_t rings = std::min(2 * header_->rings_used.load(), journal::max_rings);
  if (rings > header_->rings_ready) {
    full_ = !back_rings(rings);
    if (!full_) header_->rings_ready.store(rings, std::memory_order_release);
  }
  const std::uint32_t contexts = std::min(2 * header_->contexts_used.load(), journal::max_contexts_in_spool);
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
