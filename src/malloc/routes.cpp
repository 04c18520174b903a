#include "malloc/routes.hpp"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <span>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"
#include "mallard/source/os_pages.hpp"
#include "malloc/bump_pool.hpp"
#include "malloc/deep_bound.hpp"

extern "C" {
[[gnu::weak]] extern void* __libc_stack_end;  // the dynamic loader's
}

namespace mallard::malloc_library {

constinit std::size_t at_hand_most = heap::small;
constinit plan_in_force the_plan;
__thread thread_route my_route;
constinit segment_keeper* no_pools[plan_image::most_pools + 1]{};
constinit remembered_slab nothing_remembered[plan_image::most_pools]{};

namespace {

constinit plan_image image;
constinit futex_mutex modules_mutex;
constinit std::uintptr_t* bases = nullptr;  // of the image's modules, under that
constinit std::atomic<int> looks_to_come = 0;

// --- the image ---------------------------------------------------------------------------------------------

constexpr const char* plan_variable = "MALLARD_MALLOC_PLAN";
constexpr const char* huge_pages_variable = "MALLARD_MALLOC_HUGE_PAGES";  // which goes before the plan

bool has_value(const char* variable) noexcept {
  const char* const text = ::secure_getenv(variable);
  return text != nullptr && *text != '\0';
}
bool is_set(const char* variable) noexcept {
  return has_value(variable) && ::strcmp(::secure_getenv(variable), "0") != 0;
}

void say(const char* path, const char* what) noexcept {
  char line[4352];
  const int length = ::snprintf(line, sizeof line, "mallard-malloc: %s %s; no call is routed\n", path, what);
  if (length > 0)
    (void)!::write(STDERR_FILENO, line, std::min(static_cast<std::size_t>(length), sizeof line - 1));
}

// Memory of its own: nobody may cut off the file later.
template <class T>
T* get_pages(std::size_t count) noexcept {
  return static_cast<T*>(os_pages().allocate(count * sizeof(T), os_pages::page_size()).data);
}

const char* read_whole(const char* path, std::span<const std::byte>& found) noexcept {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return "cannot be opened";
  struct stat info;
  const char* wrong = "is no image of a plan";
  if (::fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 &&
      info.st_size <= plan_image::most_bytes) {
    const auto bytes = static_cast<std::size_t>(info.st_size);
    auto* const memory = get_pages<std::byte>(bytes);
    std::size_t read = 0;
    while (memory != nullptr && read != bytes) {
      const ssize_t got = ::read(file, memory + read, bytes - read);
      if (got <= 0) break;
      read += static_cast<std::size_t>(got);
    }
    found = {memory, read};
    wrong = memory != nullptr ? nullptr : "needs more memory than there is";
  }
  ::close(file);
  return wrong;
}

// --- modules -----------------------------------------------------------------------------------------------

bool has_build_id(const dl_phdr_info& info, const image_module& m) noexcept {
  for (const ElfW(Phdr)* h = info.dlpi_phdr; h != info.dlpi_phdr + info.dlpi_phnum; ++h) {
    if (h->p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const std::byte*>(info.dlpi_addr + h->p_vaddr);
    for (std::size_t left = h->p_memsz; left >= sizeof(ElfW(Nhdr));) {
      const auto& note = *reinterpret_cast<const ElfW(Nhdr)*>(at);
      const std::size_t align = h->p_align == 8 ? 8 : 4;
      const std::size_t name = align_up(sizeof note + note.n_namesz, align);
      const std::size_t whole = align_up(name + note.n_descsz, align);
      if (whole > left) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz == m.length &&
          ::memcmp(at + sizeof note, "GNU", 4) == 0 && ::memcmp(at + name, m.id.data(), m.length) == 0)
        return true;
      at += whole;
      left -= whole;
    }
  }
  return false;
}

// Bases of the image's modules that are loaded now. The program itself is the first one that the loader
// names.
struct search {
  std::uintptr_t* found;
  bool is_first = true;
  bool is_program = false;
};
bool find_modules(std::uintptr_t* found) noexcept {
  std::fill_n(found, image.modules.size(), route_table::absent);
  search s{found};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* with) {
        auto& wanted = *static_cast<search*>(with);
        for (std::size_t i = 0; i != image.modules.size(); ++i)
          if (wanted.found[i] == route_table::absent && has_build_id(*info, image.modules[i])) {
            wanted.found[i] = info->dlpi_addr;
            wanted.is_program |= wanted.is_first && i == 0;
            break;
          }
        wanted.is_first = false;
        return 0;
      },
      &s);
  return s.is_program;
}

