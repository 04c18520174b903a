// Properties of heaps that several threads may use at once: eight of them, with quiet times in between.
#pragma once

#include <algorithm>
#include <barrier>
#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <vector>

#include "model/properties/exhaustion.hpp"
#include "model/random_trace.hpp"
#include "model/worker_threads.hpp"

namespace mallard::model {

// What an owner may do at a quiet time: end many blocks, give memory back, or nothing.
template <class M>
void act_as_owner(typename M::heap& heap, worker_threads<M>& threads, random_source& r) {
  const std::size_t chosen = r.below(4);
  if constexpr (releasable<typename M::heap>)
    if (chosen == 0) {
      heap.release();
      threads.forget_since(0);
    }
  if constexpr (clearable<typename M::heap>)
    if (chosen == 1) {
      heap.clear();
      threads.forget_since(0);
    }
  if constexpr (trimmable<typename M::heap>)
    if (chosen == 2) std::ignore = heap.trim(r.below(2) * 16384);
}

template <class M>
struct eight_threads_at_once {
  static constexpr const char* name = "eight_threads_at_once";
  static constexpr bool among_threads = true;
  static constexpr bool applies = concurrent<typename M::heap>;
  static void check() {
    // AddressSanitizer makes threads slow, and finds in one run what it finds in three.
    const std::uint64_t first = under_address_sanitizer ? 3 : 1;
    for (const profile& p : profiles::all) {
      for (std::uint64_t seed = first; seed <= 3 && !failure_flag::raised(); ++seed) {
        const chunk_registry registry(seed == 3 ? sizing::paged : sizing::exact);
        rig<M> under_test;
        worker_threads<M> threads(under_test.heap, registry, seed);
        random_source r(seed);
        for (int round = 0; round < 1 + rounds_of(3) && !failure_flag::raised(); ++round) {
          threads.work(p, steps_of(p) / 8);
          threads.check();
          act_as_owner(under_test.heap, threads, r);
          threads.check();
        }
        threads.drain();
        threads.check();
      }
    }
  }
};

// Whichever thread has the failing request, the others go on, and so does the heap when memory is back.
template <class M>
struct exhaustion_among_threads {
  static constexpr const char* name = "exhaustion_among_threads";
  static constexpr bool among_threads = true;
  static constexpr bool applies = concurrent<typename M::heap> && probed<M>;
  static void check() {
    for (std::size_t n = 1; n <= 40 && !failure_flag::raised(); n += 1 + n / 4) {
      SCOPED_TRACE("request " + std::to_string(n));
      const chunk_registry registry;
      rig<M> under_test;
      source& below = source_of(under_test.heap);
      worker_threads<M> threads(under_test.heap, registry, n);
      for (const bool for_good : {false, true}) {
        for_good ? below.fail_from(n) : below.fail_at(n);
        threads.work(exhausting, steps_of(exhausting) / 4, true);
        below.fail_no_more();
        threads.check();
      }
      threads.work(exhausting, steps_of(exhausting) / 8);
      threads.check();
      threads.drain();
      threads.check();
    }
  }
};

// Heaps end, with blocks of all threads alive, and others begin where they were, while threads live on;
// in the end the threads outlive the last heap.
template <class M>
struct threads_outlive_the_heap {
  static constexpr const char* name = "threads_outlive_the_heap";
  static constexpr bool among_threads = true;
  static constexpr bool applies = concurrent<typename M::heap>;
  static void check() {
    const chunk_registry registry;
    std::optional<rig<M>> under_test(std::in_place);
    worker_threads<M> threads(under_test->heap, registry, 43);
    for (int life = 0; life < 12 && !failure_flag::raised(); ++life) {
      if (life > 0) under_test.emplace();
      threads.work(exhausting, steps_of(exhausting) / 8);
      threads.check();
      if constexpr (!M::ends_its_blocks) threads.drain();
      under_test.reset();
      threads.forget_since(0);
      EXPECT_EQ(registry.held(), 0u) << "a heap that ended holds memory";
    }
    threads.dismiss();
  }
};

template <class M>
struct rewind_ends_what_all_threads_allocated_since {
  static constexpr const char* name = "rewind_ends_what_all_threads_allocated_since";
  static constexpr bool among_threads = true;
  static constexpr bool applies = concurrent<typename M::heap> && rewindable<typename M::heap>;
  static void check() {
    const chunk_registry registry;
    rig<M> under_test;
    worker_threads<M> threads(under_test.heap, registry, 47);
    for (int turn = 0; turn < 6 && !failure_flag::raised(); ++turn) {
      threads.work(profiles::small, 40);
      const auto mark = under_test.heap.mark();
      const std::uint64_t next = threads.next_round();
      threads.work(profiles::small, 100);
      threads.check();  // also of what was given and not taken, which nobody may read any more after this
      under_test.heap.rewind(mark);
      threads.forget_since(next);
      threads.check();
    }
  }
};

// One thread allocates, another one frees, again and again: what was freed elsewhere finds its way back.
template <class M>
struct memory_freed_elsewhere_comes_back {
  static constexpr const char* name = "memory_freed_elsewhere_comes_back";
  static constexpr bool among_threads = true;
  static constexpr bool applies = concurrent<typename M::heap> && probed<M> && M::reuses;
  static void check() {
    for_each_profile<M>([](const profile& p, shadow<M>& s, const chunk_registry& registry) {
      std::barrier<> turn(2);              // only one of the two is at work
      constexpr int turns_to_settle = 16;  // turns until caches and slabs have what they keep
      constexpr int turns = turns_to_settle + rounds_of(16);
      std::thread elsewhere([&] {
        random_source r(53);
        for (int i = 0; i < turns; ++i) {
          turn.arrive_and_wait();
          while (s.live() > 0 && !s.broken()) deallocate_one(s, r);
          turn.arrive_and_wait();
        }
      });
      std::size_t settled = 0;
      for (int i = 0; i < turns; ++i) {
        random_source r(59);
        while (s.live() < p.live && !s.broken()) {
          const request q = draw<M>(p, r);
          EXPECT_TRUE(s.allocate(std::min(q.size, M::largest_reused_size),
                                 std::min(q.align, M::largest_reused_align)));
        }
        s.check();
        turn.arrive_and_wait();
        turn.arrive_and_wait();
        s.check();
        if (i == turns_to_settle) settled = registry.max_held();
      }
      elsewhere.join();
      EXPECT_LE(registry.max_held(), settled + settled / 8) << "it grew with every turn";
    });
  }
};

// What a thread had cached serves others when it has ended.
template <class M>
struct a_threads_end_leaves_its_memory_to_others {
  static constexpr const char* name = "a_threads_end_leaves_its_memory_to_others";
  static constexpr bool among_threads = true;
  static constexpr bool applies = concurrent<typename M::heap> && probed<M> && M::reuses;
  static void check() {
    for_each_profile<M>([](const profile& p, shadow<M>& s, const chunk_registry& registry) {
      std::size_t settled = 0;
      for (int turn = 0; turn < rounds_of(12) && !s.broken(); ++turn) {
        std::thread([&] { allocate_and_end(s, p); }).join();
        s.check();
        if (turn == 1) settled = registry.max_held();
      }
      EXPECT_LE(registry.max_held(), settled + settled / 8) << "it grew with every thread";
    });
  }

