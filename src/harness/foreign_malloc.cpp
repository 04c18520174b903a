#include "harness/foreign_malloc.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace mallard::harness {
namespace {

constexpr std::string_view own_malloc = "libmallard-malloc.so";
constexpr std::string_view own_checked_malloc = "libmallard-malloc-checked.so";

// glibc-notrim: what is freed stays with the process. Nothing is cut off the end of the heap, large
// blocks come from it as well instead of from mappings of their own, and it grows by 1 MiB at least.
constexpr std::array mallocs{
    foreign_malloc{"glibc", "", "libc6", "", "the C library's own, as it comes"},
    foreign_malloc{"glibc-notrim", "", "libc6",
                   "GLIBC_TUNABLES=glibc.malloc.trim_threshold=18446744073709551615"
                   ":glibc.malloc.mmap_max=0:glibc.malloc.top_pad=1048576",
                   "the C library's own, never giving memory back"},
    foreign_malloc{"jemalloc", "libjemalloc.so.2", "libjemalloc2", "", "jemalloc, preloaded"},
    foreign_malloc{"tcmalloc", "libtcmalloc_minimal.so.4", "libtcmalloc-minimal4", "",
                   "gperftools' tcmalloc, preloaded"},
    foreign_malloc{"mimalloc", "libmimalloc.so.2.0", "libmimalloc2.0", "", "mimalloc 2, preloaded"},
    foreign_malloc{"tbbmalloc", "libtbbmalloc_proxy.so.2", "libtbbmalloc2", "",
                   "oneTBB's scalable malloc, preloaded"},
    foreign_malloc{"mallard", own_malloc, "", "", "mallard's own, preloaded"},
    foreign_malloc{"mallard-checked", own_checked_malloc, "", "", "mallard's own with checks, preloaded"},
};

// glibc-arenas: as many as is usual for servers whose memory grows with their threads; by default there are
// eight for each processor.
constexpr std::array further{
    foreign_malloc{"glibc-arenas", "", "libc6", "GLIBC_TUNABLES=glibc.malloc.arena_max=2",
                   "the C library's own, with two arenas for all threads"},
};

bool is_own(std::string_view object) { return object == own_malloc || object == own_checked_malloc; }

// A library of ours: beside this program, where tools are installed, or where it was built; its name if it is
// in none of these.
std::string path_of_own(std::string_view object) {
  const char* const given = std::getenv("MALLARD_MALLOC_LIBRARY");
  if (given != nullptr && object == own_malloc) return given;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const char* const there : {".", MALLARD_PRELOAD_FROM_BIN, MALLARD_MALLOC_BUILT_IN}) {
    const std::filesystem::path path = (folder / there / object).lexically_normal();
    if (std::error_code none; std::filesystem::exists(path, none)) return path;
  }
  return std::string(object);
}

}  // namespace

std::span<const foreign_malloc> foreign_mallocs() { return mallocs; }

std::span<const foreign_malloc> further_mallocs() { return further; }

const foreign_malloc* find_foreign_malloc(std::string_view name) {
  for (const foreign_malloc& m : mallocs)
    if (m.name == name) return &m;
  return nullptr;
}

bool malloc_is_a_sanitizers() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
  return __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
  return false;
#endif
}

std::vector<std::string> environment_for(const foreign_malloc& m) {
  std::vector<std::string> result;
  if (is_own(m.object))
    result.push_back("LD_PRELOAD=" + path_of_own(m.object));
  else if (!m.object.empty())
    result.push_back("LD_PRELOAD=" + std::string(m.object));
  if (!m.tunables.empty()) result.emplace_back(m.tunables);
  return result;
}

std::string malloc_error(const foreign_malloc& m) {
  const std::string in_force = malloc_in_force();
  const std::string_view expected = m.object.empty() ? "libc.so.6" : m.object;
  if (in_force == expected) return {};
  if (m.object.empty()) return "malloc is " + in_force + "'s, not the C library's";
  if (is_own(m.object))
    return std::string(m.object) + " is not loaded: build it, or, for mallard, set MALLARD_MALLOC_LIBRARY";
  return std::string(m.object) + " is not loaded: apt install " + std::string(m.package);
}

std::string malloc_in_force() {
  Dl_info where{};
  void* const entry = ::dlsym(RTLD_DEFAULT, "malloc");
  if (entry == nullptr || ::dladdr(entry, &where) == 0 || where.dli_fname == nullptr) return {};
  const std::string_view path = where.dli_fname;
  return std::string(path.substr(path.rfind('/') + 1));
}

}  // namespace mallard::harness
