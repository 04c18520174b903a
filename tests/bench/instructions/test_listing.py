"""Listings of functions: what of the compiler's assembly is shown, and what never is."""

from listing import functions, listing

ASSEMBLY = """\
\t.text
\t.globl\tpool_allocate
pool_allocate:
.LFB4771:
\t.cfi_startproc
\tmov\trax, QWORD PTR 8[rdi]
\tlea\trcx, -1[rsi+rax]
\tmovzx\tecx, BYTE PTR mallard::size_classes<8ul, (unsigned long)16>::table[rip]
\tmov\trdx, QWORD PTR fs:8+mallard::table@tpoff
\tje\t.L442
\tcmp\tQWORD PTR [rdi], 47
\tjbe\t.L443
\tret
\t.p2align 4,,10
.L442:
\tcall\tmallard::basic_pool<mallard::counting<int>, 4ul>::refill(unsigned long)
.LFE4771:
\t.section\t.text.unlikely
pool_allocate.cold:
.L443:
\tud2
\t.text
pool_deallocate:
\tret
"""

LISTING = """\
pool_allocate:
    mov rax, [rdi+8]
    lea rcx, [rsi+rax-1]
    movzx ecx, [rip+mallard::size_classes::table]
    mov rdx, fs:8+mallard::table
    je .1
    cmp [rdi], 47
    jbe cold
    ret
.1:
    call mallard::basic_pool::refill"""


def test_each_function_has_its_own_lines() -> None:
    bodies = functions(ASSEMBLY)
    assert listing("pool_allocate", bodies["pool_allocate"]) == LISTING
    assert listing("pool_deallocate", bodies["pool_deallocate"]) == "pool_deallocate:\n    ret"


def test_a_listing_does_not_change_with_the_numbers_of_the_labels() -> None:
    elsewhere = ASSEMBLY.replace(".L442", ".L17").replace(".LFB4771", ".LFB99")
    assert functions(elsewhere)["pool_allocate"] != functions(ASSEMBLY)["pool_allocate"]
    assert listing("pool_allocate", functions(elsewhere)["pool_allocate"]) == LISTING
