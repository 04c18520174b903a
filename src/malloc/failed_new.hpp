// failed_new: what an operator new does when memory has run out.
//
//     new handler in force? --> call it, allocate again, ...        none: throw std::bad_alloc
//
// Handler and exception are the C++ runtime's, which a program in C does not have, or only once it has loaded
// a library in C++. So what this one is not linked with is looked up when memory has run out. A form with
// nothrow is left to the runtime's own then, which calls the throwing one and catches what it throws.
#pragma once

#include <dlfcn.h>
#include <stdlib.h>

#include <cstddef>
#include <initializer_list>

#include "mallard/core/attributes.hpp"

// The C++ runtime's, if the program is linked with it.
extern "C" {
[[gnu::weak]] void (*_ZSt15get_new_handlerv())();
[[gnu::weak]] void _ZSt17__throw_bad_allocv();
}

namespace mallard::malloc_library {

template <class Function>
Function* find_function(void* where, const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(where, name));
}

// What `allocate()` returns once it is not null. May throw what the handler throws.
template <class Allocate>
MALLARD_NOINLINE void* new_or_throw(Allocate allocate) {
  using handler = void (*)();
  auto* handler_in_force = &_ZSt15get_new_handlerv;
  if (handler_in_force == nullptr)
    handler_in_force = find_function<handler()>(RTLD_DEFAULT, "_ZSt15get_new_handlerv");
  for (;;) {
    const handler to_call = handler_in_force == nullptr ? nullptr : handler_in_force();
    if (to_call == nullptr) break;
    to_call();
    if (void* const p = allocate(); p != nullptr) return p;
  }
  if (_ZSt17__throw_bad_allocv != nullptr) _ZSt17__throw_bad_allocv();
  for (const char* name : {"_ZSt17__throw_bad_allocv", "_ZNSt3__117__throw_bad_allocEv"})
    if (auto* const throw_bad_alloc = find_function<void()>(RTLD_DEFAULT, name); throw_bad_alloc != nullptr)
      throw_bad_alloc();
  ::abort();
}

// By the runtime's own form with nothrow, `name`, and its arguments. Null when no handler finds memory.
template <class... Words>
MALLARD_NOINLINE void* new_or_null(const char* name, Words... words) noexcept {
  auto* const of_runtime = find_function<void*(Words...)>(RTLD_NEXT, name);
  return of_runtime == nullptr ? nullptr : of_runtime(words...);
}

}  // namespace mallard::malloc_library
