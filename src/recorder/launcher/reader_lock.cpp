#include "recorder/launcher/reader_lock.hpp"

#include <sys/syscall.h>
#include <unistd.h>

namespace mallard::recorder {

// The list replaces the C library's, of mutexes that outlive their threads; the launcher has none.
reader_lock::reader_lock(std::atomic<std::uint32_t>& word) noexcept
    : held_{&list_.list},
      list_{.list = {&held_},
            .futex_offset = reinterpret_cast<char*>(&word) - reinterpret_cast<char*>(&held_),
            .list_op_pending = nullptr},
      word_(word) {
  if (syscall(SYS_set_robust_list, &list_, sizeof list_) == 0)
    word_ = static_cast<std::uint32_t>(syscall(SYS_gettid));
}

reader_lock::~reader_lock() {
  syscall(SYS_set_robust_list, nullptr, sizeof list_);
  word_ = 0;
}

}  // namespace mallard::recorder
