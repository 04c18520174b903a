// What a recording has left when its launcher is killed, at each moment of its work: nothing is lost and
// nothing comes twice. And what is no spool, or was written over, is reported and does no harm.
#include "journal/drain/spool_source.hpp"
#include "journal/open.hpp"

#include <gtest/gtest.h>

#include "journal/binary/sample_journal.hpp"
#include "journal/binary/writer.hpp"
#include "journal/drain/memory_spool.hpp"
#include "scratch_folder.hpp"

namespace mallard::journal {
namespace {

class spooled : public testing::Test {
 protected:
  ~spooled() override { std::filesystem::remove(spool_path_); }

  test::temporary_file file_;
  std::filesystem::path spool_path_ = file_.path().string() + spool_suffix;
};

// The launcher's part: the rings' events into the journal, with a look from outside at every step.
class launcher {
 public:
  launcher(const std::filesystem::path& path, test::memory_spool& spool,
           std::function<void(const char*)> look)
      : path_(path),
        header_(spool.header()),
        look_(std::move(look)),
        out_(path),
        receiver_{&out_},
        rings_(header_, header_->options, receiver_) {
    out_.describe({.program = "/bin/p", .process = 4321, .start_unix_ns = header_->start_unix_ns});
    out_.on_commit([this](std::uint64_t size_after) { before(size_after); }, [this] { after(); });
  }

  // All that can be read, and how many records those are; frees up to `settled` are not waited for.
  std::uint64_t collect(std::uint64_t settled = UINT64_MAX) {
    return rings_.collect(UINT64_MAX, UINT64_MAX, UINT64_MAX, settled);
  }
  void commit() { out_.flush(); }
  void finish() { out_.finish(); }
  [[nodiscard]] int commits() const noexcept { return commits_; }

 private:
  struct receiver {
    writer* out;
    std::uint32_t add_thread(const thread_info& row) { return out->add_thread(row); }
    void update_thread(std::uint32_t index, const thread_info& row) { out->update_thread(index, row); }
    std::uint32_t frame(std::uint32_t parent, std::uint64_t address, std::uint64_t offset, std::uint64_t) {
      const std::uint32_t context = out->intern_context(parent, address);
      out->set_stack_offset(context, offset);
      return context;
    }
    std::uint32_t scope(std::uint32_t parent, std::string_view name) {
      return out->intern_scope(parent, out->intern_name(name));
    }
    void append(const event& e) { out->append(e); }
    void snapshot(std::uint64_t, std::uint32_t, std::span<const std::uint64_t>) {}
  };

  void before(std::uint64_t size_after) {
    look_("before a chunk");
    rings_.announce(out_.bytes_written(), size_after, out_.events());
    look_("announced");
    header_->next_size = UINT64_MAX;
    look_("between the marks");
    header_->next_size = size_after;
  }

  void after() {
    const std::uint64_t whole = std::filesystem::file_size(path_);
    const std::uint64_t size = header_->size;
    const std::string bytes = contents();
    for (std::uint64_t cut = size; cut < whole; cut += 1 + (whole - size) / 7) {
      std::filesystem::resize_file(path_, cut);
      look_("a torn chunk");
    }
    std::filesystem::resize_file(path_, size);
    std::ofstream(path_, std::ios::binary | std::ios::app)
        .write(bytes.data() + size, static_cast<std::streamsize>(whole - size));
    look_("written");
    ring_header& one = ring_of(header_, 1);
    one.tail_thread = one.next_tail_thread.load();
    one.tail = one.next_tail.load();
    look_("one ring given back");
    rings_.give_back();
    look_("given back");
    ++commits_;
  }

  [[nodiscard]] std::string contents() const {
    std::ifstream from(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(from), {}};
  }

