// The program that plan_test.cpp makes plans for. `learn` prints what a plan says of it; the other arguments
// each do something under a plan and print what a test expects of it.
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#define APART __attribute__((noinline))
#define NO_JUMP asm volatile("" ::: "memory")  // at the end of a call: the frame stays

// Calls allocate(size) while `of` is in every register that a callee keeps, and in a word of the stack: the
// first one above the return address.
struct owner {
  char name[64];
};
extern "C" void* mallard_make_for(owner* of, std::size_t size, void* (*allocate)(std::size_t));
asm(R"(
  .text
  .type mallard_make_for, @function
mallard_make_for:
  .cfi_startproc
  pushq %rbx
  pushq %rbp
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  .cfi_adjust_cfa_offset 48
  subq $24, %rsp
  .cfi_adjust_cfa_offset 24
  movq %rdi, (%rsp)
  movq %rdi, %rbx
  movq %rdi, %rbp
  movq %rdi, %r12
  movq %rdi, %r13
  movq %rdi, %r14
  movq %rdi, %r15
  movq %rsi, %rdi
  call *%rdx
  addq $24, %rsp
  .cfi_adjust_cfa_offset -24
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbp
  popq %rbx
  .cfi_adjust_cfa_offset -48
  ret
  .cfi_endproc
  .size mallard_make_for, . - mallard_make_for
)");

// The malloc asks for memory by way of these, which refuse now and then where a test says so.
namespace {
std::atomic<unsigned> refused_one_in = 0;
std::atomic<unsigned> refusals = 0;
bool is_refused() {
  static std::atomic<unsigned> calls = 0;
  if (refused_one_in == 0 || ++calls % refused_one_in != 0) return false;
  ++refusals;
  errno = ENOMEM;
  return true;
}
}  // namespace
extern "C" void* mmap(void* at, std::size_t size, int protection, int flags, int file,
                      off_t offset) noexcept {
  if (is_refused()) return MAP_FAILED;
  return reinterpret_cast<void*>(::syscall(SYS_mmap, at, size, protection, flags, file, offset));
}
extern "C" int mprotect(void* at, std::size_t size, int protection) noexcept {
  return is_refused() ? -1 : static_cast<int>(::syscall(SYS_mprotect, at, size, protection));
}

namespace {

// Prints the return addresses from the caller's on, as "offset@bytes to the next one on the stack".
std::uintptr_t base_of_program = 0;
struct walk {
  std::array<std::uintptr_t, 8> returns{}, places{};
  std::size_t count = 0;
};
void* learn(std::size_t) {
  walk w;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* with) {
        auto& all = *static_cast<walk*>(with);
        if (all.count == all.returns.size()) return _URC_END_OF_STACK;
        all.returns[all.count] = _Unwind_GetIP(context);
        all.places[all.count++] = _Unwind_GetCFA(context) - 8;
        return _URC_NO_REASON;
      },
      &w);
  for (std::size_t i = 1; i + 1 < w.count && i != 4; ++i)
    std::printf(" %zx@%zu", w.returns[i] - base_of_program, w.places[i + 1] - w.places[i]);
  return nullptr;
}

void* (*allocate)(std::size_t) = std::malloc;
void* (*allocate_zero)(std::size_t, std::size_t) = std::calloc;
void* (*reallocate)(void*, std::size_t) = std::realloc;

// What any two callers share.
APART void* wrapper(std::size_t size) {
  void* const p = allocate(size);
  NO_JUMP;
  return p;
}
APART void* make_a(std::size_t size) {
  void* const p = wrapper(size);
  NO_JUMP;
  return p;
}
APART void* make_b(std::size_t size) {
  void* const p = wrapper(size);
  asm volatile("nop" ::: "memory");  // or it were make_a
  return p;
}
APART void* make_zero(std::size_t size) {
  void* const p = allocate_zero(size, 1);
  NO_JUMP;
  return p;
}
APART void* grow(void* p, std::size_t size) {
  void* const q = reallocate(p, size);
  NO_JUMP;
  return q;
}

