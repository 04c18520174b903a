#include <algorithm>

#include "harness/bytes.hpp"
#include "harness/litter.hpp"
#include "mallard/source/default_source.hpp"
#include "replay/output/fragmentation.hpp"
#include "replay/output/report.hpp"
#include "replay/output/text_table.hpp"

namespace mallard::replay {
namespace {

std::string passes_of(const report_input& in) {
  std::uint64_t rounds = 0;
  std::uint64_t most = 0;
  for (const row& r : in.rows) {
    if (!r.measured()) continue;
    rounds = rounds == 0 ? r.warm_ns.size() : std::min<std::uint64_t>(rounds, r.warm_ns.size());
    most = std::max<std::uint64_t>(most, r.warm_ns.size());
  }
  if (most == 0) return "none: nothing was measured";
  const std::string count =
      rounds == most ? std::to_string(rounds) : std::to_string(rounds) + " to " + std::to_string(most);
  return count + ", strategies alternating (A B C A B C), each turn a fresh process: 1 cold pass, then " +
         "warm passes for at least " + std::to_string(in.options.warm_ns / 1'000'000) + " ms of CPU time";
}

std::string repairs_of(const trace_facts& f) {
  std::string text =
      std::to_string(f.never_freed) +
      (f.of == subject::regions ? " blocks end with regions that the program never ended"
                                : " blocks the program never freed are freed at the end of a pass");
  const auto add = [&text](std::uint64_t count, const char* what) {
    if (count != 0) text += "; " + std::to_string(count) + " " + what;
  };
  add(f.inversions, "addresses reused before their free (repaired)");
  add(f.unmatched_frees, "frees of unknown blocks (left out)");
  add(f.failed, "failed allocations (left out)");
  add(f.impossible, "allocations larger than any address space (left out)");
  if (f.of != subject::regions) add(f.region_events, "region events (left out; --regions replays them)");
  add(f.moved_regions, "regions moved to another parent (roots from the start, destroyed where they ended)");
  add(f.circular_moves, "moves of regions into what is inside them (left out)");
  add(f.never_ended_regions, "regions the program never ended are destroyed at the end of a pass");
  return text;
}

std::string litter_of(const report_input& in) {
  const std::uint64_t times = in.options.litter;
  if (times == 0) return "none: the heap is fresh";
  return std::to_string(times) + " x the blocks alive at the moment of most live bytes (" +
         harness::format_bytes(times * in.facts.max_live_bytes) +
         "), allocated in random order before the first pass; then 1 in " +
         std::to_string(harness::one_freed_in(times)) + " is freed, in random order. " +
         (in.facts.of == subject::regions
              ? "In the malloc of each allocator's process; nowhere for the baseline none"
              : "In each allocator itself; for those that free all at once (monotonic, multipool/monotonic, "
                "std.monotonic, boost.monotonic) in the malloc of their process; nowhere for the baseline "
                "none");
}

std::string footprint_of(const report_input& in) {
  if (in.facts.part.heaps != 0)
    return "a pass of its own, every byte written, in small pages: the peak of resident memory above the "
           "start, of the malloc and of the part's heaps together; to it come the objects that these are";
  std::string text =
      "a pass of its own, every byte written; own heaps count at their source (pages, with what the chunk "
      "cache keeps), std and Boost resources at their upstream (operator new), mallocs" +
      std::string(in.facts.of == subject::regions ? ", and what stands on them without counting," : "") +
      " by the peak of resident memory above the start, in small pages";
  if (in.facts.of == subject::regions)
    text +=
        "; to it come the objects that live regions are (own heaps and std by size, apr and talloc a "
        "pointer), where memory is counted at the most of both together, else as many as live at the moment "
        "of most live bytes";
  if (in.options.litter != 0)
    text +=
        "; what is littered counts what it takes above its littered heap: blocks in holes add nothing, and "
        "internal, header and external are not known";
  return text;
}

std::string event_of(const trace_facts& f) {
  if (f.of != subject::regions) return "one operation of a pass: allocation, free or reallocation";
  return "one operation of a pass: a region created, cleared or destroyed, a block allocated in one or "
         "freed; "
         "what ends with a region is part of its end";
}

std::string touch_of(touch touched) {
  if (touched == touch::all) return "every byte of each block is written";
  if (touched == touch::lines)
    return "a byte of each cache line of each block is written, beyond its first page one of each page, and "
           "the last";
  return "the first byte of each block is written";
}

std::string alignment_of(const trace_facts& f) {
  if (f.of != subject::regions)
    return "as recorded; else 16 for sizes that are multiples of 16, 8 for others, less below 8 bytes";
  return "as recorded; else 8, less below 8 bytes";
}

std::string part_of(const report_input& in) {
  if (in.facts.part.heaps == 0) return "none: the whole journal goes to each strategy";
  const std::uint64_t out = in.facts.left_out;
  const std::string what =
      out == 0 ? "the whole journal" : "the journal without " + std::to_string(out) + " events";
  return "every row performs " + what +
         " by the same code, which asks of each block whose it is; "
         "blocks "
         "of the part go to heaps of their own, others to " +
         std::string(in.options.baseline->name) +
         ", and in the row of a malloc all to that. A free reads the first byte of its block, and what a "
         "reallocation takes from one heap to another moves. Pools are made for the largest block that is "
         "asked of them; reap, sized_reap, region and stack give back all they hold whenever none of their "
         "blocks is alive. On one thread, frees of what the program never freed are not timed. A change is "
         "from " +
         std::string(in.options.baseline->name) +
         "'s figure of the same round, over the blocks that the part's heaps are asked for";
}

std::string pass_end_of(const trace_facts& f) {
  if (f.part.heaps != 0)
    return "part of its time; heaps of monotonic end their blocks there by clear(), which keeps the largest "
           "chunk";
  if (f.of == subject::regions)
    return "all regions have ended; own heaps keep chunks in the cache of their process, what stands on "
           "malloc "
           "stands on one that keeps memory (glibc-notrim, but for region_emulator/NAME, which is over NAME)";
  return "part of its time; strategies that cannot reuse freed blocks end all blocks there: monotonic and "
         "multipool/monotonic by clear(), which keeps their memory, std.monotonic and boost.monotonic by "
         "release() to an operator new that keeps it (glibc-notrim, below all std and Boost resources)";
}

std::string regions_of(const trace_facts& f) {
  if (f.of != subject::regions) return "left out: blocks of malloc are replayed";
  return "inner ones end with the region around them where the strategy's do (region, reap, region_emulator, "
         "apr, "
         "talloc), else each by itself (obstack, std.monotonic); a clear ends them by themselves in own "
         "heaps, "
         "too. Single blocks are freed by reap and talloc; for others such a free does nothing";
}

std::string threads_of(const trace_facts& f) {
  if (f.of != subject::threads)
    return f.threads == 1 ? "one, as recorded"
                          : "one: the events of all " + std::to_string(f.threads) +
                                " recorded threads, in the journal's order" +
                                (f.of == subject::blocks ? " (--threads replays them on theirs)" : "");
  return "each event on a thread of its own recorded thread, begun and ended in the recorded order" +
         std::string(f.thread_times
                         ? ""
                         : " (the journal has no times of threads: each is taken to begin with its "
                           "first event and to end with its last)") +
         "; a free waits for its allocation, a reallocation for the one before it, and no event is done more "
         "than " +
         std::to_string(f.window) +
         " events ahead of the recorded order, nor so far that what is alive differs by more than a fiftieth "
         "of max live from what was (a thread's last sixteen blocks of mean size apart, and 16 KiB at most). "
         "Switches are those "
         "beside the replay's own waits. A block that was never freed "
         "is freed by its own thread, or by the last one where that has ended";
}

std::string shift_of(const report_input& in) {
  if (!in.options.shift) return "none; --shift varies where heaps begin";
  const bool regions = in.facts.of == subject::regions;
  std::string text =
      "each turn five times, a process each, with the heap's start 0, 64, 1024, 2048 and 4032 bytes further: "
      "own "
      "heaps' chunks in their pages, each a page larger for it at 0, too (chunks aligned to more than 64 "
      "bytes "
      "stay); mallocs and what stands on them by a block of that size that is allocated first and stays, "
      "which "
      "in a malloc with size classes moves only blocks of its own class";
  if (!regions) text += "; boost.dlmalloc by such a block of its own";
  return text + ". Figures of a round are medians over the five; none stays where it is";
}

std::string latency_of(const report_input& in) {
  if (!in.clock) return "single operations are not timed (--latency)";
  const bool pinned =
      std::ranges::all_of(in.rows, [](const row& r) { return !r.single || r.single->pinned; });
  const std::uint64_t turns = std::min(in.options.latency_passes, latency_turns);
  return "the call alone, without what is written to the block, in " +
         std::to_string(in.options.latency_passes) + " passes; they are shared out to " +
         std::to_string(turns) + " processes, " +
         std::string(pinned ? "each on one CPU" : "not kept on one CPU (the kernel does not allow it)") +
         " and with a cold pass first. What seems slowest so far, at most " +
         std::to_string(latency_timed_again) + " operations, is timed " +
         std::to_string(latency_times_again) +
         " times more after each pass, for its lowest time. Percentiles are nearest ranks, from 256 ticks on "
         "up to 0.8 % too high, max is exact. Faults: those during the call, in one more pass. The row none "
         "is what timing costs beyond the clock; others are not net of it";
}

std::string clock_of(const harness::operation_clock& clock) {
  const std::string name =
      clock.tsc ? "the time-stamp counter between fences (lfence rdtsc lfence, rdtscp lfence), " +
                      number(clock.ns_per_tick, 4) + " ns a tick by CLOCK_MONOTONIC_RAW"
                : "CLOCK_MONOTONIC_RAW, as " + std::string(harness::tsc_obstacle());
  return "of single operations: " + name + ". It advances by " + number(clock.ns(clock.quantum), 1) +
         " ns, and no figure is finer; " + number(clock.ns(clock.overhead), 1) +
         " ns, the median of an empty pair of readings, are taken off each";
}

}  // namespace

std::vector<method_line> method_of(const report_input& in) {
  std::vector<method_line> lines{
      {"event", event_of(in.facts)},
      {"time",
       in.facts.of == subject::threads
           ? "CPU time of the whole process less what the replay's own waits took, net of the baseline "
             "`none` of "
             "the same round (whose own row is as measured); wall and waiting times are as measured"
           : "thread CPU time, net of the baseline `none` of the same round (whose own row is as measured)"},
      {"figure",
       "median over the rounds of the median warm pass; spread: 10th to 90th percentile of the rounds"},
      {"rounds", passes_of(in)},
      {"touch", touch_of(in.options.touched)},
      {"threads", threads_of(in.facts)},
      {"litter", litter_of(in)},
      {"shift", shift_of(in)},
      {"repairs", repairs_of(in.facts)},
      {"regions", regions_of(in.facts)},
      {"part", part_of(in)},
      {"alignment", alignment_of(in.facts)},
      {"footprint", footprint_of(in)},
      {"curve", curve_method(in)},
      {"faults", "page faults of the cold pass, median over the rounds"},
      {"pass_end", pass_end_of(in.facts)},
      {"chunk_cache",
       "mallard's heaps take memory from the chunk cache of their process, as by default: it "
       "keeps what they return for " +
           std::to_string(process_chunks().keep_time()) +
           " ms, is empty when a turn begins, and counts as held"},
      {"memory_limit", harness::format_bytes(in.options.memory_limit) +
                           " of private writable memory an allocator" +
                           (in.options.litter == 0 ? "" : " with its litter") +
                           " (RLIMIT_DATA: reserved address space is free)"},
      {"check",
       in.options.held_only
           ? "none: only memory was measured"
           : "each allocator has passed one untimed pass first: alignment, no overlap, contents kept"},
      {"latency", latency_of(in)},
      {"instructions", in.options.count_instructions ? "callgrind, one warm pass, net of the baseline"
                                                     : "not counted (--instructions)"},
  };
  if (in.clock) lines.push_back({"clock", clock_of(*in.clock)});
  return lines;
}

}  // namespace mallard::replay