void look_for_modules() noexcept {
  std::uintptr_t found[plan_image::most_modules];
  (void)find_modules(found);
  const std::lock_guard guard(modules_mutex);
  bool are_new = false;
  for (std::size_t i = 0; i != image.modules.size(); ++i) {
    if (found[i] == route_table::absent || found[i] == bases[i]) continue;
    bases[i] = found[i];
    are_new = true;
  }
  if (are_new) the_plan.table.fill(image, {bases, image.modules.size()});
}

// Looks when the next pools grow, where nobody says that a library has come.
void expect_modules() noexcept { looks_to_come.store(64, std::memory_order_relaxed); }

void hear_of_modules() noexcept {
  hold_over_forks(modules_mutex);
  hear_of_libraries([](bool are_there) noexcept { are_there ? look_for_modules() : expect_modules(); });
}

// --- into force --------------------------------------------------------------------------------------------

route route_of(const image_rule& r, std::uint32_t own_pool) noexcept {
  route made;
  made.number = r.number;
  made.how = static_cast<std::uint8_t>(r.how);
  if (r.how == strategy::none) {
    made.first_pool = own_pool;
    made.largest = heap::small;
    if (!the_plan.default_is_libc) made.limit = made.largest + 1;
  } else {
    made.first_pool = r.first_pool;
    made.mask = r.pools - 1;
    made.frame = static_cast<std::uint16_t>(r.frame);
    const bool is_bump = has_bump(r.how);
    made.largest = std::min<std::uint32_t>(r.largest == 0 ? 1024 : r.largest,
                                           is_bump ? bump_pool::largest : heap::classes::largest);
    if (r.witness >= plan_image::first_word)
      made.word = r.witness - plan_image::first_word + 1;
    else
      made.saved = static_cast<std::uint8_t>(r.witness);
    const std::uint32_t limit = is_bump ? 0 : std::min<std::uint32_t>(made.largest, heap::small) + 1;
    (r.witness == 0 ? made.limit : made.limit_by_word) = limit;
  }
  if (the_plan.counts != nullptr) made.limit = made.limit_by_word = 0;
  return made;
}

const char* make_routes() noexcept {
  const std::uint32_t pools = image.header->pools;
  auto* const rules_of_pools = get_pages<std::uint32_t>(std::size_t{pools} + 1);
  auto* const routes = get_pages<route>(image.rules.size());
  auto* const slots = get_pages<route_table::slot>(route_table::slots_for(image.entries.size()));
  auto* const checks = get_pages<route_table::check>(route_table::checks_for(image));
  if (rules_of_pools == nullptr || routes == nullptr || slots == nullptr || checks == nullptr)
    return "needs more memory than there is";
  the_plan.default_is_libc = image.header->default_heap == 1 && has_libc_malloc();
  the_plan.has_parts = true;
  for (std::uint32_t i = 0; i != image.rules.size(); ++i) {
    const image_rule& r = image.rules[i];
    routes[i] = route_of(r, pools);
    if (r.how == strategy::none) continue;
    if (routes[i].largest > heap::small) the_plan.has_parts = false;
    for (std::uint32_t p = r.first_pool; p != r.first_pool + r.pools; ++p) {
      if (rules_of_pools[p] == 0) rules_of_pools[p] = i;
      if (has_bump(image.rules[rules_of_pools[p]].how) != has_bump(r.how) ||
          (has_bump(r.how) && image.rules[rules_of_pools[p]].how != r.how))
        return "gives one pool two strategies";
    }
  }
  the_plan.rules_of_pools = rules_of_pools;
  the_plan.rules = static_cast<std::uint32_t>(image.rules.size());
  the_plan.pools = pools;
  the_plan.table.open(image, slots, checks, reinterpret_cast<std::uintptr_t>(routes), sizeof(route));
  the_plan.table.fill(image, {bases, image.modules.size()});
  std::fill_n(no_pools, pools + 1, &no_heap.own_slabs());
  the_plan.routes = routes;
  return nullptr;
}

