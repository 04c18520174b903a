#include "recorder/preload/thread_state.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "recorder/preload/reader_watch.hpp"
#include "recorder/preload/session.hpp"
#include "recorder/record.hpp"

namespace mallard::recorder {

thread_local constinit thread_state self{};

namespace {

constexpr std::uint32_t shared_ring = 0;
constexpr std::uint32_t retry_after = 64;  // records

pthread_key_t end_key;

// Signals wait while a thread may sleep, or holds the lock of the shared ring: their handlers find the
// recorder at rest.
class signals_held {
 public:
  signals_held() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_held() noexcept { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_held(const signals_held&) = delete;
  signals_held& operator=(const signals_held&) = delete;

 private:
  sigset_t before_;
};

ring_writer writer_of(spool_header* spool, std::uint32_t index) noexcept {
  ring_header& ring = ring_of(spool, index);
  const std::uint64_t head = ring.head.load(std::memory_order_acquire);
  return {ring_words_of(spool, index, spool->ring_words), spool->ring_words - 1, head, head, &ring};
}

void note_used(spool_header* spool, std::uint32_t count) noexcept {
  std::uint32_t known = spool->rings_used.load();
  while (known < count && !spool->rings_used.compare_exchange_weak(known, count)) {
  }
  if (2 * count > spool->rings_ready.load()) wake_reader(spool);  // to make more ready
}

// Makes this thread the writer of the lowest ring without one; false if all that are ready have one.
bool own_ring(spool_header* spool) noexcept {
  const std::uint32_t ready = spool->rings_ready.load(std::memory_order_acquire);
  for (std::uint32_t index = shared_ring + 1; index < ready; ++index) {
    std::uint32_t nobody = 0;
    if (ring_of(spool, index).owned.compare_exchange_strong(nobody, 1)) {
      note_used(spool, index + 1);
      self.ring = writer_of(spool, index);
      return true;
    }
  }
  return false;
}

void put_thread_record(ring_writer& ring, unsigned kind) noexcept {
  const auto system_id = static_cast<std::uint64_t>(syscall(SYS_gettid));
  const std::uint64_t record[] = {first_word(kind, session_time()),
                                  std::uint64_t{self.number - 1} << 32 | system_id};
  ring.write(record, 2);
}

bool begin_thread(spool_header* spool) noexcept {
  if (self.number == 0) self.number = spool->threads.fetch_add(1) + 1;
  if (!own_ring(spool)) return false;
  pthread_setspecific(end_key, &self);
  if (make_room(spool, self.ring)) put_thread_record(self.ring, thread_begin);
  return true;
}

void put_into_shared_ring(spool_header* spool, const std::uint64_t* record, std::size_t count) noexcept {
  while (spool->shared_ring_taken.exchange(1, std::memory_order_acquire) != 0) {
    pause_for_ns(10'000);
    if (recording() == nullptr) return;
  }
  note_used(spool, shared_ring + 1);
  ring_writer ring = writer_of(spool, shared_ring);
  if (make_room(spool, ring)) {
    put_thread_record(ring, thread_begin);
    ring.write(record, count);
  }
  spool->shared_ring_taken.store(0, std::memory_order_release);
}

// Runs as one of the thread's destructors; the other ones may still allocate and free, so it asks to be
// run again as often as that is granted, and gives the ring back in the last round.
void at_thread_end(void*) noexcept {
  spool_header* spool = recording();
  if (spool == nullptr || self.ring.shared == nullptr) return;
  if (++self.end_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(end_key, &self);
    return;
  }
  const int saved_errno = errno;
  signals_held held;
  if (make_room(spool, self.ring)) put_thread_record(self.ring, thread_end);
  ring_header* given_back = self.ring.shared;
  self.ring = {};
  given_back->owned.store(0, std::memory_order_release);
  errno = saved_errno;
}

bool may_own_ring() noexcept {
  if (self.end_rounds == PTHREAD_DESTRUCTOR_ITERATIONS) return false;
  if (self.patience == 0) return true;
  --self.patience;
  return false;
}

}  // namespace

void watch_thread_ends() noexcept { pthread_key_create(&end_key, at_thread_end); }

MALLARD_NOINLINE void put_slowly(const std::uint64_t* record, std::size_t count) noexcept {
  spool_header* spool = recording();
  if (spool == nullptr) return;
  const int saved_errno = errno;
  signals_held held;
  if (self.ring.shared == nullptr && may_own_ring() && !begin_thread(spool)) self.patience = retry_after;
  if (self.ring.shared == nullptr)
    put_into_shared_ring(spool, record, count);
  else if (make_room(spool, self.ring))
    self.ring.write(record, count);
  errno = saved_errno;
}

}  // namespace mallard::recorder
