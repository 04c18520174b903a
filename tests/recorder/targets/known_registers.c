/* known_registers: calls malloc(7777) with registers and stack words of known values. */
void* call_malloc(void);

/* rbx, rbp, r12 to r15 are 0x101 to 0x106; the two words on top of the stack 0x201 and 0x202. */
__asm__(
    ".text\n"
    ".type call_malloc, @function\n"
    "call_malloc:\n"
    "  push %rbx\n  push %rbp\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n  sub $8, %rsp\n"
    "  mov $0x101, %ebx\n  mov $0x102, %ebp\n  mov $0x103, %r12d\n"
    "  mov $0x104, %r13d\n  mov $0x105, %r14d\n  mov $0x106, %r15d\n"
    "  push $0x202\n  push $0x201\n"
    "  mov $7777, %edi\n"
    "  call malloc@PLT\n"
    "  add $24, %rsp\n"
    "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbp\n  pop %rbx\n"
    "  ret\n"
    ".size call_malloc, .-call_malloc\n");

int main(void) { return call_malloc() == 0; }
