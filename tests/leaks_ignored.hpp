// leaks_ignored: while it lives, LeakSanitizer, where there is one, does not look at what its thread
// allocates.
//
// For what a test cannot give back: glibc keeps its record of a thread_local that is first used in a key's
// destructor, and is never destroyed.
#pragma once

// NOLINTBEGIN(bugprone-reserved-identifier): the names are the sanitizer's
extern "C" [[gnu::weak]] void __lsan_disable();
extern "C" [[gnu::weak]] void __lsan_enable();

namespace mallard {

class leaks_ignored {
 public:
  leaks_ignored() {
    if (__lsan_disable != nullptr) __lsan_disable();
  }
  leaks_ignored(const leaks_ignored&) = delete;
  leaks_ignored& operator=(const leaks_ignored&) = delete;
  ~leaks_ignored() {
    if (__lsan_enable != nullptr) __lsan_enable();
  }
};
// NOLINTEND(bugprone-reserved-identifier)

}  // namespace mallard
