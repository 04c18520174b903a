#include "recorder/preload/thread/thread_state.hpp"

#include <pthread.h>

#include "journal/spool/ring_record.hpp"
#include "recorder/preload/spool/raw_calls.hpp"
#include "recorder/preload/spool/reader_watch.hpp"
#include "recorder/preload/spool/spool_mapping.hpp"
#include "recorder/preload/state/recorder_state.hpp"

namespace mallard::recorder {

thread_local constinit thread_state self{};

namespace {

ring_caches shared_caches;  // so that a process without room for more can record
ring_caches* caches[max_rings] = {&shared_caches};

}  // namespace

ring_caches* caches_of_ring(std::uint32_t index) noexcept {
  if (caches[index] == nullptr) caches[index] = static_cast<ring_caches*>(map_pages(sizeof(ring_caches)));
  return caches[index];
}

void forget_ring_caches(ring_caches* whole) noexcept {
  for (ring_caches*& known : caches) {
    if (known == nullptr) continue;
    if (known == whole) {
      known->contexts.clear();
      known->stacks.clear();
      known->allocations = 0;
    } else if (known == &shared_caches) {
      *known = {};
    } else {
      unmap_pages(known, sizeof *known);
      known = nullptr;
    }
  }
}

namespace {

constexpr std::uint32_t retry_after = 64;  // records

pthread_key_t end_key;

// Without a ring if there is no room for it in memory.
ring_writer writer_of(spool_header* spool, std::uint32_t index) noexcept {
  std::uint64_t* const words = map_ring(index);
  if (words == nullptr) return {};
  ring_header& ring = ring_of(spool, index);
  const std::uint64_t head = ring.head.load(std::memory_order_acquire);
  return {words, spool->options.ring_words - 1, head, head, &ring};
}

void give_shared_ring_back() noexcept {
  spool_header* spool = current_spool();
  self.ring = {};
  self.caches = nullptr;
  if (spool != nullptr) spool->shared_ring_taken.store(0, std::memory_order_release);
}

void raise_rings_used(spool_header* spool, std::uint32_t count) noexcept {
  std::uint32_t known = spool->rings_used.load();
  while (known < count && !spool->rings_used.compare_exchange_weak(known, count)) {
  }
  if (2 * count > spool->rings_ready.load()) wake_reader();  // to make more ready
}

// Makes this thread the writer of the lowest ring without one; false if all that are ready have one.
bool own_ring(spool_header* spool) noexcept {
  const std::uint32_t ready = spool->rings_ready.load(std::memory_order_acquire);
  for (std::uint32_t index = shared_ring + 1; index < ready; ++index) {
    std::uint32_t nobody = 0;
    ring_header& ring = ring_of(spool, index);
    if (!ring.owned.compare_exchange_strong(nobody, 1)) continue;
    self.caches = caches_of_ring(index);
    if (self.caches != nullptr) self.ring = writer_of(spool, index);
    if (self.ring.shared == nullptr) {
      self.caches = nullptr;
      ring.owned.store(0, std::memory_order_release);
      return false;
    }
    raise_rings_used(spool, index + 1);
    return true;
  }
  return false;
}

void emit_thread_record(unsigned kind) noexcept {
  const long found = raw_call(SYS_gettid);
  const std::uint64_t system_id = found > 0 ? static_cast<std::uint64_t>(found) : 0;
  ring_writer& ring = self.ring;
  ring.words[ring.head & ring.mask] = first_word(kind, recording_time());
  ring.words[(ring.head + 1) & ring.mask] = std::uint64_t{self.number - 1} << 32 | system_id;
  ring.publish(ring.head + 2);
}

bool begin_thread(spool_header* spool) noexcept {
  if (self.number == 0) self.number = spool->threads.fetch_add(1) + 1;
  if (!own_ring(spool)) return false;
  pthread_setspecific(end_key, &self);
  if (make_room(spool, self.ring)) emit_thread_record(thread_begin);
  return true;
}

bool may_own_ring() noexcept {
  if (self.end_rounds == PTHREAD_DESTRUCTOR_ITERATIONS) return false;
  if (self.patience == 0) return true;
  --self.patience;
  return false;
}

// Runs as one of the thread's destructors. The others may still allocate and free, so it requests further
// rounds as often as the system allows, and gives the ring back in the last one.
void at_thread_end(void*) noexcept {
  if (current_spool() == nullptr || self.ring.shared == nullptr) return;
  if (++self.end_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(end_key, &self);
    return;
  }
  const ring_access access;
  if (access.ready()) emit_thread_record(thread_end);
  ring_header* given_back = self.ring.shared;
  self.ring = {};
  self.caches = nullptr;
  given_back->owned.store(0, std::memory_order_release);
}

}  // namespace

void watch_thread_ends() noexcept { pthread_key_create(&end_key, at_thread_end); }

// Signals are blocked while a thread may sleep or holds the lock of the shared ring, so that no handler
// enters the recorder in between.
ring_access::ring_access() noexcept {
  spool_header* spool = current_spool();
  if (spool == nullptr) return;
  if (self.ring.shared == nullptr && may_own_ring() && !begin_thread(spool)) self.patience = retry_after;
  ready_ = self.ring.shared == nullptr ? share(spool) : make_room(spool, self.ring);
}

bool ring_access::share(spool_header* spool) noexcept {
  while (spool->shared_ring_taken.exchange(1, std::memory_order_acquire) != 0) {
    pause_for_ns(10'000);
    if (current_spool() == nullptr) return false;
  }
  shared_ = true;
  raise_rings_used(spool, shared_ring + 1);
  self.caches = caches_of_ring(shared_ring);
  self.ring = writer_of(spool, shared_ring);
  if (self.caches == nullptr || !make_room(spool, self.ring)) return false;
  emit_thread_record(thread_begin);
  return true;
}

ring_access::~ring_access() noexcept {
  if (shared_) give_shared_ring_back();
}

void abandon_shared_ring() noexcept {
  spool_header* spool = current_spool();
  if (spool != nullptr && self.ring.shared == &ring_of(spool, shared_ring)) give_shared_ring_back();
}

}  // namespace mallard::recorder
