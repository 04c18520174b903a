#include "recorder/launcher/spool_file.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <system_error>

namespace mallard::recorder {
namespace {

constexpr std::uint64_t spools_at_once = 8;  // that are to fit into the address space of this process

std::uint64_t limit_of(__rlimit_resource resource) noexcept {
  rlimit limit{};
  return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

journal::spool_options fit_into_limits(const journal::spool_options& wanted) noexcept {
  return fit_into(std::min(limit_of(RLIMIT_FSIZE), limit_of(RLIMIT_AS) / spools_at_once), wanted);
}

}  // namespace

spool_file::spool_file(std::string path, const journal::spool_options& wanted, std::uint64_t start_ticks)
    : path_(std::move(path)),
      own_name_(path_ + "." + std::to_string(getpid())),
      options_(fit_into_limits(wanted)) {
  unlink(own_name_.c_str());
  descriptor_ = open(own_name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor_ < 0) fail(errno);
  flock(descriptor_, LOCK_EX);  // nobody else knows the file yet
  struct flock lock = journal::process_lock();
  if (fcntl(descriptor_, F_OFD_SETLK, &lock) != 0) fail(errno);  // as the program will
  lock.l_type = F_UNLCK;
  fcntl(descriptor_, F_OFD_SETLK, &lock);
  const std::uint32_t rings = std::min(journal::rings_at_first, options_.rings);
  if (!back(0, journal::contexts_at) || !back_contexts(0, journal::contexts_at_first) || !back_rings(rings))
    fail(errno);
  header_ = map(spool_bytes(options_));
  if (header_ == nullptr) fail(errno);
  lay_out(header_, options_, rings);
  header_->start_ticks = start_ticks;
  header_->pid_namespace = journal::own_pid_namespace();
  header_->magic = journal::spool_magic;
}

bool spool_file::publish() {
  if (link(own_name_.c_str(), path_.c_str()) != 0) {
    if (errno == EEXIST) return false;
    throw std::system_error(errno, std::generic_category(), "cannot make " + path_);
  }
  unlink(own_name_.c_str());
  own_name_.clear();
  return true;
}

spool_file::spool_file(std::string path) : path_(std::move(path)) {
  descriptor_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);
  struct stat file{};
  if (descriptor_ < 0 || fstat(descriptor_, &file) != 0) fail(errno);
  if (file.st_size < static_cast<off_t>(journal::spool_page)) fail(EAGAIN);
  journal::spool_header* const first_page = map(journal::spool_page);
  if (first_page == nullptr) fail(errno);
  const bool ready = first_page->magic.load(std::memory_order_acquire) == journal::spool_magic;
  options_ = first_page->options;
  const bool possible = ready && is_possible(options_);
  if (possible) header_ = map(spool_bytes(options_));
  if (possible && header_ == nullptr) first_page->stopped = 1;
  munmap(first_page, journal::spool_page);
  if (!possible) fail(EAGAIN);
  if (header_ == nullptr) {
    unlink(path_.c_str());
    fail(ENOBUFS);
  }
  flock(descriptor_, LOCK_EX | LOCK_NB);
}

spool_file::~spool_file() {
  if (!left_) header_->stopped = 1;  // a program that still writes must not wait for a reader
  munmap(header_, spool_bytes(options_));
  close(descriptor_);
  if (!left_) unlink(own_name_.empty() ? path_.c_str() : own_name_.c_str());
}

journal::spool_header* spool_file::map(std::size_t bytes) const noexcept {
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
  if (mapped == MAP_FAILED) return nullptr;
  madvise(mapped, bytes, MADV_DONTFORK);  // a process that outlives this one must not keep its lock
  return static_cast<journal::spool_header*>(mapped);
}

void spool_file::fail(int reason) {
  if (header_ != nullptr) munmap(header_, spool_bytes(options_));
  if (descriptor_ >= 0) close(descriptor_);
  if (!own_name_.empty()) unlink(own_name_.c_str());
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
  return back(rings_at(options_), ring_at(options_, count));
}

bool spool_file::back_contexts(std::uint32_t begin, std::uint32_t end) {
  return back(journal::contexts_at + begin * sizeof(journal::context_entry),
              journal::contexts_at + end * sizeof(journal::context_entry));
}

void spool_file::prepare() {
  if (full_) return;
  const std::uint32_t rings = std::min(2 * header_->rings_used.load(), options_.rings);
  if (rings > header_->rings_ready) {
    full_ = !back_rings(rings);
    if (!full_) header_->rings_ready.store(rings, std::memory_order_release);
  }
  const std::uint32_t ready = header_->contexts_ready;
  const std::uint32_t used = header_->contexts_used;
  if (2 * used > ready && ready < options_.contexts) {
    const std::uint32_t contexts = std::min(2 * std::max(used, ready), options_.contexts);
    full_ = full_ || !back_contexts(ready, contexts);
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
