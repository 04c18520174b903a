// What a reader makes of journals that are damaged, cut off, forged, or of another version.
#include "journal/binary/binary_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "journal/binary/sample_journal.hpp"
#include "journal/binary/section.hpp"
#include "journal/binary/writer.hpp"
#include "journal/events/metadata.hpp"
#include "scratch_folder.hpp"
#include "slow_tests.hpp"

namespace mallard::journal {
namespace {

std::string sample_bytes() {
  const test::temporary_file file;
  write_sample(file.path());
  return file.read();
}

std::string text_of(const byte_vector& bytes) { return {bytes.begin(), bytes.end()}; }

byte_span as_bytes(const std::string& text) {
  return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

struct placed_section {
  std::size_t at;
  section_header header;
};

std::vector<placed_section> sections_of(const std::string& journal) {
  std::vector<placed_section> found;
  std::size_t at = file_header_size;
  while (at < journal.size()) {
    const auto header = parse_section_header(as_bytes(journal).subspan(at));
    EXPECT_TRUE(header.has_value());
    found.push_back({.at = at, .header = *header});
    at += section_header_size + header->stored_size;
  }
  return found;
}

// The n-th section of a type.
placed_section section_of(const std::string& journal, section_type type, std::size_t n = 0) {
  for (const placed_section& s : sections_of(journal)) {
    if (s.header.type == type && n-- == 0) return s;
  }
  ADD_FAILURE() << "no such section";
  return {};
}

// Whether `part` is left of `whole` when some of its elements are taken away.
bool is_subsequence(const std::vector<event>& part, const std::vector<event>& whole) {
  auto at = whole.begin();
  for (const event& e : part) {
    at = std::find(at, whole.end(), e);
    if (at == whole.end()) return false;
    ++at;
  }
  return true;
}

// A journal of one section with `payload`.
std::string journal_with(section_type type, std::size_t rows, const byte_vector& payload) {
  byte_vector bytes = make_file_header();
  put_section(bytes, type, rows, payload);
  return text_of(bytes);
}

// --- other versions ---------------------------------------------------------------------------

std::string with_version(std::string journal, std::uint16_t major, std::uint16_t minor) {
  auto* header = reinterpret_cast<unsigned char*>(journal.data());
  store(header + 8, major);
  store(header + 10, minor);
  store(header + 24, checksum({header, 24}));
  return journal;
}

TEST(binary_source, a_higher_major_version_is_refused) {
  EXPECT_EQ(error_of_bytes(with_version(sample_bytes(), 2, 0)),
            "it is a journal of version 2, this program reads up to version 1: use a newer mallard");
}

TEST(binary_source, a_higher_minor_version_is_accepted) {
  const journal_contents read = read_bytes(with_version(sample_bytes(), 1, 7));
  EXPECT_EQ(read.events, sample_events());
  EXPECT_TRUE(read.complete);
}

TEST(binary_source, a_longer_file_header_is_accepted) {
  std::string journal = sample_bytes();
  journal.insert(24, 16, '\x11');
  auto* header = reinterpret_cast<unsigned char*>(journal.data());
  store(header + 12, std::uint32_t{48});
  store(header + 40, checksum({header, 40}));
  EXPECT_EQ(read_bytes(journal).events, sample_events());
}

TEST(binary_source, unknown_sections_are_skipped) {
  std::string journal = sample_bytes();
  byte_vector unknown;
  put_section(unknown, make_section_type("????"), 5, byte_vector(100, 0xee));
  for (const placed_section& s : {sections_of(journal)[3], sections_of(journal)[1]}) {
    journal.insert(s.at, std::string(unknown.begin(), unknown.end()));
  }
  const journal_contents read = read_bytes(journal);
  EXPECT_EQ(read.events, sample_events());
  EXPECT_TRUE(read.complete);
}

// Columns that came later, one of them encoded in a way that came later too.
TEST(binary_source, unknown_columns_are_skipped) {
  const std::vector<std::uint64_t> values = {7, 8, 9};
  const std::vector<std::uint64_t> kinds(3, static_cast<std::uint64_t>(event_kind::malloc));
  table_encoder encoder;
  encoder.begin(3);
  encoder.numbers(static_cast<std::uint16_t>(event_column::kind), encoding::varint, kinds);
  encoder.numbers(static_cast<std::uint16_t>(event_column::size), encoding::varint, values);
  encoder.numbers(900, encoding::varint, values);
  encoder.numbers(12, encoding::varint, values);
  const byte_span payload = encoder.payload();
  byte_vector later(payload.begin(), payload.end());
  later[4 + 2 * column_header_size + 2] = 200;  // the encoding of the third column, 900
  byte_vector journal = make_file_header();
  put_section(journal, sections::events, 3, later);

  encoder.begin(1);
  const std::vector<std::uint64_t> one = {1};
  encoder.numbers(static_cast<std::uint16_t>(name_column::index), one);
  encoder.texts(static_cast<std::uint16_t>(name_column::text), std::vector<std::string>{"parser"});
  for (const std::uint16_t id : std::array<std::uint16_t, 3>{77, 78, 79}) encoder.numbers(id, one);
  const byte_span names = encoder.payload();
  later.assign(names.begin(), names.end());
  later[4 + 2 * column_header_size + 2] = 200;  // the encoding of the third column
  later[4 + 3 * column_header_size + 3] = 200;  // the compression of the fourth
  later[4 + 4 * column_header_size + 4] = 200;  // the presence of the fifth
  put_section(journal, sections::names, 1, later);

  const journal_contents read = read_bytes(text_of(journal));
  ASSERT_EQ(read.events.size(), 3U);
  EXPECT_EQ(read.events[2].size, 9U);
  ASSERT_EQ(read.known.names.size(), 2U);
  EXPECT_EQ(read.known.names[1], "parser");
  EXPECT_EQ(read.warnings.size(), 1U) << "only the end is missing";
}

TEST(binary_source, unknown_metadata_is_skipped) {
  metadata about;
  merge_metadata(about, R"({"program": "x", "later": {"a": [1]}})");
  EXPECT_EQ(about.program, "x");
  for (const char* broken :
       {"", "[", "[]", R"({"process": "x"})", R"({"process": 1.5})", R"({"ticks_per_second": 0})",
        R"({"figures": {"a": 1e300}})", R"({"arguments": 3})"}) {
    EXPECT_THROW(merge_metadata(about, broken), malformed) << broken;
    EXPECT_EQ(about.program, "x");
  }
}

// --- damage -----------------------------------------------------------------------------------

TEST(binary_source, cut_off_anywhere_it_is_read_up_to_the_cut) {
  const std::string whole = sample_bytes();
  const std::vector<event> events = sample_events();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    if (size < file_header_size) {
      EXPECT_NE(error_of_bytes(cut), "") << size;
      continue;
    }
    const journal_contents read = read_bytes(cut);
    ASSERT_LE(read.events.size(), events.size());
    EXPECT_TRUE(std::equal(read.events.begin(), read.events.end(), events.begin())) << size;
    EXPECT_FALSE(read.complete) << size;
    EXPECT_FALSE(read.warnings.empty()) << size;
  }
}

TEST(binary_source, every_flipped_bit_is_noticed) {
  const std::string whole = sample_bytes();
  const std::vector<event> events = sample_events();
  for (std::size_t bit = 0; bit < whole.size() * 8; bit += test::slow_tests ? 1 : 7) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    if (bit / 8 < file_header_size) {
      EXPECT_NE(error_of_bytes(flipped), "") << bit;
      continue;
    }
    journal_contents read = read_bytes(flipped);
    EXPECT_FALSE(read.complete) << bit;
    EXPECT_FALSE(read.warnings.empty()) << bit;
    for (event& e : read.events) {
      if (e.context == 0 && e.time != 5) e.context = 2;  // the contexts may be what was lost
    }
    EXPECT_TRUE(is_subsequence(read.events, events)) << bit;
  }
}

TEST(binary_source, a_damaged_chunk_costs_that_chunk_alone) {
  std::string journal = sample_bytes();
  const placed_section chunk = section_of(journal, sections::events, 0);
  journal[chunk.at + section_header_size + 30] ^= 0x01;
  const journal_contents read = read_bytes(journal);
  const std::vector<event> events = sample_events();
  const auto lost = static_cast<std::ptrdiff_t>(chunk.header.rows);
  EXPECT_EQ(read.events, std::vector<event>(events.begin() + lost, events.end()));
  EXPECT_EQ(read.warnings, (std::vector<std::string>{"the section at byte " + std::to_string(chunk.at) +
                                                         " is damaged, 12 events are lost",
                                                     "the recording wrote 24 events, 12 can be read"}));
}

TEST(binary_source, an_event_keeps_its_number_where_others_are_lost) {
  std::string journal = sample_bytes();
  const auto numbers_of = [&] {
    std::vector<std::uint64_t> firsts;
    const auto source = open_bytes(journal);
    event_batch batch;
    while (source->next(batch)) firsts.push_back(batch.first);
    return firsts;
  };
  EXPECT_EQ(numbers_of(), (std::vector<std::uint64_t>{0, 12}));
  journal[section_of(journal, sections::events, 0).at + section_header_size + 30] ^= 0x01;
  EXPECT_EQ(numbers_of(), std::vector<std::uint64_t>{12});
}

TEST(binary_source, bytes_lost_or_added_in_the_middle_cost_the_section_they_hit) {
  const std::string whole = sample_bytes();
  const std::vector<event> events = sample_events();
  const placed_section chunk = section_of(whole, sections::events, 0);
  const std::vector<event> rest(events.begin() + chunk.header.rows, events.end());
  const auto loses_the_chunk = [&](const std::string& journal) {
    const journal_contents read = read_bytes(journal);
    EXPECT_EQ(read.events, rest);
    EXPECT_EQ(read.known.contexts, sample_tables().contexts) << "the section behind it";
  };
  std::string journal = whole;
  loses_the_chunk(journal.erase(chunk.at + section_header_size + 50, 7));
  journal = whole;
  loses_the_chunk(journal.insert(chunk.at + section_header_size + 50, "surprise"));
  journal = whole;
  loses_the_chunk(journal.erase(chunk.at + 3, 5));  // in its header
}

TEST(binary_source, bytes_between_sections_cost_nothing_else) {
  std::string journal = sample_bytes();
  const placed_section chunk = section_of(journal, sections::events, 0);
  journal.insert(chunk.at, std::string(200'000, '\x9d'));
  const journal_contents read = read_bytes(journal);
  EXPECT_EQ(read.events, sample_events());
  EXPECT_EQ(read.warnings, std::vector<std::string>{"200000 bytes from byte " + std::to_string(chunk.at) +
                                                    " on are damaged"});
}

TEST(binary_source, events_whose_contexts_are_lost_have_none) {
  std::string journal = sample_bytes();
  for (std::size_t n = 0; n < 2; ++n)
    journal[section_of(journal, sections::contexts, n).at + section_header_size] ^= 0x01;
  const journal_contents read = read_bytes(journal);
  EXPECT_EQ(read.events.size(), sample_events().size());
  for (const event& e : read.events) EXPECT_EQ(e.context, 0U);
  EXPECT_NE(std::find(read.warnings.begin(), read.warnings.end(), "the contexts of 23 events are lost"),
            read.warnings.end());
}

TEST(binary_source, threads_that_are_not_in_the_table_are_made_up) {
  const test::temporary_file file;
  writer out(file.path());
  out.append({.kind = event_kind::malloc, .thread = 41});
  out.finish();
  EXPECT_EQ(read_all(file.path()).known.threads.size(), 42U);
}

TEST(binary_source, what_follows_the_end_is_told) {
  const journal_contents read = read_bytes(sample_bytes() + "more");
  EXPECT_EQ(read.events, sample_events());
  EXPECT_EQ(read.warnings, std::vector<std::string>{"what stands behind the end of the journal is ignored"});
}

TEST(binary_source, much_damage_is_not_listed_endlessly) {
  byte_vector journal = make_file_header();
  for (int i = 0; i < 1000; ++i) {
    put_section(journal, sections::names, 0, byte_vector(10));
    journal.back() = 1;
  }
  EXPECT_LT(read_bytes(text_of(journal)).warnings.size(), 30U);
}

// --- forgery: intact checksums around impossible numbers ----------------------------------------

TEST(binary_source, no_number_in_a_file_decides_what_memory_is_taken) {
  byte_vector journal = make_file_header();
  put_section(journal, sections::events, 0xffff'ffff, byte_vector(4));
  EXPECT_TRUE(read_bytes(text_of(journal)).events.empty());

  // A header that promises 2^60 bytes.
  journal = make_file_header();
  put_section(journal, sections::events, 5, byte_vector(4));
  unsigned char* header = journal.data() + file_header_size;
  store(header + 16, std::uint64_t{1} << 60);
  store(header + 32, checksum({header, 32}));
  EXPECT_TRUE(read_bytes(text_of(journal)).events.empty());

  table_encoder encoder;
  const auto one_row = [&](section_type type, std::uint16_t column, std::uint64_t value) {
    const std::vector<std::uint64_t> values = {value};
    encoder.begin(1);
    encoder.numbers(column, values);
    const byte_span payload = encoder.payload();
    return read_bytes(journal_with(type, 1, byte_vector(payload.begin(), payload.end())));
  };
  const auto told = [](const journal_contents& read) {
    return read.warnings[0].find("cannot be used") != std::string::npos;
  };
  EXPECT_TRUE(told(one_row(sections::threads, 1, std::uint64_t{1} << 40)));
  EXPECT_TRUE(told(one_row(sections::contexts, 1, UINT64_MAX)));
  EXPECT_TRUE(told(one_row(sections::contexts, 1, std::uint64_t{1} << 61)));  // whose bytes are 0 modulo 2^64
  EXPECT_TRUE(told(one_row(sections::events, static_cast<std::uint16_t>(event_column::thread), UINT32_MAX)));
}

TEST(binary_source, names_that_are_not_there_are_none) {
  table_encoder encoder;
  const std::vector<std::uint64_t> one = {1};
  const std::vector<std::uint64_t> seventh = {7};
  encoder.begin(1);
  encoder.numbers(static_cast<std::uint16_t>(context_column::index), one);
  encoder.numbers(static_cast<std::uint16_t>(context_column::name), seventh);
  const byte_span scope = encoder.payload();
  std::string journal = journal_with(sections::contexts, 1, {scope.begin(), scope.end()});
  const std::vector<std::string> text = {"surprise"};
  encoder.begin(1);
  encoder.texts(static_cast<std::uint16_t>(name_column::text), text);  // of index 0
  byte_vector names;
  put_section(names, sections::names, 1, encoder.payload());
  const journal_contents read = read_bytes(journal + text_of(names));
  EXPECT_EQ(read.known.contexts.at(1).name, 0U);
  EXPECT_EQ(read.known.names, std::vector<std::string>{""});
}

TEST(binary_source, a_back_reference_into_a_column_not_yet_decoded_is_refused) {
  table_encoder encoder;
  const std::vector<std::uint64_t> values = {5, 5};
  const auto refused = [&](event_column column, event_column reference) {
    encoder.begin(2);
    encoder.back_references(static_cast<std::uint16_t>(column), values, static_cast<std::uint16_t>(reference),
                            values);
    const byte_span payload = encoder.payload();
    const std::vector<std::string> told =
        read_bytes(journal_with(sections::events, 2, {payload.begin(), payload.end()})).warnings;
    return told.at(0).find("cannot be used") != std::string::npos;
  };
  EXPECT_FALSE(refused(event_column::old_address, event_column::address));
  EXPECT_FALSE(refused(event_column::region, event_column::region));
  EXPECT_TRUE(refused(event_column::address, event_column::region));
  EXPECT_TRUE(refused(event_column::old_address, event_column::region));
  EXPECT_TRUE(refused(event_column::parent, event_column::size));
}

TEST(binary_source, stack_offsets_of_before_minor_version_2_are_read) {
  table_encoder encoder;
  const std::vector<std::uint64_t> index = {1, 2};
  const std::vector<std::uint64_t> parent = {0, 1};
  const std::vector<std::uint64_t> caller = {0x1000, 0x1000};
  const std::vector<std::uint64_t> offset = {16, 48};
  encoder.begin(2);
  encoder.numbers(static_cast<std::uint16_t>(context_column::index), index);
  encoder.numbers(static_cast<std::uint16_t>(context_column::parent), parent);
  encoder.numbers(static_cast<std::uint16_t>(context_column::return_address), caller);
  encoder.numbers(static_cast<std::uint16_t>(context_column::stack_offset), offset);
  const byte_span payload = encoder.payload();
  const journal_contents read =
      read_bytes(journal_with(sections::contexts, 2, {payload.begin(), payload.end()}));
  EXPECT_EQ(read.known.contexts.at(1).stack_offset, 16U);
  EXPECT_EQ(read.known.contexts.at(2).stack_offset, 48U);
}

TEST(binary_source, a_context_cannot_be_its_own_ancestor) {
  table_encoder encoder;
  const std::vector<std::uint64_t> index = {1, 2};
  const std::vector<std::uint64_t> parent = {2, 1};
  encoder.begin(2);
  encoder.numbers(static_cast<std::uint16_t>(context_column::index), index);
  encoder.numbers(static_cast<std::uint16_t>(context_column::parent), parent);
  const byte_span payload = encoder.payload();
  const journal_contents read =
      read_bytes(journal_with(sections::contexts, 2, {payload.begin(), payload.end()}));
  EXPECT_NE(read.warnings[0].find("its own ancestor"), std::string::npos);
}

TEST(binary_source, what_a_whole_file_lacks_of_the_run_or_of_the_program_is_said) {
  for (const std::string fact : {incomplete_fact, unseen_fact}) {
    const test::temporary_file file;
    writer out(file.path());
    out.describe({.facts = {{fact, "half of it is missing"}}});
    out.finish();
    const journal_contents read = read_all(file.path());
    EXPECT_EQ(read.complete, fact == unseen_fact);
    EXPECT_EQ(read.warnings, std::vector<std::string>{"half of it is missing"});
  }
}

}  // namespace
}  // namespace mallard::journal
