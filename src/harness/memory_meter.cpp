#include "harness/memory_meter.hpp"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

#include "mallard/core/align.hpp"

namespace mallard::harness {
namespace {

// The number of kB behind `key` in a file of the kernel's, in bytes; 0 if there is none.
std::size_t kernel_figure(const char* file, std::string_view key) noexcept {
  const int descriptor = ::open(file, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  std::array<char, 8192> text{};
  const ssize_t length = ::read(descriptor, text.data(), text.size());
  ::close(descriptor);
  if (length <= 0) return 0;

  std::string_view rest(text.data(), static_cast<std::size_t>(length));
  const auto place = rest.find(key);
  if (place == std::string_view::npos) return 0;
  rest.remove_prefix(place + key.size());
  const auto digit = rest.find_first_of("0123456789");
  if (digit == std::string_view::npos) return 0;
  rest.remove_prefix(digit);
  std::size_t kilobytes = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), kilobytes);
  return kilobytes * 1024;
}

int map_in_object(dl_phdr_info* object, std::size_t, void*) noexcept {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t start = align_down(object->dlpi_addr + segment.p_vaddr, page);
    const std::uintptr_t end = align_up(object->dlpi_addr + segment.p_vaddr + segment.p_memsz, page);
    ::madvise(reinterpret_cast<void*>(start), end - start, MADV_POPULATE_READ);
  }
  return 0;
}

}  // namespace

void map_in_code() noexcept { ::dl_iterate_phdr(map_in_object, nullptr); }

std::size_t resident_exactly() noexcept { return kernel_figure("/proc/self/smaps_rollup", "\nAnonymous:"); }

void reset_peak() noexcept {
  const int descriptor = ::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  [[maybe_unused]] const ssize_t written = ::write(descriptor, "5", 1);
  ::close(descriptor);
}

std::size_t peak_resident() noexcept { return kernel_figure("/proc/self/status", "\nVmHWM:"); }

std::uint64_t page_faults() noexcept {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_minflt) + static_cast<std::uint64_t>(usage.ru_majflt);
}

std::size_t available_memory() noexcept { return kernel_figure("/proc/meminfo", "\nMemAvailable:"); }

bool limit_data(std::size_t bytes) noexcept {
  rlim_t limit = 0;
  if (__builtin_add_overflow(kernel_figure("/proc/self/status", "\nVmData:"), bytes, &limit))
    limit = RLIM_INFINITY;
  const rlimit both{limit, limit};
  return ::setrlimit(RLIMIT_DATA, &both) == 0;
}

}  // namespace mallard::harness
