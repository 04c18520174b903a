#include "journal/binary/collected_tables.hpp"

#include <string>
#include <utility>

#include "journal/events/flat_table.hpp"

namespace mallard::journal {
namespace {

constexpr std::size_t max_bytes = std::size_t{1} << 30;  // of all tables of one journal in memory

template <class Rows, class Projection>
void add_numbers(table& to, auto column, const Rows& rows, Projection projection) {
  std::vector<std::uint64_t> values;
  values.reserve(rows.size());
  for (const auto& row : rows) values.push_back(projection(row));
  to.columns.push_back({.id = static_cast<std::uint16_t>(column), .values = std::move(values)});
}

template <class Rows, class Projection>
void add_texts(table& to, auto column, const Rows& rows, Projection projection) {
  std::vector<std::string> values;
  values.reserve(rows.size());
  for (const auto& row : rows) values.push_back(projection(row));
  to.columns.push_back({.id = static_cast<std::uint16_t>(column), .values = std::move(values)});
}

template <class Rows>
table start(section_type type, const Rows& rows) {
  return {.type = type, .rows = rows.size()};
}

section_type encode(table_encoder& encoder, const table& rows) {
  encoder.encode(rows);
  return rows.type;
}

// The columns of a received table by row, zeros and empty texts where it has none.
class row_reader {
 public:
  explicit row_reader(const table& from) : from_(&from) {}

  [[nodiscard]] std::uint64_t number(auto column, std::size_t row) const {
    const auto* values = from_->numbers(static_cast<std::uint16_t>(column));
    return values == nullptr ? 0 : (*values)[row];
  }
  [[nodiscard]] std::string text(auto column, std::size_t row) const {
    const auto* values = from_->texts(static_cast<std::uint16_t>(column));
    return values == nullptr ? std::string() : (*values)[row];
  }

 private:
  const table* from_;
};

std::uint32_t index32(std::uint64_t value) {
  if (value > UINT32_MAX) throw malformed("a number in it is too large");
  return static_cast<std::uint32_t>(value);
}

// The stack offsets of a section's rows, each as its difference to the last one of the same return address.
class offset_changes {
 public:
  [[nodiscard]] std::uint64_t change(std::uint64_t return_address, std::uint64_t offset) {
    return offset - std::exchange(last(return_address), offset);
  }
  [[nodiscard]] std::uint64_t offset(std::uint64_t return_address, std::uint64_t change) {
    return last(return_address) += change;
  }

 private:
  std::uint64_t& last(std::uint64_t return_address) {
    if (return_address == 0) return of_none_;
    if (auto* known = last_.find(return_address)) return known->value;
    last_.insert(return_address, 0);
    return last_.find(return_address)->value;
  }

