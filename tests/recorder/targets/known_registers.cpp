// known_registers: calls each entry point that allocates, for 7777 bytes, with registers and stack words of
// known values.
#include <malloc.h>
#include <cstddef>
#include <cstdlib>
#include <new>

extern "C" {

// Calls `function` with the arguments. rbx, rbp, r12 to r15 are 0x101 to 0x106; the two words on top of the
// stack 0x201 and 0x202.
void* call_with_known_words(void* function, std::size_t a, std::size_t b, std::size_t c);

__asm__(
    ".text\n"
    ".type call_with_known_words, @function\n"
    "call_with_known_words:\n"
    "  push %rbx\n  push %rbp\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n  sub $8, %rsp\n"
    "  mov %rdi, %rax\n  mov %rsi, %rdi\n  mov %rdx, %rsi\n  mov %rcx, %rdx\n"
    "  mov $0x101, %ebx\n  mov $0x102, %ebp\n  mov $0x103, %r12d\n"
    "  mov $0x104, %r13d\n  mov $0x105, %r14d\n  mov $0x106, %r15d\n"
    "  push $0x202\n  push $0x201\n"
    "  call *%rax\n"
    "  add $24, %rsp\n"
    "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbp\n  pop %rbx\n"
    "  ret\n"
    ".size call_with_known_words, .-call_with_known_words\n");

}  // extern "C"

namespace {

constexpr std::size_t size = 7777;

template <class Function>
void call(Function* function, std::size_t a, std::size_t b = 0, std::size_t c = 0) {
  std::free(call_with_known_words(reinterpret_cast<void*>(function), a, b, c));
}

}  // namespace

int main() {
  void* aligned = nullptr;
  const std::size_t nothing = reinterpret_cast<std::size_t>(&std::nothrow);
  call(std::malloc, size);
  call(std::calloc, 1, size);
  call(std::realloc, 0, size);
  call(reallocarray, 0, 1, size);
  call(std::aligned_alloc, 64, size);
  call(memalign, 64, size);
  call(valloc, size);
  call(pvalloc, size);
  call_with_known_words(reinterpret_cast<void*>(posix_memalign), reinterpret_cast<std::size_t>(&aligned), 64,
                        size);
  std::free(aligned);
  call(static_cast<void* (*)(std::size_t)>(::operator new), size);
  call(static_cast<void* (*)(std::size_t)>(::operator new[]), size);
  call(static_cast<void* (*)(std::size_t, const std::nothrow_t&) noexcept>(::operator new), size, nothing);
  call(static_cast<void* (*)(std::size_t, const std::nothrow_t&) noexcept>(::operator new[]), size, nothing);
  call(static_cast<void* (*)(std::size_t, std::align_val_t)>(::operator new), size, 64);
  call(static_cast<void* (*)(std::size_t, std::align_val_t)>(::operator new[]), size, 64);
}
