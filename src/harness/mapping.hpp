// mapping: shared memory of the harness's own, outside every heap that is measured.
//
//     parent  [ memfd ]---+---> worker A (attached read-only)
//                         +---> worker B ...
//
// All of it is MAP_SHARED: not counted by RLIMIT_DATA, which limits the allocator alone, and never
// obtained from a malloc. `shared_file` is inherited by workers through its descriptor; `scratch`
// belongs to one process. One system call each; growing may move the memory.
#pragma once

#include <cstddef>

namespace mallard::harness {

enum class access { read, read_write };

// A file without a name, mapped whole. The size of an attached one is the size of the file.
class shared_file {
 public:
  // A new, zeroed file of `bytes`; throws std::system_error.
  explicit shared_file(std::size_t bytes);

  // The file behind a descriptor this process has inherited, every page of it mapped in already.
  shared_file(int descriptor, access how);

  ~shared_file();
  shared_file(shared_file&& other) noexcept;
  shared_file& operator=(shared_file&& other) noexcept;

  // Makes it `bytes` large; new bytes are zero, data() may change.
  void resize(std::size_t bytes);

  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  void close() noexcept;

  int descriptor_ = -1;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

// When the pages of scratch memory come into being: before it is used, or at first touch.
enum class fill { before_use, at_first_touch };

// Zeroed memory of this process.
class scratch {
 public:
  scratch() = default;
  scratch(std::size_t bytes, fill when);  // throws std::system_error
  ~scratch();
  scratch(scratch&& other) noexcept;
  scratch& operator=(scratch&& other) noexcept;

  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace mallard::harness
