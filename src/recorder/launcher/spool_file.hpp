// spool_file: the launcher's end of the spool. It makes the file, keeps enough of its rings backed by
// disk space, sleeps on its doorbell, and removes it in the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "recorder/spool.hpp"

namespace mallard::recorder {

class spool_file {
 public:
  struct plan {
    std::size_t ring_bytes;  // a power of two
    std::uint64_t start_ticks;
    bool free_callers;
  };

  // Makes the file, replacing a forgotten one; throws std::system_error.
  spool_file(std::string path, const plan& wanted);
  ~spool_file();
  spool_file(const spool_file&) = delete;
  spool_file& operator=(const spool_file&) = delete;

  [[nodiscard]] spool_header* header() const noexcept { return header_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  // Backs rings with space for threads to come, twice as many as are used; a full disk leaves it at
  // what there is, and later threads share one ring.
  void prepare_rings();

  // Sleeps until a ring fills, an event of ours rings the doorbell, or `ns` have passed.
  void sleep(long ns);

 private:
  [[nodiscard]] bool back_rings(std::uint32_t count);

  std::string path_;
  int descriptor_ = -1;
  std::size_t bytes_ = 0;
  spool_header* header_ = nullptr;
  bool full_ = false;  // the disk has no room for more rings
};

}  // namespace mallard::recorder
