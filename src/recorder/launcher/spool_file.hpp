// spool_file: the launcher's end of a spool.
//
// It makes the root's spool, opens those that children make, keeps enough of the rings backed by disk space,
// and sleeps on the root's doorbell. In the end it says in the spool that nobody reads any more, and removes
// the file. While the launcher lives it holds an flock on the file, by which others can see that.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "journal/spool/spool.hpp"

namespace mallard::recorder {

class spool_file {
 public:
  // Makes the file under a name of its own, until publish() gives it `path`, with as much of what is wanted
  // as the limits of this process on files and address space leave room for; throws std::system_error.
  spool_file(std::string path, const journal::spool_options& wanted, std::uint64_t start_ticks);

  // Gives the file its name, by which it has had its lock from the beginning; false if there is a file of
  // that name. Throws std::system_error.
  [[nodiscard]] bool publish();

  // Opens a child's; throws std::system_error if it cannot be opened, or is not ready (yet). If there is no
  // address space for all of it, the child is told not to record, and the reason is no_buffer_space.
  explicit spool_file(std::string path);
  ~spool_file();
  spool_file(const spool_file&) = delete;
  spool_file& operator=(const spool_file&) = delete;

  [[nodiscard]] journal::spool_header* header() const noexcept { return header_; }
  // As they were when the spool was made.
  [[nodiscard]] const journal::spool_options& options() const noexcept { return options_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  // Whether the process that records into it lives; also before it has begun, for the root.
  [[nodiscard]] bool has_writer() const noexcept { return journal::is_locked_by_process(descriptor_); }

  // Backs twice as many rings with disk space as are used, and more contexts once half of those that are
  // backed are used. On a full disk there are no more: later threads share one ring, later contexts are
  // unknown.
  void prepare();

  // Leaves the file to its program, which may record into the room that is left.
  void leave();

  // Sleeps until a ring fills, an event of ours rings the doorbell, or `ns` have passed.
  void sleep(long ns);

 private:
  [[nodiscard]] journal::spool_header* map(std::size_t bytes) const noexcept;
  [[noreturn]] void fail(int reason);
  [[nodiscard]] bool back(std::size_t begin, std::size_t end);
  [[nodiscard]] bool back_rings(std::uint32_t count);
  [[nodiscard]] bool back_contexts(std::uint32_t begin, std::uint32_t end);

  std::string path_;
  std::string own_name_;  // until it is published; then empty
  int descriptor_ = -1;
  journal::spool_header* header_ = nullptr;
  journal::spool_options options_;
  bool left_ = false;
  bool full_ = false;  // the disk has no room for more
};

// reader_lock: tells the recorded programs that the launcher lives, without asking it.
//
// A futex in the root's spool holds the id of the thread that reads. It is a robust one (set_robust_list(2)):
// in whatever way that thread ends, the kernel sets FUTEX_OWNER_DIED in it. So a program sees the death of
// its reader by one load, whatever it may call or see itself.
class reader_lock {
 public:
  // Locks for the calling thread, which must outlive the lock. Where the kernel has no robust futexes, `word`
  // stays 0: the programs cannot know. The list replaces the C library's, of mutexes that outlive their
  // threads; the launcher has none.
  explicit reader_lock(std::atomic<std::uint32_t>& word) noexcept
      : held_{&list_.list},
        list_{.list = {&held_},
              .futex_offset = reinterpret_cast<char*>(&word) - reinterpret_cast<char*>(&held_),
              .list_op_pending = nullptr},
        word_(word) {
    if (syscall(SYS_set_robust_list, &list_, sizeof list_) == 0)
      word_ = static_cast<std::uint32_t>(syscall(SYS_gettid));
  }
  ~reader_lock() {
    syscall(SYS_set_robust_list, nullptr, sizeof list_);
    word_ = 0;
  }
  reader_lock(const reader_lock&) = delete;
  reader_lock& operator=(const reader_lock&) = delete;

 private:
  robust_list held_;
  robust_list_head list_;
  std::atomic<std::uint32_t>& word_;
};

}  // namespace mallard::recorder
