// dlopen with RTLD_DEEPBIND: libraries that look into the C library before they look here.
//
//     program --malloc--> here --block--> library opened with RTLD_DEEPBIND --free--> the C library: crash
//                                                   its slot for free  <-- the address of ours
//
// Such a library finds the C library's malloc among what it needs, and frees by it what the program has
// allocated by this one, or the other way round. So where it would use the C library's, its slots, and those
// of the libraries that come with it, get the addresses of the entry points here. A malloc that it brings
// along stays. In the checked build so it is with operators and the C++ library, whose blocks would be
// malloc's there; but not where a program has operators of its own. Every other call continues by a jump: the
// loader finds out from its return address who calls, and whose search path counts. Where it would matter for
// one with RTLD_DEEPBIND, that goes on as well, and is left alone.
#include "malloc/deep_bound.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
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

constexpr const char* operators[] = {"_Znwm",
                                     "_ZnwmRKSt9nothrow_t",
                                     "_ZnwmSt11align_val_t",
                                     "_ZnwmSt11align_val_tRKSt9nothrow_t",
                                     "_Znam",
                                     "_ZnamRKSt9nothrow_t",
                                     "_ZnamSt11align_val_t",
                                     "_ZnamSt11align_val_tRKSt9nothrow_t",
                                     "_ZdlPv",
                                     "_ZdlPvm",
                                     "_ZdlPvRKSt9nothrow_t",
                                     "_ZdlPvSt11align_val_t",
                                     "_ZdlPvmSt11align_val_t",
                                     "_ZdlPvSt11align_val_tRKSt9nothrow_t",
                                     "_ZdaPv",
                                     "_ZdaPvm",
                                     "_ZdaPvRKSt9nothrow_t",
                                     "_ZdaPvSt11align_val_t",
                                     "_ZdaPvmSt11align_val_t",
                                     "_ZdaPvSt11align_val_tRKSt9nothrow_t"};

constinit library_listener* hear = nullptr;

using open_function = void*(const char*, int);

open_function* real_dlopen() noexcept {
  static constinit open_function* found = nullptr;
  if (found == nullptr) found = reinterpret_cast<open_function*>(::dlsym(RTLD_NEXT, "dlopen"));
  return found;
}

// An entry point that would be another library's to a module, and is to be the one here.
struct replacement {
  const char* name = nullptr;
  void* here = nullptr;
  void* next = nullptr;  // that of the C library, or of the C++ library
};

// What is to be done to the modules from that of a handle on, which the loader puts behind those it had.
struct replacements {
  const ElfW(Dyn) * from = nullptr;  // the dynamic section of the first one
  bool are_new = false;              // whose empty slots the loader would fill at the first call
  bool are_reached = false;
  std::size_t count = 0;
  replacement all[sizeof names / sizeof *names + sizeof operators / sizeof *operators]{};
};

void add(replacements& to, void* handle, std::span<const char* const> wanted) noexcept {
  for (const char* name : wanted) {
    void* const here = ::dlsym(RTLD_DEFAULT, name);
    void* const next = ::dlsym(RTLD_NEXT, name);
    if (here != nullptr && next != nullptr && here != next && ::dlsym(handle, name) == next)
      to.all[to.count++] = {name, here, next};
  }
}

// Whether the program finds all operators here, and has none of its own.
bool has_all_operators() noexcept {
  const auto module_of = [](const void* p) {
    Dl_info info;
    return ::dladdr(p, &info) != 0 ? info.dli_fbase : nullptr;
  };
  return std::ranges::all_of(operators, [&](const char* name) {
    return module_of(::dlsym(RTLD_DEFAULT, name)) == module_of(&hear);
  });
}

replacements find_replacements(void* handle, bool are_new) noexcept {
  replacements found{.from = static_cast<link_map*>(handle)->l_ld, .are_new = are_new};
  add(found, handle, names);
  if (operators_have_blocks_of_their_own && has_all_operators()) add(found, handle, operators);
  (void)::dlerror();  // there need not be all of them
  return found;
}

// A loaded module: what its program headers say.
struct module {
  std::uintptr_t base = 0;
  std::uintptr_t end = 0;
  const ElfW(Dyn) * dynamic = nullptr;
  std::byte* sealed = nullptr;  // what the loader has made read-only when it was done
  std::size_t sealed_bytes = 0;
};

module describe(const dl_phdr_info& info) noexcept {
  module m{.base = info.dlpi_addr};
  for (const ElfW(Phdr)* h = info.dlpi_phdr; h != info.dlpi_phdr + info.dlpi_phnum; ++h) {
    const std::uintptr_t begin = m.base + h->p_vaddr;
    const std::uintptr_t end = begin + h->p_memsz;
    if (h->p_type == PT_LOAD) m.end = std::max(m.end, end);
    if (h->p_type == PT_DYNAMIC) m.dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
    if (h->p_type == PT_GNU_RELRO) {
      const std::size_t page = os_pages::page_size();
      m.sealed = reinterpret_cast<std::byte*>(align_down(begin, page));
      m.sealed_bytes = align_down(end, page) - align_down(begin, page);
    }
  }
  return m;
}

const ElfW(Dyn) * find_tag(const ElfW(Dyn) * dynamic, ElfW(Sxword) tag) noexcept {
  for (const ElfW(Dyn)* d = dynamic; d->d_tag != DT_NULL; ++d)
    if (d->d_tag == tag) return d;
  return nullptr;
}