// The other ways to ask for a block. An alignment of 16 bytes each block has in any case.
void* (*by_new)(std::size_t) = ::operator new;
void* (*by_nothrow)(std::size_t, const std::nothrow_t&) = ::operator new;
void* (*by_new_aligned)(std::size_t, std::align_val_t) = ::operator new;
void* (*by_nothrow_aligned)(std::size_t, std::align_val_t, const std::nothrow_t&) = ::operator new;
void* (*by_memalign)(std::size_t, std::size_t) = ::memalign;
void* (*by_aligned_alloc)(std::size_t, std::size_t) = ::aligned_alloc;
int (*by_posix_memalign)(void**, std::size_t, std::size_t) = ::posix_memalign;
constexpr int ways = 8;
template <int Way>
APART void* make_by(std::size_t size) {
  void* p = nullptr;
  if constexpr (Way == 0) p = by_new(size);
  if constexpr (Way == 1) p = by_nothrow(size, std::nothrow);
  if constexpr (Way == 2) p = by_new_aligned(size, std::align_val_t{8});
  if constexpr (Way == 3) p = by_nothrow_aligned(size, std::align_val_t{16}, std::nothrow);
  if constexpr (Way == 4) p = by_memalign(16, size);
  if constexpr (Way == 5) p = by_aligned_alloc(16, size);
  if constexpr (Way == 6)
    if (by_posix_memalign(&p, 16, size) != 0) p = nullptr;
  if constexpr (Way == 7) p = by_new_aligned(size, std::align_val_t{32});
  NO_JUMP;
  return p;
}
template <int... Way>
constexpr std::array<void* (*)(std::size_t), ways> all_ways(std::integer_sequence<int, Way...>) {
  return {make_by<Way>...};
}
constexpr auto make_by_way = all_ways(std::make_integer_sequence<int, ways>());

void* in_owner(owner* of, std::size_t size) { return mallard_make_for(of, size, allocate); }

// Of a slab, or of a part of it: a quarter of a segment.
std::uintptr_t part_of(const void* p) { return reinterpret_cast<std::uintptr_t>(p) >> 14; }

void print_identity() {
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void*) {
        base_of_program = info->dlpi_addr;
        for (int i = 0; i != info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type != PT_NOTE) continue;
          const char* at = reinterpret_cast<const char*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
          const char* const end = at + info->dlpi_phdr[i].p_memsz;
          while (at < end) {
            const auto& note = *reinterpret_cast<const ElfW(Nhdr)*>(at);
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4) {
              std::printf("build_id ");
              for (unsigned b = 0; b != note.n_descsz; ++b)
                std::printf("%02x", static_cast<unsigned char>(at[sizeof note + 4 + b]));
              std::printf("\n");
            }
            at += sizeof note + ((note.n_namesz + 3) & ~3u) + ((note.n_descsz + 3) & ~3u);
          }
        }
        return 1;
      },
      nullptr);
}

void print_learned() {
  print_identity();
  allocate = learn;
  allocate_zero = [](std::size_t size, std::size_t) { return learn(size); };
  reallocate = [](void*, std::size_t size) { return learn(size); };
  by_new = learn;
  by_nothrow = [](std::size_t size, const std::nothrow_t&) { return learn(size); };
  by_new_aligned = [](std::size_t size, std::align_val_t) { return learn(size); };
  by_nothrow_aligned = [](std::size_t size, std::align_val_t, const std::nothrow_t&) { return learn(size); };
  by_memalign = by_aligned_alloc = [](std::size_t, std::size_t size) { return learn(size); };
  // Returns a pointer, as no compiler jumps where the result has to become an int.
  void* (*const learn_behind)(void**, std::size_t, std::size_t) = [](void**, std::size_t, std::size_t size) {
    return learn(size);
  };
  by_posix_memalign =
      reinterpret_cast<decltype(by_posix_memalign)>(reinterpret_cast<void (*)()>(learn_behind));
  owner one{};
  std::printf("a"), make_a(1);
  std::printf("\nb"), make_b(1);
  std::printf("\nzero"), make_zero(1);
  std::printf("\ngrow"), grow(nullptr, 1);
  std::printf("\nowner"), in_owner(&one, 1);
  for (std::size_t i = 0; i != ways; ++i) std::printf("\nway%zu", i), make_by_way[i](1);
  std::printf("\n");
}