  std::filesystem::path path_;
  spool_header* header_;
  std::function<void(const char*)> look_;
  writer out_;
  receiver receiver_;
  spool_reader<receiver> rings_;
  int commits_ = 0;
};

TEST_F(spooled, a_launcher_killed_at_any_moment_loses_and_doubles_nothing) {
  test::memory_spool spool(std::size_t{1} << 20, spool_path_);
  spool.header()->start_unix_ns = 77;
  const std::uint32_t outer = spool.add_context({.parent = 0, .stack_offset = 0, .place = 0x1100});
  const std::uint32_t inner = spool.add_context({.parent = outer, .stack_offset = 2, .place = 0x1200});
  std::uint64_t written = 0;
  std::uint64_t looks = 0;
  const auto look = [&](const char* when) {
    ++looks;
    const journal_contents read = read_all(file_.path());
    ASSERT_EQ(read.events.size(), written) << when;
    const auto is_as_written = [&](const event& e, std::uint64_t i) {
      const context_node& node = read.known.contexts[e.context];
      return e.address == 16 * i && e.time == 100 + i &&
             read.known.threads[e.thread].system_id == (i % 3 == 0 ? 700u : 701u) &&
             node.return_address == (i % 2 == 0 ? 0x1200u : 0x1100u) && (node.parent == 0) == (i % 2 != 0);
    };
    std::uint64_t right = 0;
    while (right != written && is_as_written(read.events[right], right)) ++right;
    ASSERT_EQ(right, written) << when;
    ASSERT_EQ(read.known.threads.size(), written == 0 ? read.known.threads.size() : 3u) << when;
    ASSERT_LE(read.known.contexts.size(), 3u) << when;
    ASSERT_EQ(read.warnings.size(), 1u) << when;
    ASSERT_FALSE(read.complete) << when;
  };
  launcher reader(file_.path(), spool, look);
  spool.begin_thread(1, 1, 0, 700);
  spool.begin_thread(2, 2, 1, 701);
  for (const std::uint64_t more : {5u, 40'000u, 1u, 35'000u, 500u, 33'000u}) {
    spool.begin_thread(0, 100 + written, 2, 702);  // as in a ring that threads share
    spool.begin_thread(0, 100 + written, 0, 700);
    for (std::uint64_t i = written; i < written + more; ++i)
      spool.put_malloc(i % 3 == 0 ? 1 : 2, 100 + i, 16 * i, i % 2 == 0 ? inner : outer, i);
    written += more;
    look("in the rings");
    reader.collect();
    look("collected");
    if (more != 5) reader.commit();
  }
  EXPECT_GE(reader.commits(), 7);  // of which some came in the middle of collecting
  EXPECT_GT(looks, 60u);
  reader.finish();
  const journal_contents whole = read_all(file_.path());
  EXPECT_EQ(whole.events.size(), written);
  EXPECT_TRUE(whole.complete);
  EXPECT_TRUE(whole.warnings.empty());
}

// The thread whose ring it is adds how long a free took; in the ring that threads share nobody does.
TEST_F(spooled, a_free_that_is_being_timed_is_waited_for_but_in_the_shared_ring) {
  test::memory_spool spool(std::size_t{1} << 20, spool_path_);
  launcher reader(file_.path(), spool, [](const char*) {});
  constexpr unsigned timed = static_cast<unsigned>(event_kind::free) | timed_bit;
  spool.begin_thread(0, 1, 0, 700);
  spool.begin_thread(1, 2, 1, 701);
  spool.put(0, {first_word(timed, 10), 0x1000, 0});
  spool.put(1, {first_word(timed, 11), 0x2000, 0});
  EXPECT_EQ(reader.collect(5), 3u);  // both threads' beginnings and the first free
  EXPECT_EQ(reader.collect(11), 1u);
  reader.finish();
}

TEST_F(spooled, a_spool_alone_is_read) {
  test::memory_spool spool(smallest_ring, spool_path_);
  fill_sample(spool);
  file_.write("");
  for (const bool empty_file : {true, false}) {
    if (!empty_file) std::filesystem::remove(file_.path());
    for (const std::filesystem::path& path : {file_.path(), spool_path_}) {
      const auto source = open(path);
      const journal_contents read = read_all(*source);
      ASSERT_EQ(read.events.size(), sample_spool_events);
      EXPECT_EQ(source->recovered(), sample_spool_events);
      EXPECT_EQ(read.events[0].size, 24u);
      EXPECT_EQ(read.events[1].address, 0x9000u);
      EXPECT_EQ(read.events[40], (event{.kind = event_kind::realloc,
                                        .context = read.events[0].context == 2 ? 1u : 2u,
                                        .time = 70,
                                        .address = 0x7000,
                                        .size = std::uint64_t{1} << 33,
                                        .old_address = 0x5000,
                                        .duration = 91}));
      EXPECT_EQ(read.known.threads[1].end_time, 72u);
      EXPECT_EQ(read.known.modules.at(0).path, "/lib/one.so");
      EXPECT_EQ(read.known.modules.at(0).build_id, "0a1b");
      EXPECT_EQ(read.known.names.at(read.known.contexts.at(read.events[1].context).name), "parser");
      EXPECT_EQ(read.known.usage.at(0).cpu_ns, 5'000'000u);
      EXPECT_EQ(read.about.process, 4321u);
      EXPECT_EQ(read.about.program, "/bin/p");
      EXPECT_EQ(read.about.arguments, (std::vector<std::string>{"p", "-v"}));
      EXPECT_EQ(read.warnings,
                std::vector<std::string>{"the recording was cut off: 42 events are recovered from " +
                                         spool_path_.string()});
      EXPECT_FALSE(read.complete);
    }
  }
  EXPECT_TRUE(std::filesystem::exists(spool_path_));
}

TEST_F(spooled, cpu_figures_are_of_one_program_and_of_one_moment) {
  test::memory_spool spool(smallest_ring, spool_path_);
  fill_sample(spool);
  spool.header()->cpu_before_ns = 2'000'000;
  ring_of(spool.header(), 1).sampled_ticks = 10;
  {
    writer out(file_.path());
    out.describe({.start_unix_ns = spool.header()->start_unix_ns, .ticks_per_second = 1e9});
    out.add_usage({.time = 1, .cpu_ns = 1'000'000, .recording_ns = 7});
    out.flush();
  }
  const usage_sample ended = read_all(file_.path()).known.usage.back();
  EXPECT_EQ(ended.cpu_ns, 3'000'000u);
  EXPECT_EQ(ended.recording_ns, 10 * timed_every);
  spool.header()->end_cpu_ns = 0;
  const usage_sample killed = read_all(file_.path()).known.usage.back();
  EXPECT_EQ(killed.cpu_ns, 1'000'000u);
  EXPECT_EQ(killed.recording_ns, 7u);
}

TEST_F(spooled, a_module_that_was_loaded_again_is_known_again) {
  test::memory_spool spool(smallest_ring, spool_path_);
  fill_sample(spool);
  const module_info first{.begin = 0x1000,
                          .end = 0x9000,
                          .load_time = 1,
                          .unload_time = 2,
                          .path = "/lib/one.so",
                          .build_id = "0a1b"};
  {
    writer out(file_.path());
    out.describe({.start_unix_ns = spool.header()->start_unix_ns, .ticks_per_second = 1e9});
    static_cast<void>(out.add_module(first));
    out.flush();
  }
  const std::vector<module_info> modules = read_all(file_.path()).known.modules;
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(modules[0], first);
  EXPECT_EQ(modules[1].load_time, 3u);
  EXPECT_EQ(modules[1].unload_time, 0u);
}

TEST_F(spooled, a_module_with_a_relative_path_has_one_from_the_working_directory) {
  test::memory_spool spool(smallest_ring, spool_path_);
  fill_sample(spool);
  modules_of(spool.header())[sizeof(module_entry)] = '.';
  EXPECT_EQ(read_all(spool_path_).known.modules.at(0).path, "/tmp/.lib/one.so");
}

TEST_F(spooled, the_spool_of_another_recording_is_left_out) {
  test::memory_spool spool(smallest_ring, spool_path_);
  fill_sample(spool);
  {
    writer out(file_.path());
    out.describe({.start_unix_ns = 5});
    out.append({.kind = event_kind::malloc, .time = 1, .address = 16, .size = 8});
    out.flush();
  }
  const journal_contents read = read_all(file_.path());
  EXPECT_EQ(read.events.size(), 1u);
  EXPECT_EQ(read.warnings, std::vector<std::string>{"the recording was cut off, and " + spool_path_.string() +
                                                    " cannot be read: it belongs to another recording"});
}

TEST_F(spooled, one_of_another_version_is_refused) {
  test::memory_spool spool(smallest_ring, spool_path_);
  spool.header()->magic = spool_magic + 1;
  EXPECT_EQ(error_of(spool_path_), "it is the spool of another version of mallard-record");
}

TEST_F(spooled, cut_off_anywhere_it_is_refused_or_read_as_far_as_it_goes) {
  {
    test::memory_spool spool(smallest_ring, spool_path_);
    fill_sample(spool);
  }
  const std::uint64_t rings = rings_at(spool_parts::options);
  const std::uint64_t whole = ring_at(spool_parts::options, 3);
  for (std::uint64_t size = whole; size > 0; size -= size > rings ? 8 : size > 8192 ? rings / 16 : 1) {
    std::filesystem::resize_file(spool_path_, size);
    if (size < rings) {
      EXPECT_NE(error_of(spool_path_), "") << size;
    } else {
      EXPECT_LE(read_all(spool_path_).events.size(), sample_spool_events) << size;
    }
    if (size < 8192 && size % 512 != 0 && size > sizeof(spool_header) + 16) size -= size % 512;
  }
}

// One bit of every byte that means something: the events that come out refer to what is there.
TEST_F(spooled, any_flipped_bit_is_borne) {
  test::memory_spool spool(smallest_ring, spool_path_);
  fill_sample(spool);
  auto* bytes = reinterpret_cast<unsigned char*>(spool.header());
  const auto flip_each = [&](std::size_t begin, std::size_t size) {
    for (std::size_t at = begin; at < begin + size; ++at) {
      const auto bit = static_cast<unsigned char>(1u << at * 5 % 8);
      bytes[at] ^= bit;
      error_from([&] {
        const journal_contents read = read_all(spool_path_);
        for (const event& e : read.events) {
          ASSERT_LT(e.thread, read.known.threads.size()) << at;
          ASSERT_LT(e.context, read.known.contexts.size()) << at;
        }
      });
      bytes[at] ^= bit;
    }
  };
  for (const spool_parts::part& p : spool_parts::all()) flip_each(p.at, p.size);
  EXPECT_EQ(read_all(spool_path_).events.size(), sample_spool_events);
}

}  // namespace
}  // namespace mallard::journal
