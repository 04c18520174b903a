// Fork handlers, by those of the chunk cache, in a program that asks for none of it before they are
// needed.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "mallard/source/default_source.hpp"

namespace {
int registrations = 0;  // of fork handlers
}

#if defined(__clang__)
#define NOT_SANITIZED [[clang::disable_sanitizer_instrumentation]]
#else
#define NOT_SANITIZED
#endif

// The linker has this program's calls of the function come here; those of a sanitizer's runtime, too, before
// it is ready for code that it watches.

// NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's
extern "C" int __real_pthread_atfork(void (*prepare)(), void (*parent)(), void (*child)());
extern "C" NOT_SANITIZED int __wrap_pthread_atfork(void (*prepare)(), void (*parent)(), void (*child)()) {
  ++registrations;
  return __real_pthread_atfork(prepare, parent, child);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace mallard {
namespace {

void take_and_give_back() {
  constexpr std::size_t bytes = 123 * 4096;
  const block chunk = process_chunks().allocate(bytes, 8);
  process_chunks().deallocate(chunk.data, bytes, 8);
}

// A handler of the program's that uses a heap, registered before main.
std::atomic<bool> handlers_allocate = false;
void handler() {
  if (handlers_allocate) take_and_give_back();
}
const bool is_registered = ::pthread_atfork(handler, handler, handler) == 0;

// Forks a child that uses the cache; a process that waits for a lock waits forever.
int exit_status_of_a_child() {
  ::alarm(20);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    take_and_give_back();
    ::_exit(0);
  }
  ::alarm(0);
  int status = -1;
  return ::waitpid(child, &status, 0) == child ? status : -1;
}

// The same while another thread is inside the cache. Without handlers the child inherits a lock that
// nobody gives back; with them the fork waits until the thread has left.
int exit_status_of_a_child_of_a_busy_process() {
  static std::atomic<bool> inside;
  std::thread([] {
    process_chunks().before_fork();  // takes the lock
    inside = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    inside = false;
    process_chunks().after_fork();
  }).detach();
  while (!inside) std::this_thread::yield();
  const int status = exit_status_of_a_child();
  while (inside) std::this_thread::yield();
  return status;
}

// What a library that hides its symbols sees, loaded while this lives.
class loaded_library {
 public:
  loaded_library() : handle_(::dlopen(MALLARD_LIBRARY_FILE, RTLD_NOW | RTLD_LOCAL)) {}
  loaded_library(const loaded_library&) = delete;
  loaded_library& operator=(const loaded_library&) = delete;
  ~loaded_library() { ::dlclose(handle_); }

  [[nodiscard]] chunk_cache* chunks() const {
    auto* const see = reinterpret_cast<chunk_cache* (*)()>(::dlsym(handle_, "loaded_librarys_chunks"));
    return see == nullptr ? nullptr : see();
  }

 private:
  void* handle_;
};

// A registration at first use would leave a child that is forked meanwhile without one.
TEST(ForkHandlers, AreThereBeforeTheCacheIsUsed) {
  const int before = registrations;
  take_and_give_back();
  EXPECT_EQ(registrations, before);
  EXPECT_EQ(exit_status_of_a_child_of_a_busy_process(), 0);
}

TEST(ForkHandlers, LetThoseOfTheProgramUseHeaps) {
  ASSERT_TRUE(is_registered);
  take_and_give_back();
  handlers_allocate = true;
  EXPECT_EQ(exit_status_of_a_child(), 0);
  handlers_allocate = false;
}

TEST(ForkHandlers, OfALibraryAreBesideThoseOfTheProgram) {
  const loaded_library library;
  ASSERT_EQ(library.chunks(), &process_chunks());
  EXPECT_EQ(exit_status_of_a_child_of_a_busy_process(), 0);
  handlers_allocate = true;
  EXPECT_EQ(exit_status_of_a_child(), 0);
  handlers_allocate = false;
}

TEST(ForkHandlers, AreThereAfterALibraryThatWasFirstIsUnloaded) {
  for (int i = 0; i < 2; ++i) {
    {
      const loaded_library library;
      ASSERT_EQ(library.chunks(), &process_chunks());
    }
    ASSERT_EQ(::dlopen(MALLARD_LIBRARY_FILE, RTLD_NOW | RTLD_NOLOAD), nullptr) << "still loaded";
    EXPECT_EQ(exit_status_of_a_child_of_a_busy_process(), 0);
  }
}

}  // namespace
}  // namespace mallard
