#include "recorder/preload/spool/call_filter.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>

#include <cstddef>

namespace mallard::recorder {

constinit std::atomic<std::uint32_t> filters_noted{0};

namespace {

constexpr std::size_t most_instructions = 8192;  // of all filters; one has 4096 at most
constexpr std::uint32_t most_filters = 64;

sock_filter instructions[most_instructions];
std::size_t ends[most_filters];  // of each filter, among the instructions
std::atomic<std::uint32_t> is_noting{0};
std::atomic<bool> forbids_all{false};

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#endif

// The state of a filter while it looks at a call.
struct machine {
  std::uint32_t a = 0;
  std::uint32_t x = 0;
  std::uint32_t memory[BPF_MEMWORDS] = {};
};

std::uint32_t word_of(const seccomp_data& call, std::uint32_t at) noexcept {
  std::uint32_t word = 0;
  if (at <= sizeof call - sizeof word) memcpy(&word, reinterpret_cast<const char*>(&call) + at, sizeof word);
  return word;
}

std::uint32_t computed(unsigned operation, std::uint32_t a, std::uint32_t b) noexcept {
  switch (operation) {
    case BPF_ADD:
      return a + b;
    case BPF_SUB:
      return a - b;
    case BPF_MUL:
      return a * b;
    case BPF_DIV:
      return b != 0 ? a / b : 0;
    case BPF_AND:
      return a & b;
    case BPF_OR:
      return a | b;
    case BPF_XOR:
      return a ^ b;
    case BPF_LSH:
      return b < 32 ? a << b : 0;
    case BPF_RSH:
      return b < 32 ? a >> b : 0;
    default:
      return 0 - a;
  }
}

bool holds(unsigned condition, std::uint32_t a, std::uint32_t b) noexcept {
  switch (condition) {
    case BPF_JEQ:
      return a == b;
    case BPF_JGT:
      return a > b;
    case BPF_JGE:
      return a >= b;
    default:
      return (a & b) != 0;
  }
}

std::uint32_t loaded(const machine& m, const sock_filter& i, const seccomp_data& call) noexcept {
  switch (BPF_MODE(i.code)) {
    case BPF_ABS:
      return word_of(call, i.k);
    case BPF_MEM:
      return m.memory[i.k % BPF_MEMWORDS];
    case BPF_LEN:
      return sizeof call;
    default:
      return i.k;
  }
}

// What the filter answers. The kernel has checked its instructions; one that is not known kills.
std::uint32_t answer_of(const sock_filter* begin, const sock_filter* end, const seccomp_data& call) noexcept {
  machine m;
  for (const sock_filter* i = begin; i < end; ++i) {
    const std::uint32_t operand = BPF_SRC(i->code) == BPF_X ? m.x : i->k;
    switch (BPF_CLASS(i->code)) {
      case BPF_LD:
        m.a = loaded(m, *i, call);
        break;
      case BPF_LDX:
        m.x = loaded(m, *i, call);
        break;
      case BPF_ST:
        m.memory[i->k % BPF_MEMWORDS] = m.a;
        break;
      case BPF_STX:
        m.memory[i->k % BPF_MEMWORDS] = m.x;
        break;
      case BPF_ALU:
        m.a = computed(BPF_OP(i->code), m.a, operand);
        break;
      case BPF_JMP:
        i += BPF_OP(i->code) == BPF_JA ? i->k : holds(BPF_OP(i->code), m.a, operand) ? i->jt : i->jf;
        break;
      case BPF_RET:
        return BPF_RVAL(i->code) == BPF_A ? m.a : i->k;
      default:
        (BPF_MISCOP(i->code) == BPF_TAX ? m.x : m.a) = BPF_MISCOP(i->code) == BPF_TAX ? m.a : m.x;
        break;
    }
  }
  return SECCOMP_RET_KILL_PROCESS;
}

bool spares(std::uint32_t answer) noexcept {
  switch (answer & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ERRNO:
    case SECCOMP_RET_USER_NOTIF:
    case SECCOMP_RET_TRACE:
    case SECCOMP_RET_LOG:
    case SECCOMP_RET_ALLOW:
      return true;
    default:
      return false;
  }
}

}  // namespace

void note_filter(const sock_fprog& filter) noexcept {
  while (is_noting.exchange(1, std::memory_order_acquire) != 0) {  // by another thread, for a microsecond
  }
  const std::uint32_t count = filters_noted.load(std::memory_order_relaxed);
  const std::size_t begin = count == 0 || count > most_filters ? 0 : ends[count - 1];
  if (count < most_filters && filter.len <= most_instructions - begin) {
    memcpy(&instructions[begin], filter.filter, filter.len * sizeof *filter.filter);
    ends[count] = begin + filter.len;
    filters_noted.store(count + 1, std::memory_order_release);
  } else {
    forbids_all = true;
  }
  is_noting.store(0, std::memory_order_release);
}

bool filters_permit(const system_call& call) noexcept {
  if (forbids_all) return false;
  seccomp_data seen{};
  seen.nr = static_cast<int>(call.number);
  seen.arch = architecture;
  memcpy(seen.args, call.arguments, sizeof seen.args);
  const std::uint32_t count = filters_noted.load(std::memory_order_acquire);
  std::size_t begin = 0;
  for (std::uint32_t i = 0; i < count; begin = ends[i++])
    if (!spares(answer_of(&instructions[begin], &instructions[ends[i]], seen))) return false;
  return true;
}

}  // namespace mallard::recorder