  flat_table<std::uint64_t, std::uint64_t> last_;
  std::uint64_t of_none_ = 0;
};

}  // namespace

// There are many contexts. Most are called from the row before, and come in chains that were there before.
section_type encode_rows(table_encoder& encoder, const std::vector<indexed<context_node>>& rows) {
  std::vector<std::uint64_t> values(rows.size());
  const auto collect = [&](auto projection) -> const std::vector<std::uint64_t>& {
    for (std::size_t i = 0; i < rows.size(); ++i) values[i] = projection(rows[i]);
    return values;
  };
  const auto id = [](context_column column) { return static_cast<std::uint16_t>(column); };
  using row = indexed<context_node>;
  encoder.begin(rows.size());
  const std::vector<std::uint64_t> indices = collect([](const row& r) { return r.index; });
  encoder.numbers(id(context_column::index), indices);
  encoder.back_references(id(context_column::parent), collect([](const row& r) { return r.row.parent; }),
                          id(context_column::index), indices);
  encoder.numbers(id(context_column::name), collect([](const row& r) { return r.row.name; }));
  collect([](const row& r) { return r.row.return_address; });
  encoder.back_references(id(context_column::return_address), values, id(context_column::return_address),
                          values);
  offset_changes offsets;
  encoder.numbers(id(context_column::stack_offset_change), collect([&](const row& r) {
                    return offsets.change(r.row.return_address, r.row.stack_offset);
                  }));
  return sections::contexts;
}

section_type encode_rows(table_encoder& encoder, const std::vector<indexed<thread_info>>& rows) {
  using row = indexed<thread_info>;
  table to = start(sections::threads, rows);
  add_numbers(to, thread_column::index, rows, [](const row& r) { return r.index; });
  add_numbers(to, thread_column::system_id, rows, [](const row& r) { return r.row.system_id; });
  add_numbers(to, thread_column::start_time, rows, [](const row& r) { return r.row.start_time; });
  add_numbers(to, thread_column::end_time, rows, [](const row& r) { return r.row.end_time; });
  add_texts(to, thread_column::name, rows, [](const row& r) { return r.row.name; });
  return encode(encoder, to);
}

section_type encode_rows(table_encoder& encoder, const std::vector<indexed<module_info>>& rows) {
  using row = indexed<module_info>;
  table to = start(sections::modules, rows);
  add_numbers(to, module_column::index, rows, [](const row& r) { return r.index; });
  add_numbers(to, module_column::begin, rows, [](const row& r) { return r.row.begin; });
  add_numbers(to, module_column::end, rows, [](const row& r) { return r.row.end; });
  add_numbers(to, module_column::bias, rows, [](const row& r) { return r.row.bias; });
  add_numbers(to, module_column::load_time, rows, [](const row& r) { return r.row.load_time; });
  add_numbers(to, module_column::unload_time, rows, [](const row& r) { return r.row.unload_time; });
  add_texts(to, module_column::path, rows, [](const row& r) { return r.row.path; });
  add_texts(to, module_column::build_id, rows, [](const row& r) { return r.row.build_id; });
  return encode(encoder, to);
}

section_type encode_rows(table_encoder& encoder, const std::vector<indexed<std::string>>& rows) {
  using row = indexed<std::string>;
  table to = start(sections::names, rows);
  add_numbers(to, name_column::index, rows, [](const row& r) { return r.index; });
  add_texts(to, name_column::text, rows, [](const row& r) { return r.row; });
  return encode(encoder, to);
}

section_type encode_rows(table_encoder& encoder, const std::vector<usage_sample>& rows) {
  using row = usage_sample;
  table to = start(sections::usage, rows);
  add_numbers(to, usage_column::time, rows, [](const row& r) { return r.time; });
  add_numbers(to, usage_column::cpu_ns, rows, [](const row& r) { return r.cpu_ns; });
  add_numbers(to, usage_column::recording_ns, rows, [](const row& r) { return r.recording_ns; });
  add_numbers(to, usage_column::stalls, rows, [](const row& r) { return r.stalls; });
  add_numbers(to, usage_column::stalled_ns, rows, [](const row& r) { return r.stalled_ns; });
  return encode(encoder, to);
}

section_type encode_rows(table_encoder& encoder, const std::vector<child_info>& rows) {
  using row = child_info;
  table to = start(sections::children, rows);
  add_numbers(to, child_column::process, rows, [](const row& r) { return r.process; });
  add_numbers(to, child_column::time, rows, [](const row& r) { return r.time; });
  add_texts(to, child_column::journal, rows, [](const row& r) { return r.journal; });
  add_texts(to, child_column::program, rows, [](const row& r) { return r.program; });
  add_texts(to, child_column::reason, rows, [](const row& r) { return r.reason; });
  add_numbers(to, child_column::processes, rows, [](const row& r) { return r.processes; });
  return encode(encoder, to);
}

bool collected_tables::holds(section_type type) noexcept {
  return type == sections::contexts || type == sections::threads || type == sections::modules ||
         type == sections::names || type == sections::usage || type == sections::children;
}

void collected_tables::account(std::size_t bytes) {
  if (bytes > max_bytes - bytes_) throw malformed("the tables are too large");
  bytes_ += bytes;
}

// The row with this index, made with all before it where it is new.
template <class Row>
Row& collected_tables::at(std::vector<Row>& rows, std::uint64_t index) {
  if (index >= rows.size()) {
    if (index > max_bytes) throw malformed("the tables are too large");
    account((index + 1 - rows.size()) * sizeof(Row));
    rows.resize(index + 1);
  }
  return rows[index];
}

void collected_tables::cover_thread(std::uint64_t index) { at(tables_.threads, index); }

void collected_tables::take(const table& rows) {
  for (const table_column& column : rows.columns) {
    if (const auto* texts = std::get_if<std::vector<std::string>>(&column.values)) {
      for (const std::string& text : *texts) account(text.size());
    }
  }
  const row_reader from(rows);
  offset_changes offsets;
  const bool has_changes =
      rows.numbers(static_cast<std::uint16_t>(context_column::stack_offset_change)) != nullptr;
  for (std::size_t i = 0; i < rows.rows; ++i) {
    if (rows.type == sections::contexts) {
      using column = context_column;
      const std::uint64_t index = from.number(column::index, i);
      const std::uint64_t parent = from.number(column::parent, i);
      const std::uint64_t name = from.number(column::name, i);
      if (index == 0 || parent >= index) throw malformed("a context in it is its own ancestor");
      const std::uint64_t return_address = from.number(column::return_address, i);
      at(tables_.contexts, index) = {
          .parent = index32(parent),
          .name = name < tables_.names.size() ? index32(name) : 0,  // it may be lost
          .return_address = return_address,
          .stack_offset = has_changes
                              ? offsets.offset(return_address, from.number(column::stack_offset_change, i))
                              : from.number(column::stack_offset, i)};
    } else if (rows.type == sections::threads) {
      using column = thread_column;
      at(tables_.threads, from.number(column::index, i)) = {.system_id = from.number(column::system_id, i),
                                                            .start_time = from.number(column::start_time, i),
                                                            .end_time = from.number(column::end_time, i),
                                                            .name = from.text(column::name, i)};
    } else if (rows.type == sections::modules) {
      using column = module_column;
      at(tables_.modules, from.number(column::index, i)) = {
          .begin = from.number(column::begin, i),
          .end = from.number(column::end, i),
          .bias = from.number(column::bias, i),
          .load_time = from.number(column::load_time, i),
          .unload_time = from.number(column::unload_time, i),
          .path = from.text(column::path, i),
          .build_id = from.text(column::build_id, i)};
    } else if (rows.type == sections::names) {
      const std::uint64_t index = from.number(name_column::index, i);
      if (index != 0) at(tables_.names, index) = from.text(name_column::text, i);  // 0 is the empty name
    } else if (rows.type == sections::usage) {
      using column = usage_column;
      at(tables_.usage, tables_.usage.size()) = {.time = from.number(column::time, i),
                                                 .cpu_ns = from.number(column::cpu_ns, i),
                                                 .recording_ns = from.number(column::recording_ns, i),
                                                 .stalls = from.number(column::stalls, i),
                                                 .stalled_ns = from.number(column::stalled_ns, i)};
    } else if (rows.type == sections::children) {
      using column = child_column;
      at(tables_.children, tables_.children.size()) = {.process = from.number(column::process, i),
                                                       .time = from.number(column::time, i),
                                                       .journal = from.text(column::journal, i),
                                                       .program = from.text(column::program, i),
                                                       .reason = from.text(column::reason, i),
                                                       .processes = from.number(column::processes, i)};
    }
  }
}

}  // namespace mallard::journal