std::string relation(const char* name, const void* p, const void* q) {
  return std::string(name) + (part_of(p) == part_of(q) ? " same " : " apart ");
}

// Blocks of each context, and whether they lie in one segment.
std::string contexts() {
  void* const a = make_a(40);
  void* const b = make_b(40);
  void* const z = make_zero(40);
  void* const plain = std::malloc(40);
  std::string result = relation("a+a", a, make_a(40)) + relation("b+b", b, make_b(40)) +
                       relation("a+b", a, b) + relation("a+zero", a, z) + relation("a+plain", a, plain) +
                       relation("b+plain", b, plain);
  void* const grown = grow(std::memset(std::malloc(40), 'x', 40), 400);
  result += relation("grown+400a", grown, make_a(400)) + relation("grown+plain", grown, std::malloc(400));
  result += static_cast<char*>(grown)[39] == 'x' ? "kept" : "lost";
  return result;
}

// Whether blocks that are asked for in each way lie with those of make_b, at a multiple of 16 bytes.
std::string each_way() {
  void* const b = make_b(40);
  std::string result;
  for (void* (*const make)(std::size_t) : make_by_way) {
    void* const p = make(40);
    result += reinterpret_cast<std::uintptr_t>(p) % 16 != 0 ? "not aligned " : relation("", p, b);
    std::free(p);
  }
  return result;
}

// Whether what a library's constructor has allocated, by the library's function, lies with a block of make_b.
std::string early() {
  auto* const made = static_cast<void**>(::dlsym(RTLD_DEFAULT, "made_by_constructor"));
  return made == nullptr ? "no library" : relation("early+b", *made, make_b(40));
}

// How many segments the blocks of a number of owners lie in, a block of each after the other.
std::string owners(std::size_t count) {
  std::vector<owner> all(count);
  std::vector<std::uintptr_t> first;
  std::size_t moved = 0;
  for (owner& o : all) first.push_back(part_of(in_owner(&o, 40)));
  for (std::size_t i = 0; i != count; ++i)
    for (int n = 0; n != 20; ++n) moved += part_of(in_owner(&all[i], 40)) != first[i];
  std::size_t kinds = 0;
  for (std::size_t i = 0; i != count; ++i) {
    bool is_new = true;
    for (std::size_t j = 0; j != i; ++j) is_new &= first[i] != first[j];
    kinds += is_new;
  }
  const struct mallinfo2 all_memory = ::mallinfo2();
  if (all_memory.uordblks > all_memory.arena || all_memory.uordblks < count * 21 * 40) return "wrong totals";
  return std::to_string(kinds) + " of " + std::to_string(count) + " apart, " + std::to_string(moved) +
         " astray";
}

// Everything at once, with a mark in each block: whether any was lost. Threads free what others allocate.
std::array<std::atomic<unsigned char*>, 512> shared_blocks{};
bool churn(unsigned seed, int count) {
  std::mt19937 random(seed);
  bool is_right = true;
  owner one{};
  const auto mark = [](const void* p) {
    return static_cast<unsigned char>(reinterpret_cast<std::uintptr_t>(p) >> 4);
  };
  for (int i = 0; i != count; ++i) {
    const std::size_t size = 1 + (random() % 40 == 0 ? random() % 90000 : random() % 900);
    void* made = nullptr;
    switch (random() % 6) {
      case 0:
        made = make_a(size);
        break;
      case 1:
        made = make_b(size);
        break;
      case 2:
        made = make_zero(size);
        break;
      case 3:
        made = std::malloc(size);
        break;
      case 4:
        made = in_owner(&one, size);
        break;
      default: {
        auto* const first = static_cast<unsigned char*>(make_a(size));
        *first = 77;
        auto* const p = static_cast<unsigned char*>(grow(first, size / 2 + random() % (2 * size) + 1));
        is_right &= p != nullptr && *p == 77;
        made = p;
      }
    }
    auto* p = static_cast<unsigned char*>(made);
    if (p == nullptr || ::malloc_usable_size(p) < 1) return false;
    p[::malloc_usable_size(p) - 1] = p[0] = mark(p);
    p = shared_blocks[random() % shared_blocks.size()].exchange(p);
    if (p != nullptr) {
      is_right &= p[0] == mark(p);
      std::free(p);
    }
  }
  return is_right;
}

