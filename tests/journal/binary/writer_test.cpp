// What a writer is given, a reader gives back.
#include "journal/binary/writer.hpp"
#include "journal/open.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "journal/binary/sample_journal.hpp"
#include "scratch_folder.hpp"

namespace mallard::journal {
namespace {

TEST(writer, every_kind_and_every_field_round_trips) {
  const test::temporary_file file;
  write_sample(file.path());
  const journal_contents read = read_all(file.path());
  EXPECT_EQ(read.events, sample_events());
  EXPECT_TRUE(read.complete);
  EXPECT_TRUE(read.warnings.empty());
}

TEST(writer, tables_and_metadata_round_trip) {
  const test::temporary_file file;
  write_sample(file.path());
  const journal_contents read = read_all(file.path());
  const process_tables known = sample_tables();
  EXPECT_EQ(read.about, sample_metadata());
  EXPECT_EQ(read.known.contexts, known.contexts);
  EXPECT_EQ(read.known.threads, known.threads);
  EXPECT_EQ(read.known.modules, known.modules);
  EXPECT_EQ(read.known.names, known.names);
  EXPECT_EQ(read.known.usage, known.usage);
  EXPECT_EQ(read.known.children, known.children);
}

// Long enough for several chunks, with random values where they are hardest to encode.
TEST(writer, many_random_events_round_trip) {
  std::mt19937_64 random(7);
  std::vector<event> events;
  for (std::size_t i = 0; i < 200'000; ++i) {
    event e{.kind = all_kinds[random() % all_kinds.size()], .time = i * 50 + random() % 50};
    e.address = random() % 4 == 0 ? random() : 0x5000 + random() % 512 * 16;
    e.thread = static_cast<std::uint32_t>(random() % 5);
    e.size = random() >> (random() % 64);
    if (random() % 64 == 0) e.duration = random() % 1000;
    if (random() % 1000 == 0) e.alignment = std::uint64_t{1} << (random() % 64);
    if (is_reallocation(e.kind)) e.old_address = 0x5000 + random() % 512 * 16;
    if (is_region(e.kind)) e.region = random() % 9;
    if (e.kind == event_kind::region_create) e.parent = random() % 9;
    events.push_back(e);
  }
  const test::temporary_file file;
  writer out(file.path());
  for (const event& e : events) out.append(e);
  out.finish();
  EXPECT_EQ(out.events(), events.size());
  const journal_contents read = read_all(file.path());
  EXPECT_EQ(read.events, events);
  EXPECT_EQ(read.known.threads.size(), 5U);
  EXPECT_TRUE(read.complete);
}

TEST(writer, kinds_of_later_versions_round_trip) {
  const test::temporary_file file;
  writer out(file.path());
  std::vector<event> events;
  events.reserve(256);
  for (unsigned kind = 0; kind < 256; ++kind) {
    events.push_back({.kind = static_cast<event_kind>(kind), .time = kind, .size = kind % 3});
  }
  for (const event& e : events) out.append(e);
  out.finish();
  EXPECT_EQ(read_all(file.path()).events, events);
}

TEST(writer, the_same_context_has_the_same_index) {
  const test::temporary_file file;
  writer out(file.path());
  std::vector<std::uint32_t> indices;
  indices.reserve(20'000);
  for (std::uint64_t i = 0; i < 20'000; ++i) indices.push_back(out.intern_context(0, 0x1000 + i));
  for (std::uint64_t i = 0; i < 20'000; ++i) EXPECT_EQ(out.intern_context(0, 0x1000 + i), indices[i]);
  const std::uint32_t scope = out.intern_scope(indices[3], out.intern_name("x"));
  EXPECT_EQ(out.intern_scope(indices[3], out.intern_name("x")), scope);
  EXPECT_NE(out.intern_scope(indices[4], out.intern_name("x")), scope);
  EXPECT_EQ(out.intern_name(""), 0U);
  out.finish();
  const journal_contents read = read_all(file.path());
  ASSERT_EQ(read.known.contexts.size(), 20'003U);
  EXPECT_EQ(read.known.contexts[indices[19'999]].return_address, 0x1000U + 19'999);
  EXPECT_EQ(read.known.contexts[scope].parent, indices[3]);
}

TEST(writer, the_same_frame_in_modules_that_follow_each_other_is_different_contexts) {
  const test::temporary_file file;
  writer out(file.path());
  std::vector<std::uint32_t> indices;
  for (std::uint32_t generation = 0; generation < 20'000; ++generation)
    indices.push_back(out.intern_context(0, 0x1000, generation));
  EXPECT_EQ(std::set(indices.begin(), indices.end()).size(), 20'000U);
  for (std::uint32_t generation = 0; generation < 20'000; ++generation)
    EXPECT_EQ(out.intern_context(0, 0x1000, generation), indices[generation]);
}

TEST(writer, the_same_frame_below_different_callers_is_different_contexts) {
  const test::temporary_file file;
  writer out(file.path());
  std::set<std::uint32_t> below;
  for (std::uint64_t i = 0; i < 20'000; ++i)
    below.insert(out.intern_context(out.intern_context(0, 0x1000 + i), 0x99));
  EXPECT_EQ(below.size(), 20'000U);
}

// Chains of few frames, which branch off older ones and repeat them; some offsets are others than before.
TEST(writer, a_tree_of_chains_round_trips) {
  const test::temporary_file file;
  writer out(file.path());
  std::vector<context_node> expected(1);
  std::mt19937_64 random(7);
  for (int chain = 0; chain < 3'000; ++chain) {
    auto parent = static_cast<std::uint32_t>(random() % expected.size());
    std::uint64_t frame = random() % 50;
    for (std::uint64_t left = 1 + random() % 12; left > 0; --left, frame = (frame * 5 + 1) % 50) {
      const std::uint64_t offset = 16 * (1 + frame + random() % 20 / 19);
      const context_node node{.parent = parent, .return_address = 0x1000 + frame, .stack_offset = offset};
      parent = out.intern_context(parent, node.return_address);
      out.set_stack_offset(parent, offset);
      if (parent == expected.size()) expected.emplace_back();
      ASSERT_LT(parent, expected.size());
      expected[parent] = node;
    }
    if (chain % 500 == 499) out.flush();
  }
  out.finish();
  const journal_contents read = read_all(file.path());
  EXPECT_TRUE(read.warnings.empty());
  EXPECT_TRUE(read.known.contexts == expected);
  std::set<std::tuple<std::uint32_t, std::uint64_t>> distinct;
  for (const context_node& node : expected) distinct.emplace(node.parent, node.return_address);
  EXPECT_EQ(distinct.size(), expected.size());
}

TEST(writer, a_stack_offset_is_written_when_it_changes) {
  const test::temporary_file file;
  writer out(file.path());
  const std::uint32_t context = out.intern_context(0, 0x400);
  out.set_stack_offset(context, 48);
  out.flush();
  const std::uint64_t before = out.bytes_written();
  out.set_stack_offset(context, 48);
  out.set_stack_offset(0, 16);  // of the unknown context nothing is known
  out.flush();
  EXPECT_EQ(out.bytes_written(), before);
  out.set_stack_offset(context, 64);
  out.finish();
  const journal_contents read = read_all(file.path());
  EXPECT_EQ(read.known.contexts.at(context).stack_offset, 64U);
  EXPECT_TRUE(read.warnings.empty());
}

TEST(writer, a_later_description_adds_and_overrides) {
  const test::temporary_file file;
  writer out(file.path());
  out.describe({.program = "/bin/a", .process = 5, .figures = {{"cpu_ns", 1}, {"stalls", 2}}});
  out.describe({.program = "/bin/b", .figures = {{"cpu_ns", 10}}});
  out.finish();
  const metadata about = read_all(file.path()).about;
  EXPECT_EQ(about.program, "/bin/b");
  EXPECT_EQ(about.process, 5U);
  EXPECT_EQ(about.figures, (std::map<std::string, std::int64_t>{{"cpu_ns", 10}, {"stalls", 2}}));
}

TEST(writer, a_thread_can_be_told_its_end_later) {
  const test::temporary_file file;
  writer out(file.path());
  const std::uint32_t index = out.add_thread({.system_id = 9, .start_time = 1});
  out.flush();
  out.update_thread(index, {.system_id = 9, .start_time = 1, .end_time = 8});
  out.finish();
  const journal_contents read = read_all(file.path());
  ASSERT_EQ(read.known.threads.size(), 1U);
  EXPECT_EQ(read.known.threads[0].end_time, 8U);
}

TEST(writer, tables_of_other_types_reach_who_watches_for_them) {
  const test::temporary_file file;
  const section_type type = make_section_type("witn");
  table words{.type = type, .rows = 300, .columns = {}};
  std::vector<std::uint64_t> word(300);
  std::vector<std::string> note(300);
  for (std::size_t i = 0; i < 300; ++i) {
    word[i] = 0x7ffc'0000'0000 + i * i * 8;
    note[i] = std::string(i % 7, 'x');
  }
  words.columns.push_back({.id = 1, .values = word});
  words.columns.push_back({.id = 2, .values = note});
  words.columns.push_back({.id = 3, .values = std::vector<std::uint64_t>(300, 5)});
  writer out(file.path());
  out.append({.kind = event_kind::malloc});
  out.add_table(words);
  out.finish();

  const auto source = open(file.path());
  std::vector<table> received;
  source->watch(type, [&](const table& t) { received.push_back(t); });
  EXPECT_TRUE(read_all(*source).complete);
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(*received[0].numbers(1), word);
  EXPECT_EQ(*received[0].texts(2), note);
  EXPECT_EQ(*received[0].numbers(3), std::vector<std::uint64_t>(300, 5));
  EXPECT_EQ(received[0].texts(1), nullptr);
  EXPECT_EQ(received[0].numbers(4), nullptr);
  EXPECT_TRUE(read_all(file.path()).complete) << "nobody watched";
}

TEST(writer, what_was_flushed_is_readable_without_a_finish) {
  const test::temporary_file file;
  writer out(file.path());
  out.append({.kind = event_kind::malloc, .time = 3, .address = 0x10, .size = 8});
  out.flush();
  out.append({.kind = event_kind::free, .time = 4, .address = 0x10});
  const journal_contents read = read_all(file.path());
  EXPECT_EQ(read.events.size(), 1U);
  EXPECT_FALSE(read.complete);
  ASSERT_EQ(read.warnings.size(), 1U);
  EXPECT_NE(read.warnings[0].find("cut off"), std::string::npos);
}

// --- commits: when is an event in the file -------------------------------------------------------

TEST(writer, a_commit_tells_the_size_before_and_has_it_after) {
  const test::temporary_file file;
  writer out(file.path());
  std::uint64_t told = 0;
  std::size_t commits = 0;
  const auto before = [&](std::uint64_t size_after) {
    told = size_after;
    EXPECT_LT(std::filesystem::file_size(file.path()), told);
    EXPECT_GT(out.pending_events(), 0U);
  };
  const auto after = [&] {
    ++commits;
    EXPECT_EQ(std::filesystem::file_size(file.path()), told);
    EXPECT_EQ(out.pending_events(), 0U);
    EXPECT_EQ(read_all(file.path()).events.size(), out.events()) << "every event so far, the last one too";
  };
  out.on_commit(before, after);
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    out.append({.kind = event_kind::malloc, .time = i, .address = i * 16, .size = i % 99});
    if (i == 999) {
      EXPECT_EQ(out.pending_events(), 1000U);
    }
  }
  EXPECT_GT(commits, 1U) << "chunks that were full";
  const std::size_t full = commits;
  out.flush();
  EXPECT_EQ(commits, full + 1);
  out.flush();
  out.describe({.program = "/bin/true"});
  out.finish();
  EXPECT_EQ(commits, full + 1) << "nothing waited";
}

TEST(writer, a_chunk_that_did_not_reach_the_file_is_not_committed) {
  const test::temporary_file file;
  std::vector<std::string> calls;
  const rlimit unlimited{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
  const rlimit limit{.rlim_cur = 10'000, .rlim_max = RLIM_INFINITY};
  ::signal(SIGXFSZ, SIG_IGN);
  writer out(file.path());
  out.on_commit([&](std::uint64_t) { calls.emplace_back("before"); }, [&] { calls.emplace_back("after"); });
  std::mt19937_64 random(1);
  for (int i = 0; i < 5000; ++i) out.append({.kind = event_kind::malloc, .address = random()});
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const std::string failure = error_from([&] { out.flush(); });
  ::setrlimit(RLIMIT_FSIZE, &unlimited);
  EXPECT_EQ(failure, "File too large");
  EXPECT_EQ(calls, std::vector<std::string>{"before"});
  EXPECT_EQ(out.pending_events(), 5000U);
  const auto append_forever = [&] {
    for (int i = 0; i < 1'000'000; ++i) out.append({.kind = event_kind::malloc});
  };
  EXPECT_EQ(error_from(append_forever), "File too large") << "nothing more is accepted";
}

TEST(writer, a_file_that_cannot_be_made_is_an_error) {
  EXPECT_EQ(error_from([] { const writer out("/nowhere/at/all"); }), "No such file or directory");
}

// A file size limit simulates a disk that becomes full; the limit is of this process alone.
TEST(writer, a_full_disk_leaves_the_complete_chunks) {
  const test::temporary_file file;
  std::string failure;
  std::uint64_t complete = 0;
  const auto fill_up = [&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 100'000, .rlim_max = RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::mt19937_64 random(1);
    writer out(file.path());
    for (;;) {
      out.append({.kind = event_kind::malloc, .address = random()});
      if (out.events() % 1000 == 0) {
        out.flush();
        complete = out.events();
      }
    }
  };
  failure = error_from(fill_up);
  const rlimit unlimited{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
  ::setrlimit(RLIMIT_FSIZE, &unlimited);
  EXPECT_EQ(failure, "File too large");
  const journal_contents read = read_all(file.path());
  EXPECT_EQ(read.events.size(), complete);
  EXPECT_EQ(read.warnings.size(), 1U) << "nothing is wrong but the missing end";
}

TEST(writer, nothing_can_be_added_to_a_finished_journal) {
  const test::temporary_file file;
  writer out(file.path());
  out.finish();
  EXPECT_EQ(error_from([&] { out.finish(); }), "the journal is finished");
}

TEST(writer, a_text_that_no_reader_would_take_is_refused) {
  const test::temporary_file file;
  writer out(file.path());
  const std::string long_name((std::size_t{1} << 20) + 1, 'x');
  EXPECT_NE(error_from([&] { (void)out.intern_name(long_name); }), "");
}

}  // namespace
}  // namespace mallard::journal
