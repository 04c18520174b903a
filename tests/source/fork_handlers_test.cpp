// Fork handlers, by those of the chunk cache, in a program that asks for none of it before they are
// needed.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
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

// What a program and a library hold over forks, each by handlers of its own.
std::mutex held;
fork_list handlers_of_both;

template <int Object>
struct held_by_both {
  static fork_list& list() noexcept { return handlers_of_both; }
  static fork_handlers<held_by_both>& own() noexcept {
    static fork_handlers<held_by_both> registered;
    return registered;
  }
  static void before_fork() noexcept { held.lock(); }
  static void after_fork() noexcept { held.unlock(); }
  static void after_fork_in_child() noexcept { held.unlock(); }
};

enum class turn { none, of_the_first, of_the_second, of_nobody };
std::atomic<turn> now = turn::none;
thread_local turn mine = turn::none;

void wait_for(turn then) {
  while (now != then) std::this_thread::yield();
}

// The first thread's fork is over but for the handlers of the library when that of the second has begun.
TEST(ForkHandlers, LeaveAloneWhatIsHeldForAnotherThread) {
  ::alarm(20);
  const auto with_everything_held = [] {
    if (mine != turn::of_the_second) return;
    now = turn::of_the_second;
    wait_for(turn::of_nobody);
  };
  const auto between_both = [] {
    if (mine != turn::of_the_first) return;
    now = turn::of_the_first;
    wait_for(turn::of_the_second);
  };
  ASSERT_EQ(::pthread_atfork(with_everything_held, nullptr, nullptr), 0);
  (void)held_by_both<0>::own();
  ASSERT_EQ(::pthread_atfork(nullptr, between_both, nullptr), 0);
  (void)held_by_both<1>::own();
  int status_of_second = -1;
  std::thread second([&] {
    wait_for(turn::of_the_first);
    mine = turn::of_the_second;
    status_of_second = exit_status_of_a_child();
  });
  mine = turn::of_the_first;
  EXPECT_EQ(exit_status_of_a_child(), 0);
  mine = turn::none;
  const bool is_free = held.try_lock();
  EXPECT_FALSE(is_free) << "the second thread has it";
  if (is_free) held.unlock();
  now = turn::of_nobody;
  second.join();
  EXPECT_EQ(status_of_second, 0);
  EXPECT_TRUE(held.try_lock());
  held.unlock();
}

}  // namespace
}  // namespace mallard