std::string threads() {
  std::array<bool, 32> is_right{};
  for (unsigned round = 0; round != 4; ++round) {
    std::vector<std::thread> all;
    for (unsigned t = 0; t != 8; ++t)
      all.emplace_back([&, t, round] { is_right[round * 8 + t] = churn(round * 8 + t, 8000); });
    for (std::thread& t : all) t.join();
  }
  for (const bool b : is_right)
    if (!b) return "lost";
  return "right";
}

std::string forks() {
  if (!churn(1, 5000)) return "lost";
  std::thread busy([] { (void)churn(2, 30000); });
  for (int i = 0; i != 20; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      // What other threads were about is theirs: this child looks at its own blocks only.
      for (auto& p : shared_blocks) p = nullptr;
      ::_exit(churn(3, 2000) && part_of(make_a(40)) != part_of(make_b(40)) ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) return busy.join(), "lost in a child";
  }
  busy.join();
  return "right";
}

// Whether threads whose first request finds no memory get it later. None of them ends before all have asked:
// each has a heap of its own, and the next piece of what memory for heaps is left.
std::string without_memory() {
  std::array<void*, 24> made{};
  owner one{};
  std::mutex mutex;
  std::barrier together(made.size());
  rlimit before{};
  (void)::getrlimit(RLIMIT_AS, &before);
  const rlimit none{4096, before.rlim_max};
  std::vector<std::thread> all;
  for (void*& m : made)
    all.emplace_back([&] {
      together.arrive_and_wait();
      {
        const std::lock_guard guard(mutex);
        (void)::setrlimit(RLIMIT_AS, &none);
        (void)in_owner(&one, 40);
        (void)::setrlimit(RLIMIT_AS, &before);
        m = in_owner(&one, 40);
      }
      together.arrive_and_wait();
    });
  for (std::thread& t : all) t.join();
  return std::find(made.begin(), made.end(), nullptr) == made.end() ? "right" : "none";
}

// A block by any of the ways of a plan; null and ENOMEM at worst.
void* make_any(unsigned way, owner* of, std::size_t size) {
  switch (way % 5) {
    case 0:
      return make_a(size);
    case 1:
      return make_b(size);
    case 2:
      return make_zero(size);
    case 3:
      return in_owner(of, size);
    default:
      return std::malloc(size);
  }
}

// All bytes of a block follow from its size, which stands first: after it, a row of 256 bytes comes again and
// again.
struct marked {
  std::size_t size;

  static marked* in(void* p, std::size_t size) {
    auto* const m = static_cast<marked*>(p);
    m->size = size;
    for (std::size_t i = sizeof *m; i < size; i += 256)
      std::memcpy(static_cast<char*>(p) + i, row(size), std::min<std::size_t>(256, size - i));
    return m;
  }
  [[nodiscard]] bool is_whole(std::size_t as_made) const {
    const auto* const bytes = reinterpret_cast<const char*>(this);
    for (std::size_t i = sizeof *this; i < as_made; i += 256)
      if (std::memcmp(bytes + i, row(as_made), std::min<std::size_t>(256, as_made - i)) != 0) return false;
    return size == as_made;
  }

