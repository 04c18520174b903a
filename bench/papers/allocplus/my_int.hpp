// my_int: the element of seed 001's tests: an int whose copy is a function of its own.
//
// As it is not trivially copyable, a vector that moves copies element by element, which costs about what a
// move constructor does. Seed 001, "Testing forward expansion in vector".
#pragma once

namespace mallard::bench {

class my_int {
 public:
  explicit my_int(int value = 0) noexcept : value_(value) {}
  // NOLINTBEGIN(modernize-use-equals-default, bugprone-unhandled-self-assignment,cert-oop54-cpp): see above
  my_int(const my_int& other) noexcept : value_(other.value_) {}
  my_int& operator=(const my_int& other) noexcept {
    value_ = other.value_;
    return *this;
  }
  // NOLINTEND(modernize-use-equals-default, bugprone-unhandled-self-assignment,cert-oop54-cpp)
  ~my_int() = default;

  [[nodiscard]] int value() const noexcept { return value_; }

 private:
  int value_;
};

// What has been built behind `data` counts as read: no compiler leaves it out.
inline void keep(const void* data) noexcept { asm volatile("" : : "r"(data) : "memory"); }

}  // namespace mallard::bench
