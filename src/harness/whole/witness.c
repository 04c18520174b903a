// libmallard-witness.so: says whose malloc the processes of a program call. `mallard compare` loads it behind
// a malloc in the untimed round, never in one that is measured.
//
//     global scope   program --> preloaded malloc --> this --> libstdc++, libc ...     the first one counts
//
//     one object     its table of calls --> the slot of "malloc" --> whose code it points to
//
// A preloaded library may fail to load, be no malloc at all, or come behind a malloc that the program itself
// defines: the slot of this library shows which. An object opened with RTLD_DEEPBIND looks elsewhere first:
// its own slot tells, at the end, when all is loaded and bound. Slots that are not bound yet point into the
// object itself, and are left out. dlsym alone does not tell: in a program at a fixed address it names a
// place in the program that jumps to malloc.
//
// Lines, appended to the file that MALLARD_WITNESS names, fields separated by tabs; each is one write, so
// that those of several processes do not mix:
//
//     malloc  PID PROGRAM OBJECT       at the start of a process; OBJECT is empty for the program itself
//     pool    PID PROGRAM FUNCTION     it has an allocator of its own, which is known by this function
//     bound   PID PROGRAM OBJECT OTHER at its end: OBJECT calls the malloc of OTHER
//
// A process that exec replaces or a signal ends has no line `bound`.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

// Allocators that serve a program's small objects before any malloc is asked.
static const char* const pools[] = {"PyObject_Malloc", "_emalloc", "je_malloc", "mi_malloc", "rpmalloc"};

static void tell(const char* kind, const char* first, const char* second) {
  const char* const path = getenv("MALLARD_WITNESS");
  const int file = path == NULL ? -1 : open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  char program[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
  program[size < 0 ? 0 : size] = '\0';
  char line[4 * PATH_MAX];
  const int length =
      snprintf(line, sizeof line, "%s\t%d\t%s\t%s\t%s\n", kind, (int)getpid(), program, first, second);
  if (length > 0 && (size_t)length < sizeof line && write(file, line, (size_t)length) < 0) {
    // There is nowhere to report it.
  }
  close(file);
}

// The object that an address lies in: its file, empty for the program itself, null for none; and where it
// begins.
static const char* object_of(const void* address, ElfW(Addr) * base) {
  Dl_info info;
  struct link_map* object = NULL;
  if (address == NULL || dladdr1(address, &info, (void**)&object, RTLD_DL_LINKMAP) == 0 || object == NULL)
    return NULL;
  *base = object->l_addr;
  return object->l_name;
}

// What an object's dynamic section says of the names that it has from others.
struct imports {
  const ElfW(Sym) * symbols;
  const char* names;
  struct {
    const ElfW(Rela) * first;
    size_t bytes;
  } data, calls;
};

// What the section refers to, whether the linker has made addresses of it or not.
static const void* at(const struct dl_phdr_info* object, ElfW(Addr) value) {
  return (const void*)(value < object->dlpi_addr ? object->dlpi_addr + value : value);
}

static struct imports imports_of(const struct dl_phdr_info* object) {
  struct imports found = {0};
  const ElfW(Dyn)* entry = NULL;
  for (int i = 0; i < object->dlpi_phnum; ++i)
    if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = (const ElfW(Dyn)*)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
  for (; entry != NULL && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) found.symbols = at(object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRTAB) found.names = at(object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_RELA) found.data.first = at(object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_RELASZ) found.data.bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_JMPREL) found.calls.first = at(object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_PLTRELSZ) found.calls.bytes = entry->d_un.d_val;
  }
  return found;
}

// What the object's first slot of "malloc" in a table points to; null if it has none there.
static const void* bound_in(const struct dl_phdr_info* object, const struct imports* all,
                            const ElfW(Rela) * table, size_t bytes) {
  if (all->symbols == NULL || all->names == NULL || table == NULL) return NULL;
  for (size_t i = 0; i < bytes / sizeof *table; ++i) {
    const ElfW(Sym)* const symbol = all->symbols + ELF64_R_SYM(table[i].r_info);
    if (strcmp(all->names + symbol->st_name, "malloc") == 0)
      return *(const void* const*)(object->dlpi_addr + table[i].r_offset);
  }
  return NULL;
}

// The mallocs that the process's objects are bound to: by a call, and by its address.
static const void* called;
static const void* named;

static int find_own_call(struct dl_phdr_info* object, size_t size, void* own_name) {
  (void)size;
  if (strcmp(object->dlpi_name, own_name) != 0) return 0;
  const struct imports all = imports_of(object);
  called = bound_in(object, &all, all.calls.first, all.calls.bytes);
  return 1;
}

static int tell_stray(struct dl_phdr_info* object, size_t size, void* unused) {
  (void)size;
  (void)unused;
  const struct imports all = imports_of(object);
  const void* const slots[] = {bound_in(object, &all, all.data.first, all.data.bytes),
                               bound_in(object, &all, all.calls.first, all.calls.bytes)};
  for (size_t i = 0; i < LENGTH(slots); ++i) {
    ElfW(Addr) base = 0;
    const char* const other = object_of(slots[i], &base);
    if (other != NULL && slots[i] != called && slots[i] != named && base != object->dlpi_addr)
      tell("bound", object->dlpi_name, other);
  }
  return 0;
}

__attribute__((constructor)) static void begin(void) {
  ElfW(Addr) base = 0;
  free(malloc(1));  // binds the slot
  named = dlsym(RTLD_DEFAULT, "malloc");
  const char* const own = object_of(&called, &base);
  if (own != NULL) dl_iterate_phdr(find_own_call, (void*)(uintptr_t)own);
  const char* const object = object_of(called, &base);
  if (object == NULL) return;
  tell("malloc", object, "");
  for (size_t i = 0; i < LENGTH(pools); ++i) {
    const char* const owner = object_of(dlsym(RTLD_DEFAULT, pools[i]), &base);
    if (owner != NULL && strcmp(owner, object) != 0) tell("pool", pools[i], "");
  }
}

__attribute__((destructor)) static void end(void) {
  if (called != NULL) dl_iterate_phdr(tell_stray, NULL);
}