 private:
  static const unsigned char* row(std::size_t size) {
    static constexpr auto counted = [] {
      std::array<unsigned char, 512> bytes{};
      for (std::size_t i = 0; i != bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i);
      return bytes;
    }();
    return counted.data() + size * 31 % 256;
  }
};

// Allocates, grows and frees while the system refuses one mapping in a few, then again while it refuses
// none. What has been allocated stays whole.
std::string refused(unsigned one_in) {
  std::mt19937 random(one_in);
  owner one{};
  struct known {
    marked* block;
    std::size_t size;
  };
  std::array<known, 1500> live{};
  std::size_t nulls = 0;
  for (int i = 0; i != 10000; ++i) {
    refused_one_in = i < 7000 ? one_in : 0;
    known& k = live[random() % live.size()];
    if (k.block != nullptr && !k.block->is_whole(k.size)) return "damaged";
    const std::size_t size = sizeof(marked) + (random() % 20 == 0 ? random() % 300000 : random() % 2000);
    const bool grows = k.block != nullptr && random() % 4 == 0;
    errno = 0;
    void* const p = grows ? grow(k.block, size) : make_any(static_cast<unsigned>(random()), &one, size);
    if (p == nullptr) {
      if (errno != ENOMEM || refused_one_in == 0) return "null without a reason";
      ++nulls;
      continue;
    }
    if (!grows) std::free(k.block);
    if (grows && static_cast<marked*>(p)->size != k.size) return "lost by realloc";
    k = {marked::in(p, size), size};
    if (random() % 50 == 0) ::malloc_trim(0);
  }
  for (const known& k : live)
    if (k.block != nullptr && !k.block->is_whole(k.size)) return "damaged";
  return refusals == 0 ? "nothing was refused" : one_in == 1 && nulls == 0 ? "no null" : "whole";
}

// Takes all addresses that the process may have, three times, and gives all back.
std::string up_to_the_limit() {
  const rlimit limit{std::size_t{200} << 20, std::size_t{200} << 20};
  (void)::setrlimit(RLIMIT_AS, &limit);
  owner one{};
  for (int round = 0; round != 3; ++round) {
    marked* newest = nullptr;  // linked by their last words, so that this needs no memory
    std::size_t total = 0;
    unsigned way = 0;
    const auto link = [](marked* m) {
      return reinterpret_cast<marked**>(reinterpret_cast<char*>(m) + m->size);
    };
    for (const std::size_t size : {3000000u, 50000u, 3000u, 40u}) {
      for (;;) {
        errno = 0;
        void* const p = make_any(way++, &one, size + sizeof(marked*));
        if (p == nullptr) break;
        marked* const m = marked::in(p, size);
        *link(m) = newest;
        newest = m;
        total += size;
      }
      if (errno != ENOMEM) return "null without a reason";
      void* const grown = newest == nullptr ? nullptr : grow(newest, std::size_t{400} << 20);
      if (grown != nullptr || errno != ENOMEM) return "more than there is";
    }
    if (total < std::size_t{100} << 20) return "too little";
    while (newest != nullptr) {
      if (!newest->is_whole(newest->size)) return "damaged";
      marked* const next = *link(newest);
      std::free(newest);
      newest = next;
    }
  }
  return "whole";
}

// The library's `make` allocates through this program's malloc, also where it would look into the C library.
std::string library(const char* path) {
  std::string result;
  for (int i = 0; i != 3; ++i) {
    void* const opened = ::dlopen(path, i == 0 ? RTLD_NOW | RTLD_DEEPBIND : RTLD_NOW);
    if (opened == nullptr) return "no library";
    auto* const make = reinterpret_cast<void* (*)(std::size_t)>(::dlsym(opened, "make"));
    result += relation("library+plain", make(40), std::malloc(40));
    ::dlclose(opened);
  }
  return result;
}

