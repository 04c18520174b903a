// Small bad programs: `bad_program GROUP N` makes the N-th mistake of a group; 0 is the group done right.
//
//     made_here(...)     allocates          each is a frame of its own in what is reported, and exported, so
//     freed_here(...)    gives back         that the names are known without debug information
//     misused_here(...)  makes the mistake
//
// Not optimised, so that no compiler reasons about what is undefined.
#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <thread>

#include "operators.hpp"

using std::size_t;

extern "C" void* __libc_malloc(size_t size);

// Of C23, which the C library may not have; the malloc has.
extern "C" [[gnu::noinline]] void free_sized(void* p, size_t size) noexcept {
  reinterpret_cast<void (*)(void*, size_t)>(dlsym(RTLD_NEXT, "free_sized"))(p, size);
}
extern "C" [[gnu::noinline]] void free_aligned_sized(void* p, size_t align, size_t size) noexcept {
  reinterpret_cast<void (*)(void*, size_t, size_t)>(dlsym(RTLD_NEXT, "free_aligned_sized"))(p, align, size);
}

enum class by {
  malloc,
  calloc,
  realloc,
  aligned,
  page,
  plain_new,
  array_new,
  nothrow_new,
  aligned_new,
  aligned_array_new
};

extern "C" [[gnu::noinline]] char* made_here(size_t size, by how) {
  switch (how) {
    case by::malloc:
      return static_cast<char*>(malloc(size));
    case by::calloc:
      return static_cast<char*>(calloc(1, size));
    case by::realloc:
      return static_cast<char*>(realloc(malloc(size / 2 + 1), size));
    case by::aligned:
      return static_cast<char*>(aligned_alloc(64, size));
    case by::page: {
      void* p = nullptr;
      return posix_memalign(&p, 4096, size) == 0 ? static_cast<char*>(p) : nullptr;
    }
    case by::plain_new:
      return static_cast<char*>(operator new(size));
    case by::array_new:
      return static_cast<char*>(operator new[](size));
    case by::nothrow_new:
      return static_cast<char*>(operator new(size, std::nothrow));
    case by::aligned_new:
      return static_cast<char*>(operator new(size, std::align_val_t{64}));
    case by::aligned_array_new:
      return static_cast<char*>(operator new[](size, std::align_val_t{64}));
  }
  return nullptr;
}

extern "C" [[gnu::noinline]] void freed_here(char* p, by how = by::malloc) {
  switch (how) {
    case by::plain_new:
    case by::nothrow_new:
      return operator delete(p);
    case by::array_new:
      return operator delete[](p);
    case by::aligned_new:
      return operator delete(p, std::align_val_t{64});
    case by::aligned_array_new:
      return operator delete[](p, std::align_val_t{64});
    default:
      return free(p);
  }
}

