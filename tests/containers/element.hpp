// element: a number that counts its objects and fails on demand; `wide` asks for more alignment than most.
//
//     element::fail_at(3)     the third construction or copy from now throws; moves never do
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <utility>

namespace mallard::containers {

struct element_failed {};

class element {
 public:
  element(int number) : number_(number) { created(); }  // NOLINT(google-explicit-constructor): as an int does
  element(const element& other) : number_(other.number_) { created(); }
  element(element&& other) noexcept : number_(other.number_) { ++alive_; }
  element& operator=(const element& other) {
    count_down();
    number_ = other.number_;
    return *this;
  }
  element& operator=(element&& other) noexcept = default;
  ~element() { --alive_; }

  [[nodiscard]] int number() const noexcept { return number_; }
  friend auto operator<=>(const element&, const element&) = default;

  [[nodiscard]] static int alive() noexcept { return alive_; }
  // The n-th construction, copy or copy assignment from now, counted from 1, throws; 0: none does.
  static void fail_at(int n) noexcept { until_failure_ = n; }

 private:
  static void count_down() {
    if (until_failure_ != 0 && --until_failure_ == 0) throw element_failed();
  }
  static void created() {
    count_down();
    ++alive_;
  }

  static inline int alive_ = 0;
  static inline int until_failure_ = 0;
  int number_;
};

// The same, and a move is a copy: containers can only promise what they do with copies.
class copied : public element {
 public:
  using element::element;
  copied(const copied&) = default;
  copied& operator=(const copied&) = default;
  ~copied() = default;
};

class alignas(256) wide : public element {
 public:
  using element::element;
};

template <class T>
int number_of(const T& e) {
  return e.number();
}
template <class K, class T>
int number_of(const std::pair<K, T>& e) {
  return e.first.number();
}

struct hash_of_element {
  std::size_t operator()(const element& e) const noexcept { return static_cast<std::size_t>(e.number()); }
};

}  // namespace mallard::containers