  // The same work each time, which ends all its blocks.
  static void allocate_and_end(shadow<M>& s, const profile& p) {
    random_source r(61);
    while (s.live() < p.live && !s.broken()) {
      const request q = draw<M>(p, r);
      EXPECT_TRUE(
          s.allocate(std::min(q.size, M::largest_reused_size), std::min(q.align, M::largest_reused_align)));
    }
    s.check();
    while (s.live() > 0 && !s.broken()) deallocate_one(s, r);
  }
};

// The same of a thread that lives on, but has flushed; the other one has done the same work before.
template <class M>
struct flush_leaves_its_memory_to_others {
  static constexpr const char* name = "flush_leaves_its_memory_to_others";
  static constexpr bool among_threads = true;
  static constexpr bool applies = thread_caching<typename M::heap> && probed<M> && M::reuses;
  static void check() {
    for_each_profile<M>([](const profile& p, shadow<M>& s, const chunk_registry& registry) {
      a_threads_end_leaves_its_memory_to_others<M>::allocate_and_end(s, p);
      s.heap().flush();
      std::latch flushed{1};
      std::latch done{1};
      std::thread elsewhere([&] {
        a_threads_end_leaves_its_memory_to_others<M>::allocate_and_end(s, p);
        s.heap().flush();
        flushed.count_down();
        done.wait();
      });
      flushed.wait();
      s.check();
      const std::size_t settled = registry.max_held();
      a_threads_end_leaves_its_memory_to_others<M>::allocate_and_end(s, p);
      EXPECT_LE(registry.max_held(), settled + settled / 8) << "the next thread found nothing";
      done.count_down();
      elsewhere.join();
      s.check();
    });
  }
};

// No limit on heaps that live at once; a thread's end leaves all of them sound.
template <class M>
struct thousands_of_heaps_live_at_once {
  static constexpr const char* name = "thousands_of_heaps_live_at_once";
  static constexpr bool among_threads = true;
  static constexpr bool applies = concurrent<typename M::heap> && probed<M>;
  static void check() {
    const chunk_registry registry;
    {
      std::vector<std::unique_ptr<rig<M>>> heaps;
      std::vector<std::unique_ptr<shadow<M>>> shadows;
      for (int i = 0; i < rounds_of(2000); ++i) {
        heaps.push_back(std::make_unique<rig<M>>());
        shadows.push_back(std::make_unique<shadow<M>>(heaps.back()->heap, registry));
      }
      const auto in_each = [&shadows] {
        for (const auto& s : shadows) {
          if (s->live() > 0) s->deallocate(0, s->operator[](0).received);
          EXPECT_TRUE(s->allocate(usual_size<M>, 8));
          if (s->broken()) return;
        }
      };
      in_each();
      std::thread(in_each).join();
      in_each();
      if constexpr (inspectable<typename M::heap>) {
        for (const auto& h : heaps) EXPECT_FALSE(h->heap.validate());
      }
      for (std::size_t i = 0; i < heaps.size(); i += 2) end(heaps[i], shadows[i]);
      for (std::size_t i = heaps.size(); i-- > 0;)
        if (heaps[i]) end(heaps[i], shadows[i]);
    }
    EXPECT_EQ(registry.held(), 0u);
  }

 private:
  static void end(std::unique_ptr<rig<M>>& heap, std::unique_ptr<shadow<M>>& s) {
    if constexpr (!M::ends_its_blocks) s->deallocate(0, usual_size<M>);
    heap.reset();
  }
};

}  // namespace mallard::model
