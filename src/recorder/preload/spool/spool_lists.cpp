#include "recorder/preload/spool/spool_lists.hpp"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "recorder/preload/spool/raw_calls.hpp"
#include "recorder/preload/spool/reader_watch.hpp"
#include "recorder/preload/state/recorder_state.hpp"
#include "recorder/program_image.hpp"
#include "unwind/rule_cache.hpp"

namespace mallard::recorder {
using namespace journal;

namespace {

// The lock of both lists. Signals are blocked meanwhile, so that no handler of this thread wants the lock
// that the thread holds.
class list_lock {
 public:
  explicit list_lock(journal::spool_header* spool) noexcept : spool_(spool) {
    while (taken_ && spool_->list_taken.exchange(1, std::memory_order_acquire) != 0) {
      pause_for_ns(10'000);
      taken_ = current_spool() != nullptr;
    }
  }
  ~list_lock() noexcept {
    if (taken_) spool_->list_taken.store(0, std::memory_order_release);
  }
  list_lock(const list_lock&) = delete;
  list_lock& operator=(const list_lock&) = delete;

  // False if the recording ended while the thread waited.
  [[nodiscard]] bool taken() const noexcept { return taken_; }

 private:
  blocked_signals signals_;
  journal::spool_header* spool_;
  bool taken_ = true;
};

// A module's place while it is loaded. Modules for which there is no room are listed again and again, and
// the launcher keeps one entry of each.
struct known_module {
  std::atomic<std::uintptr_t> begin;
  std::atomic<std::uintptr_t> end;  // 0: nothing is here
  const link_map* map;
};
constexpr std::size_t most_known = 8192;
known_module known[most_known];
std::atomic<std::size_t> known_used{0};

// Copies into the ring of modules at a position, around its end.
void copy_in(spool_header* spool, std::uint64_t at, const void* data, std::size_t size) noexcept {
  const auto* from = static_cast<const char*>(data);
  char* ring = modules_of(spool);
  // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): it loses sight of an object's bytes
  for (std::size_t i = 0; i < size; ++i) ring[(at + i) % module_ring_bytes] = from[i];
}

// An entry for which there is no room, since the reader is gone, is left out.
void emit_module(spool_header* spool, const module_entry& entry, const byte_range& path,
                 const byte_range& build_id) noexcept {
  const std::uint64_t at = spool->modules_head.load(std::memory_order_relaxed);
  const std::size_t whole = round_up(sizeof entry + path.size + build_id.size, alignof(module_entry));
  if (whole > module_ring_bytes || !wait_for_module_room(spool, at + whole)) return;
  copy_in(spool, at, &entry, sizeof entry);
  copy_in(spool, at + sizeof entry, path.data, path.size);
  copy_in(spool, at + sizeof entry + path.size, build_id.data, build_id.size);
  spool->modules_head.store(at + whole, std::memory_order_release);
}

bool find_module(std::uintptr_t address, dl_find_object& found) noexcept {
  return _dl_find_object(reinterpret_cast<void*>(address), &found) == 0 && found.dlfo_link_map != nullptr;
}

// A module's program headers; none if they are not where they are looked for.
struct program_headers {
  const char* data = nullptr;
  std::size_t count = 0;
};

// At the beginning of mapped memory, where nearly every module has them.
program_headers headers_at_front(const dl_find_object& mapped) noexcept {
  const auto* begin = static_cast<const char*>(mapped.dlfo_map_start);
  ElfW(Ehdr) elf;
  if (static_cast<const char*>(mapped.dlfo_map_end) - begin < static_cast<std::ptrdiff_t>(spool_page))
    return {};
  memcpy(&elf, begin, sizeof elf);
  if (memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_phentsize != sizeof(ElfW(Phdr)) ||
      elf.e_phoff > spool_page || elf.e_phnum > (spool_page - elf.e_phoff) / sizeof(ElfW(Phdr)))
    return {};
  return {begin + elf.e_phoff, elf.e_phnum};
}

// For the program the kernel says where they are: it may have holes between its segments, and then the
// loader reports each segment by itself. Libraries are mapped in one piece.
program_headers headers_of(const dl_find_object& module) noexcept {
  if (*module.dlfo_link_map->l_name != '\0') return headers_at_front(module);
  const unsigned long headers = getauxval(AT_PHDR);
  if (headers == 0 || getauxval(AT_PHENT) != sizeof(ElfW(Phdr))) return {};
  return {reinterpret_cast<const char*>(headers), getauxval(AT_PHNUM)};
}

byte_range build_id_of(const dl_find_object& module) noexcept {
  const program_headers headers = headers_of(module);
  for (std::size_t i = 0; i < headers.count; ++i) {
    ElfW(Phdr) segment;
    memcpy(&segment, headers.data + i * sizeof segment, sizeof segment);
    if (segment.p_type != PT_NOTE) continue;
    const std::uintptr_t begin = module.dlfo_link_map->l_addr + segment.p_vaddr;
    dl_find_object mapped;
    if (!find_module(begin, mapped) || mapped.dlfo_link_map != module.dlfo_link_map ||
        segment.p_memsz > reinterpret_cast<std::uintptr_t>(mapped.dlfo_map_end) - begin)
      continue;
    const byte_range id =
        build_id_among({reinterpret_cast<const char*>(begin), segment.p_memsz}, segment.p_align);
    if (id.size != 0) return id;
  }
  return {};
}

// Precondition: the list is locked. `time` is 0 for what was there when recording began.
void emit_loaded_module(spool_header* spool, const dl_find_object& module, std::uint64_t time) noexcept {
  const link_map& map = *module.dlfo_link_map;
  const byte_range path{map.l_name, strlen(map.l_name)};
  const byte_range id = build_id_of(module);
  const module_entry entry{.time = time,
                           .begin = reinterpret_cast<std::uintptr_t>(module.dlfo_map_start),
                           .end = reinterpret_cast<std::uintptr_t>(module.dlfo_map_end),
                           .bias = map.l_addr,
                           .path_bytes = static_cast<std::uint32_t>(path.size),
                           .build_id_bytes = static_cast<std::uint32_t>(id.size)};
  emit_module(spool, entry, path, id);
}

// What is known to be at an address; null: nothing.
const known_module* known_at(std::uintptr_t address) noexcept {
  const std::size_t used = known_used.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < used; ++i) {
    const std::uintptr_t end = known[i].end.load(std::memory_order_acquire);
    if (address < end && address >= known[i].begin.load(std::memory_order_relaxed)) return &known[i];
  }
  return nullptr;
}

// Precondition: the list is locked.
void remember_module(const dl_find_object& module) noexcept {
  const std::size_t used = known_used.load(std::memory_order_relaxed);
  std::size_t i = 0;
  while (i < used && known[i].end.load(std::memory_order_relaxed) != 0) ++i;
  if (i == most_known) return;
  known[i].map = module.dlfo_link_map;
  known[i].begin.store(reinterpret_cast<std::uintptr_t>(module.dlfo_map_start), std::memory_order_relaxed);
  known[i].end.store(reinterpret_cast<std::uintptr_t>(module.dlfo_map_end), std::memory_order_release);
  if (i == used) known_used.store(used + 1, std::memory_order_release);
}

int list_module(dl_phdr_info* info, std::size_t, void* spool) noexcept {
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    see_module(static_cast<spool_header*>(spool), info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    break;
  }
  return 0;
}

}  // namespace

void list_modules(spool_header* spool) noexcept { dl_iterate_phdr(list_module, spool); }

void list_inherited_modules(spool_header* spool) noexcept {
  const list_lock lock(spool);
  dl_find_object found;
  for (std::size_t i = 0; i < known_used; ++i)
    if (known[i].end != 0 && find_module(known[i].begin, found)) emit_loaded_module(spool, found, 0);
}

MALLARD_NOINLINE void see_module(spool_header* spool, std::uintptr_t address) noexcept {
  dl_find_object found;
  if (!find_module(address, found)) return;
  if (const known_module* there = known_at(address)) {
    if (there->map == found.dlfo_link_map) return;
    forget_gone_modules(spool);  // libc unloads its own plug-ins without dlclose
  }
  const list_lock lock(spool);
  if (!lock.taken() || known_at(address) != nullptr) return;
  emit_loaded_module(spool, found, current_spool() != nullptr ? recording_time() : 0);
  remember_module(found);
}

void forget_gone_modules(spool_header* spool) noexcept {
  const list_lock lock(spool);
  if (!lock.taken()) return;
  for (std::size_t i = 0; i < known_used; ++i) {
    const std::uintptr_t begin = known[i].begin;
    const std::uintptr_t end = known[i].end;
    dl_find_object found;
    if (end == 0 || (find_module(begin, found) && found.dlfo_link_map == known[i].map)) continue;
    known[i].end.store(0, std::memory_order_release);
    unwind::known_rules.forget_rules(begin, end);
    state.module_generation.fetch_add(1, std::memory_order_release);
    emit_module(
        spool,
        {.time = recording_time(), .begin = begin, .end = 0, .bias = 0, .path_bytes = 0, .build_id_bytes = 0},
        {}, {});
  }
}

namespace {

struct text {
  const char* bytes;
  name_length length;
  std::uint64_t hash;
};

text make_text(const char* bytes, std::size_t longest) noexcept {
  text made{bytes, 0, 0xcbf29ce484222325u};
  for (; made.length < longest && bytes[made.length] != '\0'; ++made.length)
    made.hash = (made.hash ^ static_cast<unsigned char>(bytes[made.length])) * 0x100000001b3u;
  return made;
}

constexpr std::size_t entry_bytes(name_length length) noexcept {
  return sizeof(name_length) + ((length + 3u) & ~std::size_t{3});
}

name_length length_at(spool_header* spool, std::uint32_t at) noexcept {
  name_length length = 0;
  memcpy(&length, names_of(spool) + at, sizeof length);
  return length;
}

bool is_at(spool_header* spool, std::uint32_t at, std::uint32_t used, const text& name) noexcept {
  return at + entry_bytes(name.length) <= used && length_at(spool, at) == name.length &&
         memcmp(names_of(spool) + at + sizeof(name_length), name.bytes, name.length) == 0;
}

// Where the name stands by now; `name_bytes` if there is no room for it.
std::uint32_t find_or_add(spool_header* spool, const text& name) noexcept {
  const list_lock lock(spool);
  if (!lock.taken()) return name_bytes;
  const std::uint32_t used = spool->names_used.load(std::memory_order_relaxed);
  std::uint32_t at = 0;
  for (; at < used; at += static_cast<std::uint32_t>(entry_bytes(length_at(spool, at))))
    if (is_at(spool, at, used, name)) return at;
  const std::size_t end = used + entry_bytes(name.length);
  if (at != used || end > name_bytes) return name_bytes;
  memcpy(names_of(spool) + at, &name.length, sizeof name.length);
  memcpy(names_of(spool) + at + sizeof name.length, name.bytes, name.length);
  spool->names_used.store(static_cast<std::uint32_t>(end), std::memory_order_release);
  return at;
}

constexpr std::size_t remembered = 64;
thread_local constinit std::uint32_t places[remembered]{};

std::uint64_t place_of(spool_header* spool, const text& name) noexcept {
  std::uint32_t& place = places[(name.hash ^ name.hash >> 32) % remembered];
  if (!is_at(spool, place, spool->names_used.load(std::memory_order_acquire), name)) {
    const std::uint32_t found = find_or_add(spool, name);
    if (found == name_bytes) return 0;
    place = found;
  }
  return scope_bit | place;
}

}  // namespace

std::uint64_t place_of_name(spool_header* spool, const char* name) noexcept {
  return place_of(spool, make_text(name == nullptr ? "" : name, longest_name));
}

std::uint64_t move_name(spool_header* from, std::uint64_t place, spool_header* to) noexcept {
  if (place == 0) return 0;
  const auto at = static_cast<std::uint32_t>(place & ~scope_bit);
  return place_of(to, make_text(names_of(from) + at + sizeof(name_length), length_at(from, at)));
}

}  // namespace mallard::recorder
