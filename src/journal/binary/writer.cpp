#include "journal/binary/writer.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "journal/binary/collected_tables.hpp"
#include "journal/binary/context_interner.hpp"
#include "journal/binary/event_columns.hpp"
#include "journal/binary/section.hpp"
#include "journal/bytes/file.hpp"
#include "journal/events/event_source.hpp"
#include "journal/events/metadata.hpp"

namespace mallard::journal {
namespace {

constexpr std::size_t section_rows = std::size_t{1} << 16;      // of the other tables
constexpr std::size_t max_text = std::size_t{1} << 20;          // bytes of one text
constexpr std::size_t max_pending_text = std::size_t{8} << 20;  // bytes of texts that wait to be written

}  // namespace

struct writer::state {
  explicit state(const std::filesystem::path& path) : file(path) {}

  void write(byte_span bytes);
  void write_pending();
  void write_if_large();
  void put_payload(section_type type, std::size_t rows) { put_section(chunk, type, rows, encoder.payload()); }
  template <class Row>
  void put_rows(std::vector<Row>& rows);
  void list_contexts();
  void hold(std::string_view text);

  output file;
  std::function<void(std::uint64_t)> before_commit;
  std::function<void()> after_commit;
  std::string failure;  // why the file can take nothing more; empty: it can
  table_encoder encoder;
  byte_vector chunk;  // complete sections, to be written at once

  event_encoder events;  // those that wait to be written
  std::array<std::uint64_t, 256> written_by_kind{};
  std::uint64_t written_events = 0;

  context_interner contexts;
  std::size_t written_contexts = 1;
  std::unordered_map<std::string, std::uint32_t> name_indices;
  std::uint32_t thread_count = 0;
  std::uint32_t module_count = 0;

