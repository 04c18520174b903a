// type: what a value of the language is and how many bytes it takes; types: all of a program.
//
//     int (8 bytes)   char (1)   void   T*   T[n]   struct name
//
// One object a type: two types are the same if their addresses are. They live until the compiler ends, in
// the region of all that outlives functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "programs/memory/region.hpp"

namespace mallard::programs {

enum class shape : std::uint8_t { nothing, integer, character, pointer, array, structure };

struct type;

struct field {
  std::string_view name;
  const type* is = nullptr;
  std::uint32_t offset = 0;
  field* next = nullptr;
};

struct type {
  shape is = shape::nothing;
  std::uint32_t size = 0;
  type* base = nullptr;   // of pointers and arrays
  std::string_view name;  // of structures
  field* fields = nullptr;
  type* pointer = nullptr;  // the pointer to this one, once somebody asked for it
  type* next = nullptr;

  // Whether a register can hold one.
  [[nodiscard]] bool is_scalar() const noexcept {
    return is == shape::integer || is == shape::character || is == shape::pointer;
  }
};

class types {
 public:
  explicit types(region& permanent) : permanent_(permanent) {}
  types(const types&) = delete;
  types& operator=(const types&) = delete;
  ~types();

  [[nodiscard]] type* nothing() noexcept { return &nothing_; }
  [[nodiscard]] type* integer() noexcept { return &integer_; }
  [[nodiscard]] type* character() noexcept { return &character_; }
  [[nodiscard]] type* pointer_to(type* base);
  [[nodiscard]] type* array_of(type* base, std::uint32_t count);

  // The structure of that name, made without fields if it is not there.
  [[nodiscard]] type* structure(std::string_view name);
  // Behind those it has.
  void add_field(type& structure, std::string_view name, const type* is);

 private:
  type* add(const type& made);

  region& permanent_;
  type nothing_{shape::nothing, 0, nullptr, {}, nullptr, nullptr, nullptr};
  type integer_{shape::integer, 8, nullptr, {}, nullptr, nullptr, nullptr};
  type character_{shape::character, 1, nullptr, {}, nullptr, nullptr, nullptr};
  type* all_ = nullptr;
};

// The field of that name, null if there is none.
[[nodiscard]] const field* field_of(const type& structure, std::string_view name) noexcept;

}  // namespace mallard::programs
