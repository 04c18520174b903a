#include "journal/bytes/compress.hpp"

#include <zstd.h>

#include <new>

namespace mallard::journal {
namespace {

constexpr std::size_t shortest_worthwhile = 32;  // bytes: below, a frame's own header eats the gain

template <class Context>
Context* or_throw(Context* context) {
  if (context == nullptr) throw std::bad_alloc();
  return context;
}

}  // namespace

compressor::compressor() : context_(or_throw(ZSTD_createCCtx())) { set(effort_); }

void compressor::set(effort how) {
  const auto apply = [this](ZSTD_cParameter parameter, int value) {
    ZSTD_CCtx_setParameter(context_.get(), parameter, value);
  };
  effort_ = how;
  apply(ZSTD_c_compressionLevel, 1);
  apply(ZSTD_c_minMatch, how == effort::usual ? 0 : 7);  // 0: as the level has it
  apply(ZSTD_c_hashLog, how == effort::usual ? 0 : 10);
}

void compressor::free_context::operator()(ZSTD_CCtx_s* context) const noexcept { ZSTD_freeCCtx(context); }

byte_span compressor::compress(byte_span raw, effort how) {
  if (how == effort::none || raw.size() < shortest_worthwhile) return {};
  if (how != effort_) set(how);
  const std::size_t bound = ZSTD_compressBound(raw.size());
  if (out_.size() < bound) out_.resize(bound);
  const std::size_t size = ZSTD_compress2(context_.get(), out_.data(), out_.size(), raw.data(), raw.size());
  if (ZSTD_isError(size) != 0 || size >= raw.size()) return {};
  return {out_.data(), size};
}

decompressor::decompressor() : context_(or_throw(ZSTD_createDCtx())) {}

void decompressor::free_context::operator()(ZSTD_DCtx_s* context) const noexcept { ZSTD_freeDCtx(context); }

byte_span decompressor::decompress(byte_span stored, std::size_t raw_size) {
  if (out_.size() < raw_size) out_.resize(raw_size);
  const std::size_t size =
      ZSTD_decompressDCtx(context_.get(), out_.data(), raw_size, stored.data(), stored.size());
  if (ZSTD_isError(size) != 0 || size != raw_size) throw malformed("its compressed data is broken");
  return {out_.data(), raw_size};
}

}  // namespace mallard::journal
