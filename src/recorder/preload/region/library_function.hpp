// library_function: a function of a library that the program may or may not have, and that is interposed
// here: the next one in the program's order of lookup, or else the caller's own.
//
//     program -> apr_palloc here -> the next apr_palloc among the libraries that everybody sees
//     plug-in -> apr_palloc here -> the apr_palloc of the libraries that the plug-in came with
//
// It is looked up when it is first needed and then kept, with its library. What the lookup allocates is not
// the program's. Null if there is none: then the program called a function that it does not have.
#pragma once

#include <atomic>

#include "mallard/core/attributes.hpp"

namespace mallard::recorder {

// The function as the code at `caller` would find it without this library.
[[nodiscard]] void* find_library_function(const char* name, const void* caller) noexcept;

template <class Function>
class library_function {
 public:
  constexpr explicit library_function(const char* name) noexcept : name_(name) {}

  [[nodiscard]] MALLARD_INLINE Function* find(const void* caller) noexcept {
    if (void* known = found_.load(std::memory_order_acquire)) [[likely]]
      return reinterpret_cast<Function*>(known);
    void* found = find_library_function(name_, caller);
    found_.store(found, std::memory_order_release);
    return reinterpret_cast<Function*>(found);
  }

 private:
  const char* name_;
  std::atomic<void*> found_{nullptr};
};

}  // namespace mallard::recorder