// The address that an entry of a module's dynamic section has, which most loaders have made absolute.
std::uintptr_t address_in(const module& m, const ElfW(Dyn) & d) noexcept {
  return d.d_un.d_ptr < m.base ? m.base + d.d_un.d_ptr : d.d_un.d_ptr;
}

void replace_in(const module& m, const replacements& what, const ElfW(Rela) * relocations,
                std::size_t bytes) noexcept {
  const ElfW(Dyn)* const symbol_table = find_tag(m.dynamic, DT_SYMTAB);
  const ElfW(Dyn)* const string_table = find_tag(m.dynamic, DT_STRTAB);
  if (symbol_table == nullptr || string_table == nullptr) return;
  const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(address_in(m, *symbol_table));
  const auto* const strings = reinterpret_cast<const char*>(address_in(m, *string_table));
  for (std::size_t i = 0; i != bytes / sizeof *relocations; ++i) {
    const ElfW(Rela)& r = relocations[i];
    const ElfW(Sym)& symbol = symbols[ELF64_R_SYM(r.r_info)];
    bool is_slot = false;
    for (const std::uint32_t kind : kinds) is_slot |= ELF64_R_TYPE(r.r_info) == kind;
    if (!is_slot || symbol.st_shndx != SHN_UNDEF) continue;
    auto& slot = *reinterpret_cast<void**>(m.base + r.r_offset);
    const auto at = reinterpret_cast<std::uintptr_t>(slot);
    const bool is_unfilled = (what.are_new || m.dynamic == what.from) && at >= m.base && at < m.end;
    for (const replacement& known : std::span(what.all, what.count))
      if ((slot == known.next || is_unfilled) && ::strcmp(strings + symbol.st_name, known.name) == 0)
        slot = known.here;
  }
}

void replace_in(const module& m, const replacements& what) noexcept {
  if (m.sealed_bytes != 0 && ::mprotect(m.sealed, m.sealed_bytes, PROT_READ | PROT_WRITE) != 0) return;
  constexpr std::pair<ElfW(Sxword), ElfW(Sxword)> tables[] = {{DT_JMPREL, DT_PLTRELSZ}, {DT_RELA, DT_RELASZ}};
  for (const auto& [table, size] : tables) {
    const ElfW(Dyn)* const relocations = find_tag(m.dynamic, table);
    const ElfW(Dyn)* const bytes = find_tag(m.dynamic, size);
    if (relocations != nullptr && bytes != nullptr)
      replace_in(m, what, reinterpret_cast<const ElfW(Rela)*>(address_in(m, *relocations)),
                 bytes->d_un.d_val);
  }
  if (m.sealed_bytes != 0) (void)::mprotect(m.sealed, m.sealed_bytes, PROT_READ);
}

// Whether it makes a difference to the loader which module opens `file`. Its variables are not dlopen's,
// which would keep clang from leaving that by a jump.
MALLARD_NOINLINE bool depends_on_caller(const char* file, const void* caller) noexcept {
  if (::strchr(file, '$') != nullptr) return true;
  if (::strchr(file, '/') != nullptr) return false;
  Dl_info ignored;
  link_map* of_caller = nullptr;
  if (::dladdr1(caller, &ignored, reinterpret_cast<void**>(&of_caller), RTLD_DL_LINKMAP) == 0) return true;
  const link_map* program = of_caller;
  while (program->l_prev != nullptr) program = program->l_prev;
  const link_map* const whose_paths_count[] = {of_caller, program};
  return std::ranges::any_of(whose_paths_count, [](const link_map* m) {
    return find_tag(m->l_ld, DT_RPATH) != nullptr || find_tag(m->l_ld, DT_RUNPATH) != nullptr;
  });
}

// Other threads may open and close libraries meanwhile: while the loader calls back it unmaps none, and only
// one thread is called.
MALLARD_NOINLINE void* open_deep(const char* file, int mode) noexcept {
  void* const known = real_dlopen()(file, RTLD_LAZY | RTLD_NOLOAD);
  void* const handle = real_dlopen()(file, mode);
  if (known != nullptr) ::dlclose(known);
  if (handle == nullptr) return handle;
  replacements what = find_replacements(handle, known == nullptr);
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* with) {
        auto& wanted = *static_cast<replacements*>(with);
        const module m = describe(*info);
        wanted.are_reached |= m.dynamic == wanted.from;
        if (wanted.are_reached && m.dynamic != nullptr) replace_in(m, wanted);
        return 0;
      },
      &what);
  if (hear != nullptr) hear(true);
  return handle;
}

MALLARD_NOINLINE void* open_heard(const char* file, int mode) noexcept {
  void* const handle = real_dlopen()(file, mode);
  if (handle != nullptr) hear(true);
  return handle;
}

}  // namespace

void hear_of_libraries(library_listener* heard) noexcept { hear = heard; }

}  // namespace mallard::malloc_library

using namespace mallard::malloc_library;

extern "C" [[gnu::visibility("default")]] void* dlopen(const char* file, int mode) noexcept {
  const bool is_deep = (mode & RTLD_DEEPBIND) != 0;
  if ((is_deep || hear != nullptr) && file != nullptr) {
    if (!depends_on_caller(file, __builtin_return_address(0)))
      return is_deep ? open_deep(file, mode) : open_heard(file, mode);
    if (hear != nullptr) hear(false);
  }
  return real_dlopen()(file, mode);
}