const char* last_name(const char* path) noexcept {
  const char* const slash = ::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

// A program of another name may well be of another build: a shell, a child.
bool is_expected(const char* path, const char* program) noexcept {
  if (is_set("MALLARD_MALLOC_VERBOSE")) return true;
  const char* const name = last_name(program);
  const std::size_t length = ::strlen(name);
  return ::strncmp(last_name(path), name, length) == 0 && last_name(path)[length] == '.';
}

const char* put_into_force(const char* path, const char* program) noexcept {
#if !defined(__x86_64__)
  return "is of x86-64";
#endif
  std::span<const std::byte> bytes;
  if (const char* const wrong = read_whole(path, bytes)) return wrong;
  if (const char* const wrong = check_image(bytes, image)) return wrong;
  bases = get_pages<std::uintptr_t>(image.modules.size());
  if (bases == nullptr) return "needs more memory than there is";
  if (!find_modules(bases)) return is_expected(path, program) ? "is of another build of the program" : "";
  if (counts_wanted()) the_plan.counts = get_pages<route_counts>(image.rules.size());
  return make_routes();
}

// Behind read_options(). So blocks that constructors allocate are routed as well.
[[gnu::constructor(103)]] void read_plan(int count, char** words, char**) noexcept {
  const char* const path = ::secure_getenv(plan_variable);
  if (path == nullptr || *path == '\0') return;
  const int saved_errno = errno;
  const char* const wrong = put_into_force(path, count > 0 && words[0] != nullptr ? words[0] : "");
  if (wrong == nullptr) {
    hear_of_modules();
    hear_of_threads([]() noexcept { my_route = {}; });
    at_hand_most = 0;
    if ((image.header->flags & plan_image::huge_pages) != 0 && !has_value(huge_pages_variable))
      the_segments.set_huge_pages(true);
  } else {
    the_plan = {};
    if (*wrong != '\0') say(path, wrong);
  }
  errno = saved_errno;
}

// --- a thread's stack --------------------------------------------------------------------------------------

// Of the first thread: what no mapping is ever placed in. Its size may be without limit.
constexpr std::size_t first_stack_bytes = std::size_t{64} << 20;

void find_stack(thread_stack& t) noexcept {
  if (::syscall(SYS_gettid) == ::getpid()) {
    if (&__libc_stack_end == nullptr || __libc_stack_end == nullptr) return;
    const auto end = reinterpret_cast<std::uintptr_t>(__libc_stack_end);
    t.begin = end - first_stack_bytes;
    t.bytes = first_stack_bytes;
    return;
  }
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return;
  void* begin = nullptr;
  if (::pthread_attr_getstack(&attributes, &begin, &t.bytes) == 0)
    t.begin = reinterpret_cast<std::uintptr_t>(begin);
  (void)::pthread_attr_destroy(&attributes);
}

}  // namespace

bool set_up_thread() noexcept {
  static __thread bool is_at_it = false;
  if (my_route.of_thread != nullptr || is_at_it) return false;
  if (mine == &no_heap) (void)borrowed_heap();
  heap* const own = mine;
  if (own == &no_heap) return false;
  pools_of_heap& pools = pools_of(own);
  if (pools.by_number == nullptr) {
    const std::size_t count = the_plan.pools;
    void* const both = lasting_memory(count * sizeof(remembered_slab) + (count + 1) * sizeof(void*));
    if (both == nullptr) return false;
    pools.remembered = static_cast<remembered_slab*>(both);
    pools.by_number = reinterpret_cast<segment_keeper**>(pools.remembered + count);
    std::fill_n(pools.by_number, count, &no_heap.own_slabs());
    pools.by_number[count] = &own->own_slabs();
  }
  const int saved_errno = errno;
  is_at_it = true;
  thread_route found;
  find_stack(found.stack);  // may allocate
  is_at_it = false;
  errno = saved_errno;
  found.pools = pools.by_number;
  found.remembered = pools.remembered;
  found.of_thread = own;
  my_route = found;
  if (the_plan.counts != nullptr) set_aside = std::exchange(mine, &no_heap);  // each free is counted
  return true;
}

// Of a rule with more pools than that, each is expected to stay small: its slabs are parts of segments.
constexpr std::uint32_t most_of_segments = 128;

segment_keeper* find_pool(std::uint32_t number) noexcept {
  if (looks_to_come.load(std::memory_order_relaxed) > 0) {
    looks_to_come.fetch_sub(1, std::memory_order_relaxed);
    look_for_modules();
  }
  segment_keeper*& found = my_route.pools[number];
  if (found != &no_heap.own_slabs()) return found;
  const std::uint32_t rule = the_plan.rules_of_pools[number];
  const auto how = static_cast<strategy>(the_plan.routes[rule].how);
  void* const place = lasting_memory(has_bump(how) ? sizeof(bump_pool) : sizeof(pool));
  if (place == nullptr) return nullptr;
  if (the_plan.counts != nullptr) the_plan.counts[rule].pools.fetch_add(1, std::memory_order_relaxed);
  if (has_bump(how)) return found = ::new (place) bump_pool(my_route.of_thread, number, how);
  const bool are_many = the_plan.has_parts && the_plan.routes[rule].mask >= most_of_segments;
  auto* const made = ::new (place) pool(my_route.of_thread, number, &my_route.remembered[number],
                                        are_many ? pool::extent::part : pool::extent::segment);
  pools_of_heap& all = pools_of(my_route.of_thread);
  made->older = all.newest;
  all.newest.store(made, std::memory_order_release);
  return found = made;
}

}  // namespace mallard::malloc_library
