// Compiler attributes behind names of ours.
//
// MALLARD_INLINE  asks for inlining even in unoptimised builds of a fast path.
// MALLARD_NOINLINE keeps a slow path (growth, exhaustion) out of the fast path's code.
// MALLARD_ASSUME  tells the optimiser what always holds where it cannot see it.
// MALLARD_MAY_BE_NULL lets a function give a reference to nothing, of which only the address may be taken.
// MALLARD_VISIBLE lets shared objects that hide their symbols share this one: a variable, or a function with
//                its static variables. What dlopen loads without RTLD_GLOBAL may keep one of its own even
//                so: what clang compiles always, what gcc compiles where the program exports none
//                (-rdynamic).
// MALLARD_HIDDEN  gives each program and shared object one of its own, of a variable or a class's functions.
// MALLARD_FIRST_OF_ALL has a static object made before all others of its program or shared object.
#pragma once

#if defined(__GNUC__) || defined(__clang__)
#define MALLARD_INLINE [[gnu::always_inline]] inline
#define MALLARD_NOINLINE [[gnu::noinline]]
#define MALLARD_ASSUME(condition) ((condition) ? void(0) : __builtin_unreachable())
#define MALLARD_MAY_BE_NULL __attribute__((no_sanitize("null")))
#define MALLARD_VISIBLE [[gnu::visibility("default")]]
#define MALLARD_HIDDEN [[gnu::visibility("hidden")]]
#define MALLARD_FIRST_OF_ALL [[gnu::init_priority(101)]]
#else
#define MALLARD_INLINE inline
#define MALLARD_NOINLINE
#define MALLARD_ASSUME(condition) void(0)
#define MALLARD_MAY_BE_NULL
#define MALLARD_VISIBLE
#define MALLARD_HIDDEN
#define MALLARD_FIRST_OF_ALL
#endif
