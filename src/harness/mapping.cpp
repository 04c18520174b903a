#include "harness/mapping.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace mallard::harness {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

// An empty mapping is not a mapping: the smallest one has a byte.
std::size_t at_least_one(std::size_t bytes) { return bytes == 0 ? 1 : bytes; }

}  // namespace

shared_file::shared_file(std::size_t bytes) : size_(at_least_one(bytes)) {
  descriptor_ = ::memfd_create("mallard", 0);  // kept open across exec: workers inherit it
  if (descriptor_ < 0) fail("memfd_create");
  if (::ftruncate(descriptor_, static_cast<off_t>(size_)) != 0) fail("ftruncate");
  data_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (data_ == MAP_FAILED) fail("mmap");
}

shared_file::shared_file(int descriptor, access how) : descriptor_(descriptor) {
  struct stat about{};
  if (::fstat(descriptor, &about) != 0) fail("fstat");
  size_ = static_cast<std::size_t>(about.st_size);
  const int protection = how == access::read ? PROT_READ : PROT_READ | PROT_WRITE;
  data_ = ::mmap(nullptr, size_, protection, MAP_SHARED | MAP_POPULATE, descriptor, 0);
  if (data_ == MAP_FAILED) fail("mmap");
}

shared_file::shared_file(shared_file&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

shared_file& shared_file::operator=(shared_file&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

shared_file::~shared_file() { close(); }

void shared_file::close() noexcept {
  if (data_ != nullptr) ::munmap(data_, size_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

void shared_file::resize(std::size_t bytes) {
  bytes = at_least_one(bytes);
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) fail("ftruncate");
  void* moved = ::mremap(data_, size_, bytes, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) fail("mremap");
  data_ = moved;
  size_ = bytes;
}

scratch::scratch(std::size_t bytes, fill when) : size_(at_least_one(bytes)) {
  const int populate = when == fill::before_use ? MAP_POPULATE : MAP_NORESERVE;
  void* mapped = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | populate, -1, 0);
  if (mapped == MAP_FAILED) fail("mmap");
  data_ = mapped;
}

scratch::scratch(scratch&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

scratch& scratch::operator=(scratch&& other) noexcept {
  if (this != &other) {
    if (data_ != nullptr) ::munmap(data_, size_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

scratch::~scratch() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace mallard::harness
