// dlopen with RTLD_DEEPBIND: libraries that look into the C library before they look here.
//
//     program --malloc--> here --block--> library opened with RTLD_DEEPBIND --free--> the C library: crash
//                                                   its slot for free  <-- the address of ours
//
// Such a library finds the C library's malloc among what it needs, and frees by it what the program has
// allocated by this one, or the other way round. So where it would use the C library's, its slots, and those
// of the libraries that come with it, get the addresses of the entry points here. A malloc that it brings
// along stays. Every other call goes on by a jump: the loader looks up by its return address who calls, and
// whose search path counts. Where it would matter for one with RTLD_DEEPBIND, that goes on as well, and is
// left alone.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard::malloc_library {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kinds[] = {R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_64};
#elif defined(__aarch64__)
constexpr std::uint32_t kinds[] = {R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT, R_AARCH64_ABS64};
#endif

constexpr const char* names[] = {
    "malloc",        "calloc",   "realloc",   "reallocarray", "posix_memalign",
    "aligned_alloc", "memalign", "valloc",    "pvalloc",      "malloc_usable_size",
    "free",          "cfree",    "mallinfo2", "malloc_trim"};

using open_function = void*(const char*, int);

open_function* real_dlopen() noexcept {
  static constinit open_function* found = nullptr;
  if (found == nullptr) found = reinterpret_cast<open_function*>(::dlsym(RTLD_NEXT, "dlopen"));
  return found;
}

// The last of all loaded modules: the loader puts new ones behind it.
const link_map* last_module(const link_map* m) noexcept {
  while (m->l_next != nullptr) m = m->l_next;
  return m;
}

const ElfW(Dyn) * find_tag(const link_map& m, ElfW(Sxword) tag) noexcept {
  for (const ElfW(Dyn)* d = m.l_ld; d->d_tag != DT_NULL; ++d)
    if (d->d_tag == tag) return d;
  return nullptr;
}

// What the entry point named `name` is to a module, if it would be the C library's; otherwise null.
void* replacement(void* handle, const char* name) noexcept {
  for (const char* known : names)
    if (::strcmp(name, known) == 0) {
      void* const here = ::dlsym(RTLD_DEFAULT, name);
      void* const next = ::dlsym(RTLD_NEXT, name);
      return here != nullptr && here != next && ::dlsym(handle, name) == next ? here : nullptr;
    }
  return nullptr;
}

// What the loader has made read-only when it was done with a module.
struct sealed_range {
  const link_map& of;
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
};

sealed_range find_sealed(const link_map& m) noexcept {
  sealed_range found{m};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        auto& range = *static_cast<sealed_range*>(result);
        if (info->dlpi_addr != range.of.l_addr) return 0;
        for (const ElfW(Phdr)* h = info->dlpi_phdr; h != info->dlpi_phdr + info->dlpi_phnum; ++h)
          if (h->p_type == PT_GNU_RELRO) {
            const std::size_t page = os_pages::page_size();
            const std::uintptr_t begin = align_down(info->dlpi_addr + h->p_vaddr, page);
            range.begin = reinterpret_cast<std::byte*>(begin);
            range.bytes = align_down(info->dlpi_addr + h->p_vaddr + h->p_memsz, page) - begin;
          }
        return 1;
      },
      &found);
  return found;
}

// The address that an entry of a module's dynamic section has, which most loaders have made absolute.
std::uintptr_t address_in(const link_map& m, const ElfW(Dyn) & d) noexcept {
  return d.d_un.d_ptr < m.l_addr ? m.l_addr + d.d_un.d_ptr : d.d_un.d_ptr;
}

void replace_in(void* handle, const link_map& m, const ElfW(Rela) * relocations, std::size_t bytes) noexcept {
  const ElfW(Dyn)* const symbol_table = find_tag(m, DT_SYMTAB);
  const ElfW(Dyn)* const string_table = find_tag(m, DT_STRTAB);
  if (symbol_table == nullptr || string_table == nullptr) return;
  const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(address_in(m, *symbol_table));
  const auto* const strings = reinterpret_cast<const char*>(address_in(m, *string_table));
  for (std::size_t i = 0; i != bytes / sizeof *relocations; ++i) {
    const ElfW(Rela)& r = relocations[i];
    const ElfW(Sym)& symbol = symbols[ELF64_R_SYM(r.r_info)];
    bool is_slot = false;
    for (const std::uint32_t kind : kinds) is_slot |= ELF64_R_TYPE(r.r_info) == kind;
    if (!is_slot || symbol.st_shndx != SHN_UNDEF) continue;
    void* const here = replacement(handle, strings + symbol.st_name);
    if (here != nullptr) *reinterpret_cast<void**>(m.l_addr + r.r_offset) = here;
  }
}

void replace_in(void* handle, const link_map& m) noexcept {
  const sealed_range sealed = find_sealed(m);
  if (sealed.bytes != 0 && ::mprotect(sealed.begin, sealed.bytes, PROT_READ | PROT_WRITE) != 0) return;
  constexpr std::pair<ElfW(Sxword), ElfW(Sxword)> tables[] = {{DT_JMPREL, DT_PLTRELSZ}, {DT_RELA, DT_RELASZ}};
  for (const auto& [table, size] : tables) {
    const ElfW(Dyn)* const relocations = find_tag(m, table);
    const ElfW(Dyn)* const bytes = find_tag(m, size);
    if (relocations != nullptr && bytes != nullptr)
      replace_in(handle, m, reinterpret_cast<const ElfW(Rela)*>(address_in(m, *relocations)),
                 bytes->d_un.d_val);
  }
  if (sealed.bytes != 0) (void)::mprotect(sealed.begin, sealed.bytes, PROT_READ);
}

// Whether it makes a difference to the loader who opens `file`.
bool depends_on_caller(const char* file, const void* caller) noexcept {
  if (::strchr(file, '$') != nullptr) return true;
  if (::strchr(file, '/') != nullptr) return false;
  Dl_info ignored;
  link_map* of_caller = nullptr;
  if (::dladdr1(caller, &ignored, reinterpret_cast<void**>(&of_caller), RTLD_DL_LINKMAP) == 0) return true;
  const link_map* program = of_caller;
  while (program->l_prev != nullptr) program = program->l_prev;
  const link_map* const whose_paths_count[] = {of_caller, program};
  return std::ranges::any_of(whose_paths_count, [](const link_map* m) {
    return find_tag(*m, DT_RPATH) != nullptr || find_tag(*m, DT_RUNPATH) != nullptr;
  });
}

MALLARD_NOINLINE void* open_deep(const char* file, int mode) noexcept {
  auto* const program = static_cast<link_map*>(real_dlopen()(nullptr, RTLD_LAZY));
  const link_map* const last = program == nullptr ? nullptr : last_module(program);
  void* const handle = real_dlopen()(file, mode);
  if (handle == nullptr || last == nullptr) return handle;
  for (const link_map* m = last->l_next; m != nullptr; m = m->l_next) replace_in(handle, *m);
  return handle;
}

}  // namespace
}  // namespace mallard::malloc_library

using namespace mallard::malloc_library;

extern "C" [[gnu::visibility("default")]] void* dlopen(const char* file, int mode) noexcept {
  if ((mode & RTLD_DEEPBIND) != 0 && file != nullptr && !depends_on_caller(file, __builtin_return_address(0)))
    return open_deep(file, mode);
  return real_dlopen()(file, mode);
}