namespace {

char* made(size_t size = 40, by how = by::malloc) { return made_here(size, how); }

// Frees blocks of other sizes until what was freed before has left the quarantine.
void churn() {
  for (int i = 0; i != 6000; ++i) free(malloc(5000));
}

void write(char* p, long at, size_t count = 1) { memset(p + at, 0x5a, count); }

template <class F>
void in_a_thread(F f) {
  std::thread(f).join();
}

char global[64];
thread_local char of_thread[64];
void* volatile kept[8];

// --- double free ----------------------------------------------------------------------------------

void twice(size_t size, by how) {
  char* const p = made(size, how);
  freed_here(p, how);
  freed_here(p, how);
}

constexpr void (*double_frees[])() = {
    [] {
      for (const by how : {by::malloc, by::calloc, by::realloc, by::aligned, by::page, by::plain_new,
                           by::array_new, by::nothrow_new, by::aligned_new})
        for (const size_t size : {0, 1, 40, 5000, 40000, 400000}) freed_here(made(size, how), how);
      free(nullptr);
      char* const p = made();
      freed_here(p);
      char* const again = made();  // may be the same
      freed_here(again);
    },
    [] { twice(40, by::malloc); },
    [] { twice(40, by::calloc); },
    [] { twice(40, by::realloc); },
    [] { twice(128, by::aligned); },
    [] { twice(8192, by::page); },
    [] { twice(40, by::plain_new); },
    [] { twice(40, by::array_new); },
    [] { twice(128, by::aligned_new); },
    [] { twice(0, by::malloc); },
    [] { twice(40000, by::malloc); },
    [] { twice(8 << 20, by::malloc); },
    [] {  // with others between
      char* const p = made();
      freed_here(p);
      for (int i = 0; i != 100; ++i) free(malloc(40));
      freed_here(p);
    },
    [] {  // the first time by realloc, which has moved it
      char* const p = made();
      kept[0] = realloc(p, 100);
      freed_here(p);
    },
    [] {  // the first time by realloc to nothing
      char* const p = made();
      kept[0] = realloc(p, 0);
      freed_here(p);
    },
    [] {  // the second time by realloc
      char* const p = made();
      freed_here(p);
      kept[0] = realloc(p, 80);
    },
    [] {  // by another thread
      char* const p = made();
      in_a_thread([p] { freed_here(p); });
      freed_here(p);
    },
    [] {  // both by others
      char* const p = made();
      in_a_thread([p] { freed_here(p); });
      in_a_thread([p] { freed_here(p); });
    },
    [] {  // two owners
      auto* const p = new (made(sizeof(long), by::plain_new)) long(7);
      const std::unique_ptr<long> first(p);
      const std::unique_ptr<long> second(p);
    },
    [] {  // when it waits no longer
      char* const p = made();
      freed_here(p);
      churn();
      freed_here(p);
    },
};

// --- invalid free -----------------------------------------------------------------------------------

struct counted {
  ~counted() { kept[7] = this; }
  int number = 0;
};

constexpr void (*invalid_frees[])() = {
    [] {
      freed_here(nullptr);
      freed_here(strdup(global));
      delete[] new counted[3];
      void* const library = dlopen("libm.so.6", RTLD_NOW);  // whose loader frees what it has allocated
      if (library != nullptr) dlclose(library);
      free(realpath("/", nullptr));
    },
    [] { freed_here(made() + 1); },
    [] { freed_here(made() + 8); },
    [] { freed_here(made() + 16); },
    [] { freed_here(made() + 40); },
    [] { freed_here(made() - 8); },
    [] { freed_here(made() - 16); },
    [] { freed_here(made(300000) + 100000); },
    [] { freed_here(made(300000) + 4080); },
    [] { freed_here(made(128, by::aligned) + 64); },
    [] {  // in a block that is freed
      char* const p = made();
      freed_here(p);
      freed_here(p + 8);
    },
    [] {  // the first element, behind the count of elements
      auto* const all = new counted[3];
      freed_here(reinterpret_cast<char*>(all));
    },
    [] {
      char local[64];
      freed_here(local + 16);
    },
    [] { freed_here(global); },
    [] { freed_here(of_thread); },
    [] { freed_here(const_cast<char*>("text")); },
    [] { freed_here(reinterpret_cast<char*>(&made_here)); },
    [] { freed_here(reinterpret_cast<char*>(0x10)); },
    [] { freed_here(reinterpret_cast<char*>(0xdeadbeefdeadbeef)); },
    [] { freed_here(environ[0]); },
    [] {
      void* const pages = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      freed_here(static_cast<char*>(pages));
    },
    [] { freed_here(made() + (1L << 26)); },  // where no memory is
    [] { freed_here(made(5000) + 5120); },    // where the next block would begin
    [] {
      char local[64];
      kept[0] = realloc(local, 100);
    },
    [] { freed_here(made(40, by::plain_new) + 8, by::plain_new); },
};

// --- mismatched free --------------------------------------------------------------------------------

constexpr void (*mismatches[])() = {
    [] {
      operator delete(made(40, by::plain_new), size_t{40});
      operator delete[](made(40, by::array_new), size_t{40});
      operator delete(made(40, by::aligned_new), size_t{40}, std::align_val_t{64});
      operator delete(made(40, by::nothrow_new), std::nothrow);
      operator delete[](made(40, by::array_new), std::nothrow);
      operator delete[](made(40, by::aligned_array_new), size_t{40}, std::align_val_t{64});
      operator delete[](made(40, by::aligned_array_new), std::align_val_t{64}, std::nothrow);
      operator delete(made(0, by::plain_new), size_t{0});
      free_sized(made(40, by::calloc), 40);
      free_aligned_sized(made(128, by::aligned), 64, 128);
      delete new long(3);
      delete[] new long[3];
    },
    [] { freed_here(made(40, by::malloc), by::plain_new); },
    [] { freed_here(made(40, by::malloc), by::array_new); },
    [] { freed_here(made(40, by::plain_new), by::malloc); },
    [] { freed_here(made(40, by::plain_new), by::array_new); },
    [] { freed_here(made(40, by::array_new), by::malloc); },
    [] { freed_here(made(40, by::array_new), by::plain_new); },
    [] { freed_here(made(128, by::aligned_new), by::plain_new); },
    [] { freed_here(made(128, by::plain_new), by::aligned_new); },
    [] { freed_here(made(128, by::aligned), by::aligned_new); },
    [] { operator delete(made(40, by::plain_new), size_t{48}); },
    [] { operator delete[](made(40, by::array_new), size_t{32}); },
    [] { operator delete(made(128, by::aligned_new), std::align_val_t{128}); },
    [] { free_sized(made(40), 41); },
    [] { free_aligned_sized(made(128, by::aligned), 64, 64); },
    [] { free_aligned_sized(made(128, by::aligned), 32, 128); },
    [] { free_sized(made(128, by::aligned), 128); },
    [] { free(realloc(made(40, by::plain_new), 80)); },
    [] { free(reallocarray(made(40, by::array_new), 2, 40)); },
    [] { free_aligned_sized(made(128), 64, 128); },
    [] { free_sized(made(40, by::plain_new), 40); },
    [] { operator delete(made(40, by::malloc), size_t{40}); },
    [] { operator delete(made(40, by::calloc), std::nothrow); },
    [] { operator delete[](made(40, by::nothrow_new), size_t{40}); },
    [] { operator delete(made(40, by::array_new), std::nothrow); },
    [] { operator delete(made(0, by::plain_new), size_t{1}); },
    [] { operator delete(made(128, by::aligned_new), size_t{64}, std::align_val_t{64}); },
    [] { operator delete[](made(128, by::aligned_array_new), size_t{192}, std::align_val_t{64}); },
    [] { operator delete(made(128, by::aligned_new), std::align_val_t{32}, std::nothrow); },
    [] { freed_here(made(128, by::aligned_array_new), by::array_new); },
    [] { freed_here(made(128, by::array_new), by::aligned_array_new); },
    [] { freed_here(made(128, by::aligned_array_new), by::aligned_new); },
    [] { freed_here(made(128, by::aligned_new), by::aligned_array_new); },
    [] { freed_here(made(128, by::aligned_new)); },
    [] {  // as an array by the language, not by its functions
      auto* const all = new (made(3 * sizeof(long), by::plain_new)) long[3];
      delete[] all;
    },
    [] {  // of a class without a virtual destructor
      struct base {
        long a = 1;
      };
      struct derived : base {
        long b[4] = {};
      };
      base* const p = new (made(sizeof(derived), by::plain_new)) derived;
      delete p;
    },
};

// --- overflow -----------------------------------------------------------------------------------------

void overflow(size_t size, by how = by::malloc, size_t count = 1, long from = 0) {
  char* const p = made(size, how);
  write(p, static_cast<long>(size) + from, count);
  freed_here(p, how);
}

constexpr void (*overflows[])() = {
    [] {
      for (const by how : {by::malloc, by::calloc, by::realloc, by::aligned, by::page, by::plain_new,
                           by::array_new, by::aligned_new})
        for (const size_t size : {1, 15, 16, 17, 40, 1000, 4096, 5000, 40000, 400000}) {
          char* const p = made(size, how);
          write(p, 0, how == by::aligned_new ? size : malloc_usable_size(p));
          freed_here(p, how);
        }
    },
    [] { overflow(0); },
    [] { overflow(1); },
    [] { overflow(8); },
    [] { overflow(15); },
    [] { overflow(16); },
    [] { overflow(40); },
    [] { overflow(100); },
    [] { overflow(1000); },
    [] { overflow(4096); },
    [] { overflow(40000); },
    [] { overflow(400000); },
    [] { overflow(40, by::calloc); },
    [] { overflow(40, by::realloc); },
    [] { overflow(128, by::aligned); },
    [] { overflow(8192, by::page); },
    [] { overflow(40, by::plain_new); },
    [] { overflow(40, by::array_new); },
    [] { overflow(128, by::aligned_new); },
    [] { overflow(40, by::malloc, 8); },
    [] { overflow(40, by::malloc, 16); },
    [] { overflow(40, by::malloc, 1, 7); },  // not the next byte
    [] {                                     // the end of a text
      char* const p = made(9);
      strcpy(p, "character");
      freed_here(p);
    },
    [] {  // noticed when it is reallocated
      char* const p = made();
      write(p, 40);
      kept[0] = realloc(p, 80);
    },
    [] {  // noticed when the program ends
      char* const p = made();
      kept[0] = p;
      write(p, 40);
    },
};

// --- underflow ----------------------------------------------------------------------------------------

void underflow(size_t size, by how = by::malloc, long from = -1, size_t count = 1) {
  char* const p = made(size, how);
  write(p, from, count);
  freed_here(p, how);
}

constexpr void (*underflows[])() = {
    [] {
      for (const by how : {by::malloc, by::calloc, by::realloc, by::aligned, by::page, by::plain_new,
                           by::array_new, by::aligned_new})
        for (const size_t size : {1, 40, 5000, 40000, 400000}) {
          char* const p = made(size, how);
          write(p, 0, size);
          freed_here(p, how);
        }
    },
    [] { underflow(0); },
    [] { underflow(1); },
    [] { underflow(40); },
    [] { underflow(1000); },
    [] { underflow(40000); },
    [] { underflow(400000); },
    [] { underflow(40, by::calloc); },
    [] { underflow(40, by::realloc); },
    [] { underflow(128, by::aligned); },
    [] { underflow(8192, by::page); },
    [] { underflow(40, by::plain_new); },
    [] { underflow(40, by::array_new); },
    [] { underflow(128, by::aligned_new); },
    [] { underflow(40, by::malloc, -8, 8); },
    [] { underflow(40, by::malloc, -16, 16); },
    [] { underflow(40, by::malloc, -9); },
    [] { underflow(128, by::aligned, -40); },
    [] {
      char* const p = made();
      write(p, -1);
      kept[0] = realloc(p, 80);
    },
    [] {
      char* const p = made();
      kept[0] = p;
      write(p, -4, 4);
    },
};

// --- write after free ---------------------------------------------------------------------------------

void write_freed(size_t size, long at, by how = by::malloc) {
  char* const p = made(size, how);
  freed_here(p, how);
  write(p, at);
}

constexpr void (*writes_after_free[])() = {
    [] {
      for (int i = 0; i != 20000; ++i) {
        char* const p = made(static_cast<size_t>(i % 3000 + 1));
        write(p, 0, static_cast<size_t>(i % 3000 + 1));
        freed_here(p);
      }
    },
    [] { write_freed(40, 0); },
    [] { write_freed(40, 20); },
    [] { write_freed(40, 39); },
    [] { write_freed(40, -1); },
    [] { write_freed(40, 40); },
    [] { write_freed(1, 0); },
    [] { write_freed(5000, 4999); },
    [] { write_freed(100000, 60000); },
    [] { write_freed(40, 8, by::plain_new); },
    [] { write_freed(128, 8, by::aligned); },
    [] {  // by a name from before a realloc
      char* const p = made();
      kept[0] = realloc(p, 80);
      write(p, 3);
    },
    [] {  // by another thread
      char* const p = made();
      freed_here(p);
      in_a_thread([p] { write(p, 5); });
    },
    [] {  // noticed when it is to be reused
      write_freed(40, 7);
      churn();
    },
};

// --- access that faults: large blocks that are freed; sampled ones ----------------------------------

constexpr void (*faults[])() = {
    [] {
      for (const size_t size : {1, 40, 4096, 20000, 400000}) {
        char* const p = made(size);
        write(p, 0, size);
        freed_here(p);
      }
    },
    [] { write_freed(400000, 5000); },
    [] {
      char* const p = made(400000);
      freed_here(p);
      global[0] = p[399999];
    },
    [] { global[0] = made(64)[64]; },  // a read
    [] { write(made(4096), 4096); },
    [] {
      char* const p = made(64);
      freed_here(p);
      global[0] = p[0];
    },
    [] { global[0] = made(4096)[-4000]; },
};

// --- leaks ------------------------------------------------------------------------------------------

struct node {
  node* next;
  long value;
};
node* list = nullptr;
thread_local char* held = nullptr;

// What a function has left on the stack is no pointer.
[[gnu::noinline]] void wipe_stack() {
  volatile char zero[16384];
  for (size_t i = 0; i != sizeof zero; ++i) zero[i] = 0;
}

// Allocates while the frame pointer holds another value, as it may in code that is compiled without.
[[gnu::noinline]] void* malloc_with_frame_pointer(void* value) {
  void* p = nullptr;
#if defined(__x86_64__)
  asm volatile(
      "sub $136, %%rsp\n\t"  // what may be used without it
      "push %%rbp\n\t"
      "mov %1, %%rbp\n\t"
      "mov $24, %%edi\n\t"
      "call malloc@PLT\n\t"
      "pop %%rbp\n\t"
      "add $136, %%rsp"
      : "=a"(p)
      : "r"(value)
      : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
        "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
#else
  write(static_cast<char*>(value), 0);
  p = malloc(24);
#endif
  return p;
}

// Allocates twice on a stack that is a block, and forgets it.
void malloc_on_stack_of(char* stack, size_t size) {
  static ucontext_t here;
  static ucontext_t there;
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = size;
  there.uc_link = &here;
  makecontext(
      &there,
      [] {
        kept[2] = malloc(24);
        kept[3] = malloc(24);
      },
      0);
  swapcontext(&here, &there);
  memset(&here, 0, sizeof here);
  memset(&there, 0, sizeof there);
}

constexpr void (*leaks[])() = {
    [] {
      for (int i = 0; i != 5; ++i) list = new (made(sizeof(node))) node{list, i};
      kept[0] = made(100) + 50;  // its inside
      held = made(70);
      kept[1] = made(400000);
    },
    [] { write(made(100), 0); },
    [] {
      node* lost = nullptr;
      for (int i = 0; i != 5; ++i) lost = new (made(sizeof(node))) node{lost, i};
    },
    [] { write(made(400000), 0); },
    [] {  // what only a freed block points to
      char** const owner = reinterpret_cast<char**>(made(64));
      kept[2] = owner;
      *owner = made(30);
      freed_here(reinterpret_cast<char*>(owner));
    },
    [] { kept[2] = malloc_with_frame_pointer(made(50)); },  // what a call that is over had in a register
    [] { malloc_on_stack_of(made(60000), 60000); },
};

// --- loops, processes ---------------------------------------------------------------------------------

template <class F>
void at_depth(int depth, F f) {
  if (depth == 0) return f();
  at_depth(depth - 1, f);
  kept[0] = &depth;  // no tail call
}

// By a stack of its own for each path.
void misuse_by(unsigned path) {
  if (path == 1) return freed_here(global);
  if (path % 2 != 0)
    misuse_by(path / 2);
  else
    misuse_by(path / 2);
  kept[0] = &path;
}

constexpr void (*loops[])() = {
    [] {},
    [] {
      char* const p = made();
      freed_here(p);
      for (int i = 0; i != 1000; ++i) freed_here(p);
    },
    [] {
      for (int i = 0; i != 1000; ++i) at_depth(i % 10, [] { freed_here(global); });
    },
    [] {  // each path twice
      for (unsigned i = 0; i != 1024; ++i) misuse_by(512 + i / 2);
    },
};

// Threads that allocate what others free, while children are made, and libraries come and go.
void work() {
  // A library may have allocated by the C library's own malloc before its calls came here.
  char* const elsewhere = static_cast<char*>(__libc_malloc(100));
  strcpy(elsewhere, "kept");
  char* const grown = static_cast<char*>(realloc(elsewhere, 200));
  if (strcmp(grown, "kept") != 0) abort();
  free(grown);
  static std::atomic<char*> passed[64];
  const auto turn = [](unsigned seed) {
    for (int i = 0; i != 20000; ++i) {
      seed = seed * 1103515245 + 12345;
      char* const p = made(seed >> 16 & 1023);
      free(passed[seed >> 26 & 63].exchange(p));
      if (i % 5000 == 0)
        if (void* const library = dlopen("libm.so.6", RTLD_NOW); library != nullptr) dlclose(library);
    }
  };
  std::thread all[4];
  for (unsigned i = 0; i != 4; ++i) all[i] = std::thread(turn, i);
  for (int i = 0; i != 10; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      turn(static_cast<unsigned>(i));
      exit(0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) abort();
  }
  for (std::thread& t : all) t.join();
}

constexpr void (*processes[])() = {
    work,
    [] {  // a mistake, a child without one, and a child with one
      twice(40, by::malloc);
      for (const bool is_bad : {false, true}) {
        const pid_t child = fork();
        if (child == 0) {
          if (is_bad) twice(40, by::plain_new);
          exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (WEXITSTATUS(status) != (is_bad ? 99 : 0)) abort();
      }
    },
    [] {  // a library finds the operators of the C++ library first
      void* const library = dlopen(getenv("DEEP_LIBRARY"), RTLD_NOW | RTLD_DEEPBIND);
      if (library == nullptr) abort();
      auto* const make_there = reinterpret_cast<void (*)(void**)>(dlsym(library, "make_there"));
      auto* const end_there = reinterpret_cast<void (*)(void**)>(dlsym(library, "end_there"));
      void* blocks[12];
      make_there(blocks), end_all(blocks);
      make_all(blocks), end_there(blocks);
      make_there(blocks), end_there(blocks);
    },
};

// --- ends of processes, and of libraries --------------------------------------------------------------

constexpr void (*ends[])() = {
    [] {  // threads go on meanwhile
      for (const size_t size : {30000, 300000})
        std::thread([size] {
          for (;;) {
            char* const p = made(size);
            memset(p, 1, size);
            free(p);
          }
        }).detach();
      usleep(20000);
    },
    [] {  // private memory without a file behind it
      const int file = memfd_create("empty", MFD_CLOEXEC);
      if (mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0) == MAP_FAILED) abort();
    },
    [] {  // a thread waits for input, and has the lock of its file
      static int ways[2];
      if (pipe(ways) != 0) abort();
      FILE* const file = fdopen(ways[0], "r");
      std::thread([file] { fgetc(file); }).detach();
      while (ftrylockfile(file) == 0) funlockfile(file);
      fputs("written before\n", stdout);
      twice(40, by::malloc);
    },
    [] {  // the loader has a library opened whose constructor reports, while a thread does
      std::thread other([] {
        for (unsigned i = 512; i != 1024; ++i) misuse_by(i);
      });
      if (dlopen(getenv("BAD_LIBRARY"), RTLD_NOW) == nullptr) abort();
      other.join();
    },
};

struct group {
  std::string_view name;
  std::span<void (*const)()> cases;
};
constexpr group groups[] = {
    {"double-free", double_frees},
    {"invalid-free", invalid_frees},
    {"mismatched-free", mismatches},
    {"overflow", overflows},
    {"underflow", underflows},
    {"write-after-free", writes_after_free},
    {"fault", faults},
    {"leak", leaks},
    {"loop", loops},
    {"process", processes},
    {"end", ends},
};

}  // namespace

extern "C" [[gnu::noinline]] void misused_here(void (*mistake)()) { mistake(); }

// Without arguments: prints each group and how many mistakes it has.
int main(int count, char** words) {
  for (const group& g : groups) {
    if (count != 3) {
      printf("%s %zu\n", g.name.data(), g.cases.size() - 1);
      continue;
    }
    if (g.name != words[1]) continue;
    misused_here(g.cases[strtoul(words[2], nullptr, 10)]);
    wipe_stack();
  }
  return 0;
}
