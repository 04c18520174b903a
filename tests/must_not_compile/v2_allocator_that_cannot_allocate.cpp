// Every way to get memory is disabled.
// error: with every way to grow disabled nothing can be allocated
#include "mallard/allocator/v2_allocator.hpp"
#include "mallard/heap/multipool.hpp"

using namespace mallard::commands;

#if defined(MISTAKE)
constexpr mallard::allocation_type disabled = allocate_new | expand_fwd | expand_bwd;
#else
constexpr mallard::allocation_type disabled = expand_fwd | expand_bwd;
#endif

using ints = mallard::v2_allocator<int, mallard::multipool, disabled>;
static_assert(sizeof(ints) == sizeof(void*));
