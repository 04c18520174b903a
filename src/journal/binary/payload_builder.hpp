// payload_builder: puts the columns of a section together.
//
//     builder.begin();
//     builder.add(header, data);                 // once a column; compressed where that pays
//     put_section(file, type, rows, builder.payload());
//
// The buffers live as long as the builder.
#pragma once

#include <vector>

#include "journal/binary/column.hpp"
#include "journal/bytes/compress.hpp"

namespace mallard::journal {

class payload_builder {
 public:
  void begin();

  // Adds a column that is `data` before compression; the header says how, but for that.
  void add(column_header header, byte_span data, effort how = effort::usual);

  // The payload; valid until begin().
  [[nodiscard]] byte_span payload();

 private:
  std::vector<column_header> headers_;
  byte_vector data_;
  byte_vector payload_;
  compressor compressor_;
};

}  // namespace mallard::journal
