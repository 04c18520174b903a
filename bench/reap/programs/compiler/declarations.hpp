// declarations: what names mean: types, symbols of them, and the scopes that names are looked for in.
//
//     int (8 bytes)   char (1)   void   T*   T[n]   struct name
//
// Two types are the same if their addresses are; they live until the compiler ends, in the region of all
// that outlives functions. A symbol is a variable or a function, and what the passes learn of it.
//
//     globals <-- parameters <-- block <-- inner block          the end of a block ends its region
//     [buckets] -> entry -> entry                               a name is looked for from inside out
//
// A scope's table of names is in a region inside that of the scope around it, and doubles as names come;
// symbols outlive their scope. Seed 002, section 4.2 (nested regions).
#pragma once

#include <cstdint>
#include <string_view>

#include "programs/memory/region_kinds.hpp"

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

enum class storage : std::uint8_t { global, function, parameter, local };

struct symbol {
  std::string_view name;
  const type* is = nullptr;  // of functions: of their result
  storage where = storage::local;
  bool addressed = false;        // somebody takes its address: it cannot be a register
  std::uint32_t parameters = 0;  // of functions: how many
  std::uint32_t offset = 0;      // in the frame, of what is in memory
  std::uint32_t number = 0;      // the virtual register of what is not, once there is one
  symbol* next = nullptr;        // the one made before

  [[nodiscard]] bool is_register() const noexcept {
    return (where == storage::local || where == storage::parameter) && !addressed && is->is_scalar();
  }
};

class scope {
 public:
  // `outer` is null for the globals, whose region is inside `around`.
  scope(region& around, const scope* outer) : here_(around), outer_(outer) {}
  explicit scope(scope& outer) : here_(outer.here_), outer_(&outer) {}
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  ~scope();

  // False if the block has that name already.
  bool add(symbol* added);
  // The innermost symbol of that name, or null.
  [[nodiscard]] symbol* find(std::string_view name) const noexcept;

 private:
  struct entry {
    symbol* known = nullptr;
    std::uint32_t hash = 0;
    entry* next = nullptr;
  };

  [[nodiscard]] entry* find_here(std::string_view name, std::uint32_t hash) const noexcept;
  void grow();

  region here_;
  const scope* outer_;
  entry** buckets_ = nullptr;
  std::uint32_t room_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace mallard::programs
