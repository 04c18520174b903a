#include "journal/binary/column.hpp"

namespace mallard::journal {

void payload_builder::begin() {
  headers_.clear();
  data_.clear();
}

void payload_builder::add(column_header header, byte_span data, effort how) {
  header.raw_size = static_cast<std::uint32_t>(data.size());
  byte_span stored = data;
  if (const byte_span shorter = compressor_.compress(data, how); !shorter.empty()) {
    stored = shorter;
    header.compression = compression::zstd;
  }
  header.stored_size = static_cast<std::uint32_t>(stored.size());
  data_.insert(data_.end(), stored.begin(), stored.end());
  headers_.push_back(header);
}

byte_span payload_builder::payload() {
  payload_.resize(sizeof(std::uint32_t) + headers_.size() * column_header_size);
  store(payload_.data(), static_cast<std::uint32_t>(headers_.size()));
  unsigned char* to = payload_.data() + sizeof(std::uint32_t);
  for (const column_header& header : headers_) {
    store_column_header(to, header);
    to += column_header_size;
  }
  payload_.insert(payload_.end(), data_.begin(), data_.end());
  return payload_;
}

}  // namespace mallard::journal
