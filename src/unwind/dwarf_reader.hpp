// dwarf_reader: numbers and pointers of .eh_frame, read in order and never beyond an end.
//
// After the first thing that does not fit, the reader stands at its end, has `failed`, and reads zeros:
// a caller checks once, after a group of reads, and a loop over the bytes ends by itself. All
// arithmetic is modulo 2^64, so that no bytes make it undefined.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mallard::unwind {

// How a pointer is written: its size and sign below, what it counts from above.
namespace pointer_encoding {
inline constexpr std::uint8_t format = 0x0f, absolute = 0x00, uleb = 0x01, u2 = 0x02, u4 = 0x03, u8 = 0x04,
                              sleb = 0x09, s2 = 0x0a, s4 = 0x0b, s8 = 0x0c;
inline constexpr std::uint8_t base = 0x70, from_place = 0x10, from_header = 0x30, aligned = 0x50;
inline constexpr std::uint8_t indirect = 0x80, omitted = 0xff;
}  // namespace pointer_encoding

class dwarf_reader {
 public:
  constexpr dwarf_reader() noexcept = default;
  constexpr dwarf_reader(const std::uint8_t* begin, const std::uint8_t* end) noexcept
      : at_(begin), end_(end) {}

  [[nodiscard]] constexpr bool at_end() const noexcept { return at_ == end_; }
  [[nodiscard]] constexpr bool failed() const noexcept { return failed_; }
  [[nodiscard]] constexpr const std::uint8_t* position() const noexcept { return at_; }
  [[nodiscard]] constexpr const std::uint8_t* end() const noexcept { return end_; }
  [[nodiscard]] constexpr std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }

  template <class Number>
  Number read() noexcept {
    if (left() < sizeof(Number)) return fail(), Number{};
    Number value;
    // Nothing is left of no bytes.  NOLINTNEXTLINE(clang-analyzer-unix.cstring.NullArg)
    __builtin_memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  std::uint64_t read_uleb() noexcept { return read_leb().bits; }

  std::int64_t read_sleb() noexcept {
    const leb value = read_leb();
    std::uint64_t bits = value.bits;
    if (value.negative && value.width < 64) bits |= ~std::uint64_t{0} << value.width;
    return static_cast<std::int64_t>(bits);
  }

  void skip(std::uint64_t count) noexcept {
    if (count > left()) return fail();
    at_ += count;
  }

  // Moves by a signed distance, for expressions that jump; `begin` is the first place to go to.
  void jump(std::int64_t distance, const std::uint8_t* begin) noexcept {
    if (distance < begin - at_ || distance > end_ - at_) return fail();
    at_ += distance;
  }

  // The next `count` bytes as a reader of their own.
  dwarf_reader take(std::uint64_t count) noexcept {
    const std::uint8_t* first = at_;
    skip(count);
    return failed_ ? dwarf_reader() : dwarf_reader(first, at_);
  }

  // The bytes that follow ULEB-many, as a reader of their own.
  dwarf_reader take_block() noexcept { return take(read_uleb()); }

  // The number of a pointer, without what it counts from.
  std::uint64_t read_pointer_number(std::uint8_t encoding) noexcept {
    switch (encoding & pointer_encoding::format) {
      case pointer_encoding::absolute:
      case pointer_encoding::u8:
      case pointer_encoding::s8:
        return read<std::uint64_t>();
      case pointer_encoding::uleb:
        return read_uleb();
      case pointer_encoding::sleb:
        return static_cast<std::uint64_t>(read_sleb());
      case pointer_encoding::u2:
        return read<std::uint16_t>();
      case pointer_encoding::u4:
        return read<std::uint32_t>();
      case pointer_encoding::s2:
        return static_cast<std::uint64_t>(std::int64_t{read<std::int16_t>()});
      case pointer_encoding::s4:
        return static_cast<std::uint64_t>(std::int64_t{read<std::int32_t>()});
      default:
        return fail(), 0;
    }
  }

  // A pointer to code or to .eh_frame; those are never indirect. `header` is where .eh_frame_hdr begins.
  std::uintptr_t read_pointer(std::uint8_t encoding, const std::uint8_t* header) noexcept {
    const auto place = reinterpret_cast<std::uintptr_t>(at_);
    const std::uint64_t number = read_pointer_number(encoding);
    switch (encoding & ~pointer_encoding::format) {
      case pointer_encoding::absolute:
        return number;
      case pointer_encoding::from_place:
        return place + number;
      case pointer_encoding::from_header:
        return reinterpret_cast<std::uintptr_t>(header) + number;
      default:
        return fail(), 0;
    }
  }

  // A pointer that nobody wants to know.
  void skip_pointer(std::uint8_t encoding) noexcept {
    if (encoding == pointer_encoding::omitted) return;
    if ((encoding & pointer_encoding::base) == pointer_encoding::aligned)
      skip(-reinterpret_cast<std::uintptr_t>(at_) % sizeof(std::uintptr_t));
    read_pointer_number(encoding);
  }

  void fail() noexcept {
    at_ = end_;
    failed_ = true;
  }

 private:
  struct leb {
    std::uint64_t bits;
    unsigned width;  // bits that were written
    bool negative;
  };

  leb read_leb() noexcept {
    leb value{};
    std::uint8_t byte;
    do {
      byte = read<std::uint8_t>();
      if (value.width < 64) {
        value.bits |= std::uint64_t{byte & 0x7fu} << value.width;
        value.width += 7;
      }
    } while (byte & 0x80);
    value.negative = byte & 0x40;
    return value;
  }

  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  bool failed_ = false;
};

// dwarf_registers: what the unwinder knows of the processor, DWARF's numbers of the registers that it
// follows.
//
// A walk needs three registers: where the code is, where the stack is, and the frame pointer that some
// frames find their stack by. All others are skipped over; a frame that needs one of them is unknown: the
// loader's entry for lazy binding, and instructions around the realignment of a stack that make no calls.
// A further processor is a further branch here, and in frame_rule where its calls leave the return
// address elsewhere than on top of the caller's stack.

#if defined(__x86_64__)
inline constexpr std::uint64_t dwarf_bp = 6;
inline constexpr std::uint64_t dwarf_sp = 7;
inline constexpr std::uint64_t dwarf_kept[] = {3, 12, 13, 14, 15};  // rbx, r12 to r15
inline constexpr std::uint64_t dwarf_pc = 16;                       // the return address column
inline constexpr std::int64_t return_address_place = -8;            // from the CFA
#else
#error "the unwinder does not know this processor yet"
#endif

inline constexpr std::size_t kept_registers = sizeof dwarf_kept / sizeof *dwarf_kept;

}  // namespace mallard::unwind
