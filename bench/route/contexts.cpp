// Pairs of malloc and free whose callers a plan has to look at, one frame after the other: each level has a
// second call of the next one, for which the plan has another pool.
//
//     level 8 --own--> level 7 --own--> ... --own--> level 1 --own--> malloc
//             --other-->      --other-->               --other-->
//
//     contexts learn             prints its contexts: a name, then each return address as an offset in this
//                                program, with the bytes to the next one on the stack
//     contexts NAME [PAIRS]      of the context of that name: prints ns a pair, net of the loop and calls;
//                                under callgrind it counts instead, and tells "routed pair" and its baseline
#include <link.h>
#include <unwind.h>
#include <valgrind/callgrind.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string_view>
#include <vector>

#include "instructions/counted.hpp"

// Calls allocate(size) while rbx holds the owner, as a loop over an owner's container does.
extern "C" void* call_for_owner(const void* owner, std::size_t size, void* (*allocate)(std::size_t));
asm(R"(
  .text
  .type call_for_owner, @function
call_for_owner:
  .cfi_startproc
  pushq %rbx
  .cfi_adjust_cfa_offset 8
  movq %rdi, %rbx
  movq %rsi, %rdi
  call *%rdx
  popq %rbx
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  .size call_for_owner, . - call_for_owner
)");

namespace {

constexpr std::size_t block_size = 48;
constexpr unsigned levels = 8;
constexpr unsigned none = ~0u;
constexpr std::size_t live_blocks = 64;

void* (*allocate)(std::size_t) = std::malloc;
void (*deallocate)(void*) = std::free;

// `other`: the level that makes its other call. What stands behind a call keeps it from being a jump, and
// both from being one.
template <unsigned Level>
[[gnu::noinline]] void* level(unsigned other) {
  void* made = nullptr;
  const auto inner = [other] {
    if constexpr (Level == 1)
      return allocate(block_size);
    else
      return level<Level - 1>(other);
  };
  if (other == Level) [[unlikely]] {
    made = inner();
    asm volatile("# other" : "+r"(made)::"memory");
  } else {
    made = inner();
    asm volatile("# own" : "+r"(made)::"memory");
  }
  return made;
}

// --- what a plan is told -----------------------------------------------------------------------------------

std::uintptr_t base_of_program = 0;
unsigned frames_to_tell = 0;

void* tell_frames(std::size_t) {
  struct walk {
    std::array<std::uintptr_t, levels + 4> returns{}, places{};
    std::size_t count = 0;
  } w;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* with) {
        auto& all = *static_cast<walk*>(with);
        if (all.count == all.returns.size()) return _URC_END_OF_STACK;
        all.returns[all.count] = _Unwind_GetIP(context);
        all.places[all.count++] = _Unwind_GetCFA(context) - sizeof(void*);
        return _URC_NO_REASON;
      },
      &w);
  for (std::size_t i = 1; i <= frames_to_tell && i + 1 < w.count; ++i)
    std::printf(" %zx@%zu", w.returns[i] - base_of_program, w.places[i + 1] - w.places[i]);
  return nullptr;
}

int learn() {
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void*) {
        base_of_program = info->dlpi_addr;
        return 1;
      },
      nullptr);
  allocate = tell_frames;
  for (unsigned other = 1; other <= levels; ++other) {
    std::printf("other-%u", other);
    frames_to_tell = other;
    level<levels>(other);
    std::puts("");
  }
  std::printf("own");
  frames_to_tell = levels;
  level<levels>(none);
  std::printf("\nowner");
  frames_to_tell = 1;
  call_for_owner(nullptr, block_size, tell_frames);
  std::puts("");
  return EXIT_SUCCESS;
}

// --- pairs -------------------------------------------------------------------------------------------------

template <unsigned Frames>
struct by_frames {
  static void* make(std::size_t /*slot*/) { return level<Frames>(none); }
};
struct by_owner {
  static void* make(std::size_t slot) {
    static const std::array<char, live_blocks> owners{};
    return call_for_owner(&owners[slot], block_size, allocate);
  }
};

template <class Way>
[[gnu::noinline]] void replace(std::array<void*, live_blocks>& live, const std::vector<std::uint8_t>& slots) {
  for (const std::uint8_t slot : slots) {
    deallocate(live[slot]);
    live[slot] = Way::make(slot);
  }
}

double cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void* no_block(std::size_t /*size*/) {
  static std::array<char, block_size> place;
  return place.data();
}
void no_free(void* /*block*/) {}

// In turn with a malloc and without one; prints the difference of the medians, or has both counted.
template <class Way>
int pairs(std::string_view name, std::size_t count) {
  constexpr std::size_t rounds = 9;
  const bool is_counted = RUNNING_ON_VALGRIND != 0;
  std::mt19937 random(1);
  std::vector<std::uint8_t> slots(is_counted ? 16384 : count);
  for (std::uint8_t& slot : slots) slot = static_cast<std::uint8_t>(random() % live_blocks);
  std::array<std::vector<double>, 2> times;
  for (std::size_t round = 0; round != rounds; ++round)
    for (const bool has_malloc : {true, false}) {
      allocate = has_malloc ? std::malloc : no_block;
      deallocate = has_malloc ? std::free : no_free;
      std::array<void*, live_blocks> live{};
      for (std::size_t slot = 0; slot != live_blocks; ++slot) live[slot] = Way::make(slot);
      replace<Way>(live, slots);
      const double began = cpu_ns();
      if (is_counted && round + 1 == rounds) {
        {
          const instructions::counted here;
          replace<Way>(live, slots);
        }
        instructions::tell({"routed pair", has_malloc ? "mallard" : "none", name, live_blocks}, slots.size());
      } else {
        replace<Way>(live, slots);
      }
      times[has_malloc].push_back(cpu_ns() - began);
      for (void* const block : live) deallocate(block);
    }
  const auto median = [&](std::vector<double>& of) {
    std::ranges::nth_element(of, of.begin() + rounds / 2);
    return of[rounds / 2] / static_cast<double>(slots.size());
  };
  std::printf("%.3f\n", median(times[1]) - median(times[0]));
  return EXIT_SUCCESS;
}

struct way {
  std::string_view name;
  int (*run)(std::string_view, std::size_t);
};
constexpr std::array ways{
    way{"1 frame", pairs<by_frames<1>>},  way{"2 frames", pairs<by_frames<2>>},
    way{"4 frames", pairs<by_frames<4>>}, way{"8 frames", pairs<by_frames<8>>},
    way{"owner", pairs<by_owner>},
};

}  // namespace

int main(int count, char** arguments) {
  const std::string_view wanted = count > 1 ? arguments[1] : "";
  const std::size_t times = count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 1'000'000;
  if (wanted == "learn") return learn();
  for (const way& each : ways)
    if (each.name == wanted && times != 0) return each.run(each.name, times);
  std::fprintf(stderr, "usage: contexts learn | NAME [PAIRS]; names:");
  for (const way& each : ways) std::fprintf(stderr, " \"%s\"", each.name.data());
  std::fputs("\n", stderr);
  return 2;
}
