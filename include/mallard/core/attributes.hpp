// Compiler attributes under names of our own.
//
// MALLARD_INLINE        inlines a fast path even in unoptimised builds. Under AddressSanitizer it is a plain
//                       inline: what is always inlined is instrumented only where its caller is.
// MALLARD_NOINLINE      keeps a slow path (growth, exhaustion) out of the fast path's code.
// MALLARD_ASSUME        tells the optimiser a condition that always holds but that it cannot derive.
// MALLARD_MAY_BE_NULL   lets a function return a reference to nothing; callers may only take its address.
// MALLARD_VISIBLE       shares a variable, or a function with its static variables, with shared objects that
//                       hide their symbols. A library that dlopen loads without RTLD_GLOBAL may still get its
//                       own copy: always if clang compiled it, and with gcc if the program exports no symbols
//                       (-rdynamic).
// MALLARD_HIDDEN        gives each program and shared object its own copy of a variable, or of a class's
//                       functions.
// MALLARD_FIRST_OF_ALL  constructs a static object before all others of its program or shared object.
//
// MALLARD_ADDRESS_SANITIZED and MALLARD_THREAD_SANITIZED are 1 in a build with that sanitizer, otherwise 0.
#pragma once

#include "mallard/core/version.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define MALLARD_ADDRESS_SANITIZED 1
#elif defined(__has_feature)
#define MALLARD_ADDRESS_SANITIZED __has_feature(address_sanitizer)
#else
#define MALLARD_ADDRESS_SANITIZED 0
#endif

#if defined(__SANITIZE_THREAD__)
#define MALLARD_THREAD_SANITIZED 1
#elif defined(__has_feature)
#define MALLARD_THREAD_SANITIZED __has_feature(thread_sanitizer)
#else
#define MALLARD_THREAD_SANITIZED 0
#endif

#if MALLARD_ADDRESS_SANITIZED
#define MALLARD_INLINE inline
#elif defined(__GNUC__) || defined(__clang__)
#define MALLARD_INLINE [[gnu::always_inline]] inline
#else
#define MALLARD_INLINE inline
#endif

#if defined(__GNUC__) || defined(__clang__)
#define MALLARD_NOINLINE [[gnu::noinline]]
#define MALLARD_ASSUME(condition) ((condition) ? void(0) : __builtin_unreachable())
#define MALLARD_MAY_BE_NULL __attribute__((no_sanitize("null")))
#define MALLARD_VISIBLE [[gnu::visibility("default")]]
#define MALLARD_HIDDEN [[gnu::visibility("hidden")]]
#define MALLARD_FIRST_OF_ALL [[gnu::init_priority(101)]]
#else
#define MALLARD_NOINLINE
#define MALLARD_ASSUME(condition) void(0)
#define MALLARD_MAY_BE_NULL
#define MALLARD_VISIBLE
#define MALLARD_HIDDEN
#define MALLARD_FIRST_OF_ALL
#endif
