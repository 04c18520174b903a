// collected_tables: the tables that events refer to, to and from their sections.
//
// Rows carry their index, so that a later row can replace an earlier one (a thread's end), and so
// that a lost section leaves unknown entries behind but shifts no other.
#pragma once

#include <cstdint>
#include <vector>

#include "journal/binary/table_decoder.hpp"
#include "journal/binary/table_encoder.hpp"
#include "journal/events/process_tables.hpp"
#include "journal/events/table.hpp"

namespace mallard::journal {

template <class Row>
struct indexed {
  std::uint64_t index = 0;
  Row row;
};

// Encodes rows as the payload of a section, which is in the encoder afterwards; returns its type.
section_type encode_rows(table_encoder& encoder, const std::vector<indexed<context_node>>& rows);
section_type encode_rows(table_encoder& encoder, const std::vector<indexed<thread_info>>& rows);
section_type encode_rows(table_encoder& encoder, const std::vector<indexed<module_info>>& rows);
section_type encode_rows(table_encoder& encoder, const std::vector<indexed<std::string>>& rows);
section_type encode_rows(table_encoder& encoder, const std::vector<usage_sample>& rows);
section_type encode_rows(table_encoder& encoder, const std::vector<child_info>& rows);

// Collects the tables of a journal as their sections come by, and bounds what they take.
class collected_tables {
 public:
  // Whether sections of this type belong here.
  [[nodiscard]] static bool holds(section_type type) noexcept;

  // Takes in one section; throws malformed, and then may have taken in a part of it.
  void take(const table& rows);

  // Makes threads up to `index` exist; throws malformed if there cannot be as many.
  void cover_thread(std::uint64_t index);

  [[nodiscard]] const process_tables& get() const noexcept { return tables_; }

 private:
  template <class Row>
  Row& at(std::vector<Row>& rows, std::uint64_t index);
  void account(std::size_t bytes);

  process_tables tables_;
  std::size_t bytes_ = 0;  // taken so far
};

}  // namespace mallard::journal
