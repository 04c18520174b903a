// compress: zstd, one column at a time, with contexts that live as long as the file is open.
//
// Little effort: the encodings in front of it have done most of the work.
#pragma once

#include <memory>

#include "journal/bytes/wire.hpp"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace mallard::journal {

// How hard to look for repetitions; how often each byte occurs is always made use of.
enum class effort {
  none,   // as it is: for times, of which half a byte an event could be saved for a tenth of all that
          // recording costs
  usual,  // level 1
  low,    // only for long ones, in a table that stays in the nearest cache: for columns of events a
          // quarter faster, and 5 % longer
};

class compressor {
 public:
  compressor();

  // `raw` compressed, valid until the next call; empty if that would not make it shorter.
  [[nodiscard]] byte_span compress(byte_span raw, effort how);

 private:
  struct free_context {
    void operator()(ZSTD_CCtx_s* context) const noexcept;
  };
  void set(effort how);

  std::unique_ptr<ZSTD_CCtx_s, free_context> context_;
  effort effort_ = effort::usual;  // that context_ is set to
  byte_vector out_;
};

class decompressor {
 public:
  decompressor();

  // The `raw_size` bytes that `stored` encodes, valid until the next call; throws malformed if it
  // encodes anything else. The caller has bounded raw_size.
  [[nodiscard]] byte_span decompress(byte_span stored, std::size_t raw_size);

 private:
  struct free_context {
    void operator()(ZSTD_DCtx_s* context) const noexcept;
  };
  std::unique_ptr<ZSTD_DCtx_s, free_context> context_;
  byte_vector out_;
};

}  // namespace mallard::journal