  // What waits to be written.
  std::vector<indexed<context_node>> changed_contexts;  // of those written before
  std::vector<indexed<thread_info>> threads;
  std::vector<indexed<module_info>> modules;
  std::vector<indexed<std::string>> names;
  std::vector<usage_sample> usage;
  std::vector<child_info> children;
  std::size_t text_bytes = 0;  // of all these
};

void writer::state::write(byte_span bytes) {
  if (!failure.empty()) throw error(failure);
  try {
    file.append(bytes);
  } catch (const error& reason) {
    failure = reason.what();
    throw;
  }
}

// Everything that waits, in an order in which nothing refers to what comes later.
void writer::state::write_pending() {
  if (!failure.empty()) throw error(failure);
  chunk.clear();
  put_rows(names);
  list_contexts();
  put_rows(changed_contexts);
  put_rows(threads);
  put_rows(modules);
  if (events.rows() > 0) put_section(chunk, sections::events, events.rows(), events.payload());
  put_rows(usage);
  put_rows(children);
  text_bytes = 0;
  if (chunk.empty()) return;
  if (before_commit) before_commit(file.size() + chunk.size());
  write(chunk);
  for (std::size_t kind = 0; kind < written_by_kind.size(); ++kind)
    written_by_kind[kind] += events.rows_of_kind()[kind];
  written_events += events.rows();
  events.clear();
  if (after_commit) after_commit();
}

template <class Row>
void writer::state::put_rows(std::vector<Row>& rows) {
  for (std::size_t first = 0; first < rows.size(); first += section_rows) {
    const auto from = rows.begin() + static_cast<std::ptrdiff_t>(first);
    const std::size_t count = std::min(section_rows, rows.size() - first);
    const std::vector<Row> part(from, from + static_cast<std::ptrdiff_t>(count));
    put_payload(encode_rows(encoder, part), count);
  }
  rows.clear();
}

// Adds the contexts made since the last time to those that changed.
void writer::state::list_contexts() {
  const std::vector<context_node>& nodes = contexts.nodes();
  for (; written_contexts < nodes.size(); ++written_contexts) {
    changed_contexts.push_back({.index = written_contexts, .row = nodes[written_contexts]});
  }
}

// Notes that `text` waits to be written.
void writer::state::hold(std::string_view text) {
  if (text.size() > max_text) {
    throw error("a text of " + std::to_string(text.size()) + " bytes is too long for a journal");
  }
  text_bytes += text.size();
}

void writer::state::write_if_large() {
  if (text_bytes >= max_pending_text) write_pending();
}

writer::writer(const std::filesystem::path& path) : state_(std::make_unique<state>(path)) {
  state_->write(make_file_header());
}

writer::~writer() = default;

void writer::on_commit(std::function<void(std::uint64_t)> before, std::function<void()> after) {
  state_->before_commit = std::move(before);
  state_->after_commit = std::move(after);
}

void writer::describe(const metadata& about) {
  const std::string json = metadata_to_json(about);
  byte_vector section;
  put_section(section, sections::metadata, 0,
              {reinterpret_cast<const unsigned char*>(json.data()), json.size()});
  state_->write(section);
}

std::uint32_t writer::intern_context(std::uint32_t parent, std::uint64_t return_address,
                                     std::uint32_t generation) {
  return state_->contexts.intern({.parent = parent, .return_address = return_address}, generation);
}

std::uint32_t writer::intern_scope(std::uint32_t parent, std::uint32_t name) {
  return state_->contexts.intern({.parent = parent, .name = name});
}

std::uint32_t writer::intern_name(std::string_view name) {
  if (name.empty()) return 0;
  std::string key(name);
  if (const auto found = state_->name_indices.find(key); found != state_->name_indices.end())
    return found->second;
  state_->hold(name);
  const auto index = static_cast<std::uint32_t>(state_->name_indices.size() + 1);
  state_->names.push_back({.index = index, .row = key});
  state_->name_indices.emplace(std::move(key), index);
  state_->write_if_large();
  return index;
}

void writer::set_stack_offset(std::uint32_t context, std::uint64_t bytes) {
  if (context == 0) return;  // nothing is known of the unknown context
  context_node& node = state_->contexts.nodes()[context];
  if (node.stack_offset == bytes) return;
  node.stack_offset = bytes;
  if (context < state_->written_contexts) state_->changed_contexts.push_back({.index = context, .row = node});
}

std::uint32_t writer::add_thread(const thread_info& row) {
  const std::uint32_t index = state_->thread_count++;
  update_thread(index, row);
  return index;
}

void writer::update_thread(std::uint32_t index, const thread_info& row) {
  state_->hold(row.name);
  state_->threads.push_back({.index = index, .row = row});
  state_->write_if_large();
}

std::uint32_t writer::add_module(const module_info& row) {
  const std::uint32_t index = state_->module_count++;
  update_module(index, row);
  return index;
}

void writer::update_module(std::uint32_t index, const module_info& row) {
  state_->hold(row.path);
  state_->hold(row.build_id);
  state_->modules.push_back({.index = index, .row = row});
  state_->write_if_large();
}

void writer::add_usage(const usage_sample& row) { state_->usage.push_back(row); }

void writer::add_child(const child_info& row) {
  state_->hold(row.journal);
  state_->children.push_back(row);
  state_->write_if_large();
}

void writer::append(const event& e) {
  state& s = *state_;
  while (!s.events.append(e)) s.write_pending();
  if (s.events.rows() == event_encoder::max_rows) s.write_pending();
}

void writer::add_table(const table& extra) {
  state_->write_pending();
  state_->encoder.encode(extra);
  state_->chunk.clear();
  state_->put_payload(extra.type, extra.rows);
  state_->write(state_->chunk);
}

void writer::flush() { state_->write_pending(); }

void writer::finish() {
  state& s = *state_;
  s.write_pending();
  table totals{.type = sections::end, .rows = 0};
  std::vector<std::uint64_t> kinds;
  std::vector<std::uint64_t> counts;
  for (std::size_t kind = 0; kind < s.written_by_kind.size(); ++kind) {
    if (s.written_by_kind[kind] == 0) continue;
    kinds.push_back(kind);
    counts.push_back(s.written_by_kind[kind]);
  }
  totals.rows = kinds.size();
  totals.columns.push_back({.id = static_cast<std::uint16_t>(end_column::kind), .values = std::move(kinds)});
  totals.columns.push_back(
      {.id = static_cast<std::uint16_t>(end_column::events), .values = std::move(counts)});
  s.chunk.clear();
  s.encoder.encode(totals);
  s.put_payload(totals.type, totals.rows);
  s.write(s.chunk);
  s.failure = "the journal is finished";
  s.file.close();
}

std::uint64_t writer::events() const noexcept { return state_->written_events + state_->events.rows(); }

std::size_t writer::pending_events() const noexcept { return state_->events.rows(); }

std::uint64_t writer::bytes_written() const noexcept { return state_->file.size(); }

}  // namespace mallard::journal
