// event_columns: events as the columns of an "evnt" section. event_encoder makes its payload while a chunk of
// events grows, decode_events makes a batch of it again.
//
//     append(e) --> kind      a byte an event
//                   time      zigzag differences
//                   context   zigzag differences          } of the events
//                   address   how many rows ago, or new   } whose kind
//                   size      varints                     } has such a value
//                   the rest  (row, value) pairs: rare
//
// Which kinds have a context, an address or a size is known for the most part, learnt where it is
// not, and never unlearnt. Where an event has one and earlier events of its kind in the chunk have
// none, the chunk has to end before it. A thread is written once a chunk as long as it is the only one.
//
// Cost: about 5 ns an event to append, and 4 to 10 to compress; less than 20 ns to decode.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "journal/binary/column.hpp"
#include "journal/binary/last_rows.hpp"
#include "journal/binary/table_decoder.hpp"
#include "journal/binary/varint_column.hpp"
#include "journal/events/event_batch.hpp"

namespace mallard::journal {

class event_encoder {
 public:
  static constexpr std::size_t max_rows = std::size_t{1} << 15;

  event_encoder();

  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }

  // How many of the rows are of each kind.
  [[nodiscard]] const std::array<std::uint32_t, 256>& rows_of_kind() const noexcept { return rows_of_kind_; }

  // Adds the event; false, and nothing is done, if the chunk has to end before it.
  [[nodiscard]] bool append(const event& e) {
    const auto kind = static_cast<std::uint8_t>(e.kind);
    const unsigned given = static_cast<unsigned>(e.context != 0) * has_context |
                           static_cast<unsigned>(e.address != 0) * has_address |
                           static_cast<unsigned>(e.size != 0) * has_size;
    if (rows_ == max_rows) [[unlikely]]
      return false;
    if ((given & ~columns_of_kind_[kind]) != 0 && !widen(kind, given)) [[unlikely]]
      return false;
    const unsigned columns = columns_of_kind_[kind];
    if ((e.alignment | e.old_address | e.region | e.parent | e.duration | (e.thread ^ thread_)) != 0)
        [[unlikely]]
      append_rare(e);

    kinds_[rows_] = kind;
    ++rows_of_kind_[kind];
    times_.put_short(zigzag(e.time - last_time_));
    last_time_ = e.time;
    if (threads_vary_) threads_.put_short(e.thread);
    if ((columns & (has_context | has_size)) != 0) {
      if ((columns & has_context) != 0) [[likely]] {
        contexts_.put_short(zigzag(e.context - last_context_));
        last_context_ = e.context;
      }
      if ((columns & has_size) != 0) [[likely]]
        sizes_.put_short(e.size);
    }
    if ((columns & has_address) != 0) {
      const std::size_t distance = last_addresses_.record(e.address, rows_);
      distances_.put(distance);
      if (distance == 0) {
        fresh_.put(zigzag(e.address - last_fresh_));
        last_fresh_ = e.address;
      }
    }
    ++rows_;
    return true;
  }

  // The chunk so far; valid until clear(), which starts the next one.
  [[nodiscard]] byte_span payload();
  void clear();

 private:
  enum : unsigned { has_context = 1, has_address = 2, has_size = 4 };

  // A column in which few rows have a value.
  struct rare_column {
    event_column id;
    encoding how = encoding::varint;
    event_column reference{};              // of back-references
    std::vector<std::uint32_t> rows{};     // those that have a value
    std::vector<std::uint64_t> values{};   // theirs, or the distances of back-references
    std::vector<std::uint64_t> fresh{};    // the numbers that are new
    std::array<std::uint64_t, 4> kinds{};  // a bit for each kind of theirs
  };

  bool widen(std::uint8_t kind, unsigned given);
  void append_rare(const event& e);
  void add_rare(rare_column& column, std::uint8_t kind, std::uint64_t value);
  void add_back_reference(rare_column& column, std::uint8_t kind, std::uint64_t value, std::size_t distance);
  void put_by_kinds(event_column id, unsigned bit, encoding how, byte_span data);
  void put_rare(rare_column& column);

  std::size_t rows_ = 0;
  std::uint64_t last_time_ = 0;
  std::uint64_t last_context_ = 0;
  std::uint64_t last_fresh_ = 0;
  std::uint32_t thread_ = 0;  // of the last event
  bool threads_vary_ = false;
  unsigned every_ = 0;  // columns in which every row has a value
  std::array<std::uint8_t, 256> columns_of_kind_{};
  std::array<std::uint32_t, 256> rows_of_kind_{};

  std::array<unsigned char, max_rows> kinds_{};
  varint_column times_, threads_, contexts_, sizes_, distances_, fresh_;
  address_last_rows last_addresses_;

  rare_column alignments_{.id = event_column::alignment};
  rare_column old_addresses_{
      .id = event_column::old_address, .how = encoding::back_reference, .reference = event_column::address};
  rare_column regions_{
      .id = event_column::region, .how = encoding::back_reference, .reference = event_column::region};
  rare_column parents_{
      .id = event_column::parent, .how = encoding::back_reference, .reference = event_column::region};
  rare_column durations_{.id = event_column::duration};
  last_rows last_regions_;
  byte_vector rare_bytes_;
  payload_builder builder_;
};

// Replaces the contents of `batch` by what the decoder has open; throws malformed.
void decode_events(table_decoder& decoder, std::size_t rows, event_batch& batch);

}  // namespace mallard::journal