// Eight phases, each of its own context and size, that allocate and free 6 MiB: the most memory ever, in MiB.
std::string phases() {
  for (std::size_t phase = 0; phase != 8; ++phase) {
    std::vector<void*> all;
    for (std::size_t i = 0; i != 100000; ++i)
      all.push_back(phase % 2 == 0 ? make_a(48 + 16 * phase) : make_b(48 + 16 * phase));
    for (void* p : all) std::free(p);
  }
  std::string status(4096, '\0');
  FILE* const file = std::fopen("/proc/self/status", "r");
  status.resize(std::fread(status.data(), 1, status.size(), file));
  std::fclose(file);
  return status.substr(status.find("VmHWM:"), 24);
}

// Whether memory is asked to be of huge pages: what is new, not what libraries have had before.
std::string pages() {
  const std::vector<char> much(8 << 20);
  std::string said = "small";
  FILE* const file = std::fopen("/proc/self/smaps", "r");
  for (std::array<char, 512> line{}; std::fgets(line.data(), line.size(), file) != nullptr;)
    if (std::strstr(line.data(), "VmFlags:") != nullptr && std::strstr(line.data(), " hg") != nullptr)
      said = "huge";
  std::fclose(file);
  return said;
}

// Blocks of a region in the order of addresses, without what lies between.
APART std::string one_region() {
  std::array<char*, 6> p{};
  for (std::size_t i = 0; i != p.size(); ++i) p[i] = static_cast<char*>(make_a(20 + 30 * i));
  std::string result = "rising";
  for (std::size_t i = 1; i != p.size(); ++i)
    if (p[i] < p[i - 1] || p[i] > p[i - 1] + 250) result = "scattered";
  const std::size_t size = ::malloc_usable_size(p[3]);
  std::free(p[3]);
  result += make_a(size) == p[3] ? " reused" : " not reused";
  for (std::size_t i = 0; i != p.size(); ++i)
    if (i != 3) std::free(p[i]);
  return result;
}

// A segment of a reap begins anew, where nothing lives in it, while another one is in use: whether what was
// freed there before serves a request as well.
APART std::string begun_anew() {
  constexpr std::size_t segment = 65536;
  const auto at = [](const char* p) { return reinterpret_cast<std::uintptr_t>(p) % segment; };
  const auto make = [](std::size_t size) { return static_cast<char*>(make_a(size)); };
  std::vector<char*> first;
  do first.push_back(make(3000));
  while (first.size() < 2 || at(first.back()) > at(first[first.size() - 2]));
  std::vector<char*> second{first.back()};
  first.pop_back();
  for (int i = 0; i != 500; ++i) second.push_back(make(56));
  for (std::size_t i = 1; i != second.size(); ++i) std::free(second[i]);
  second.resize(1);
  do second.push_back(make(second.size() == 1 ? 56 : 3000));
  while (at(second.back()) + 2 * 3008 < segment);
  for (char* p : second) std::free(p);
  const auto size = std::size_t{4000};
  char* const large = make(size);
  std::memset(large, 1, size);
  for (int i = 0; i != 400; ++i) std::memset(make(56), 2, 56);
  return std::all_of(large, large + size, [](char c) { return c == 1; }) ? "apart" : "twice";
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count < 2 ? "" : arguments[1];
  std::string said = "what?";
  if (what == "learn") return print_learned(), 0;
  if (what == "contexts") said = contexts();
  if (what == "each_way") said = each_way();
  if (what == "early") said = early();
  if (what == "owners") said = owners(std::strtoul(arguments[2], nullptr, 10));
  if (what == "churn") said = churn(1, 100000) ? "right" : "lost";
  if (what == "threads") said = threads();
  if (what == "forks") said = forks();
  if (what == "without_memory") said = without_memory();
  if (what == "refused") said = refused(static_cast<unsigned>(std::strtoul(arguments[2], nullptr, 10)));
  if (what == "up_to_the_limit") said = up_to_the_limit();
  if (what == "library") said = library(arguments[2]);
  if (what == "phases") said = phases();
  if (what == "pages") said = pages();
  if (what == "region") said = one_region();
  if (what == "begun_anew") said = begun_anew();
  std::puts(said.c_str());
  return 0;
}
