// factor: prime factors of large numbers, in arithmetic of any precision that allocates each result.
//
//     n --> small primes --> is it prime (Miller-Rabin)? --> no: a divisor by Pollard's rho, in Brent's form
//
// Every sum, product and remainder is a number of its own: blocks of 8 to 64 bytes that live for an operation
// or two, as in a computer algebra system that keeps values immutable. One thread.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

// A natural number; digits of 32 bits, the lowest first, the highest not 0.
class natural {
 public:
  natural() = default;
  explicit natural(std::uint64_t value) {
    for (; value != 0; value >>= 32) digits_.push_back(static_cast<std::uint32_t>(value));
  }
  static natural parse(std::string_view decimal) {
    natural n;
    for (const char c : decimal) n = n.times(10) + natural(static_cast<std::uint64_t>(c - '0'));
    return n;
  }

  [[nodiscard]] bool is_zero() const { return digits_.empty(); }
  [[nodiscard]] bool is_odd() const { return !is_zero() && digits_[0] % 2 != 0; }
  [[nodiscard]] std::size_t bits() const {
    return is_zero() ? 0 : 32 * digits_.size() - static_cast<std::size_t>(__builtin_clz(digits_.back()));
  }
  [[nodiscard]] bool bit(std::size_t i) const { return (digits_[i / 32] >> i % 32 & 1) != 0; }

  [[nodiscard]] std::string decimal() const {
    std::string text;
    for (natural rest = *this; !rest.is_zero();) {
      auto [quotient, last] = rest.divided_by(10);
      text.push_back(static_cast<char>('0' + last));
      rest = std::move(quotient);
    }
    std::ranges::reverse(text);
    return text.empty() ? "0" : text;
  }

  friend bool operator==(const natural&, const natural&) = default;
  friend bool operator<(const natural& a, const natural& b) {
    if (a.digits_.size() != b.digits_.size()) return a.digits_.size() < b.digits_.size();
    return std::lexicographical_compare(a.digits_.rbegin(), a.digits_.rend(), b.digits_.rbegin(),
                                        b.digits_.rend());
  }

  friend natural operator+(const natural& a, const natural& b) {
    natural sum;
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < std::max(a.digits_.size(), b.digits_.size()) || carry != 0; ++i) {
      carry += std::uint64_t{a.digit(i)} + b.digit(i);
      sum.digits_.push_back(static_cast<std::uint32_t>(carry));
      carry >>= 32;
    }
    return sum;
  }

  // Precondition: b <= a.
  friend natural operator-(const natural& a, const natural& b) {
    natural difference;
    difference.digits_.reserve(a.digits_.size());
    std::int64_t borrow = 0;
    for (std::size_t i = 0; i < a.digits_.size(); ++i) {
      borrow += std::int64_t{a.digit(i)} - std::int64_t{b.digit(i)};
      difference.digits_.push_back(static_cast<std::uint32_t>(borrow));
      borrow >>= 32;
    }
    difference.trim();
    return difference;
  }

  friend natural operator*(const natural& a, const natural& b) {
    natural product;
    product.digits_.resize(a.digits_.size() + b.digits_.size());
    for (std::size_t i = 0; i < a.digits_.size(); ++i) {
      std::uint64_t carry = 0;
      for (std::size_t j = 0; j < b.digits_.size() || carry != 0; ++j) {
        carry += product.digits_[i + j] + std::uint64_t{a.digits_[i]} * b.digit(j);
        product.digits_[i + j] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
      }
    }
    product.trim();
    return product;
  }

  friend natural operator/(const natural& a, const natural& b) { return divide(a, b).first; }
  friend natural operator%(const natural& a, const natural& b) { return divide(a, b).second; }

  [[nodiscard]] natural times(std::uint32_t factor) const { return *this * natural(factor); }

  // The quotient and the remainder.
  [[nodiscard]] std::pair<natural, std::uint32_t> divided_by(std::uint32_t divisor) const {
    natural quotient = *this;
    std::uint64_t rest = 0;
    for (std::size_t i = digits_.size(); i-- != 0;) {
      rest = rest << 32 | digits_[i];
      quotient.digits_[i] = static_cast<std::uint32_t>(rest / divisor);
      rest %= divisor;
    }
    quotient.trim();
    return {std::move(quotient), static_cast<std::uint32_t>(rest)};
  }

 private:
  [[nodiscard]] std::uint32_t digit(std::size_t i) const { return i < digits_.size() ? digits_[i] : 0; }

  void trim() {
    while (!digits_.empty() && digits_.back() == 0) digits_.pop_back();
  }

  [[nodiscard]] natural shifted(unsigned bits) const {
    natural moved;
    moved.digits_.reserve(digits_.size() + 1);
    std::uint64_t carry = 0;
    for (const std::uint32_t d : digits_) {
      carry |= std::uint64_t{d} << bits;
      moved.digits_.push_back(static_cast<std::uint32_t>(carry));
      carry >>= 32;
    }
    moved.digits_.push_back(static_cast<std::uint32_t>(carry));
    return moved;
  }

  // Long division by estimated digits.
  static std::pair<natural, natural> divide(const natural& a, const natural& b) {
    if (a < b) return {natural(), a};
    if (b.digits_.size() == 1) {
      auto [quotient, rest] = a.divided_by(b.digits_[0]);
      return {std::move(quotient), natural(rest)};
    }
    const auto shift = static_cast<unsigned>(__builtin_clz(b.digits_.back()));
    natural rest = a.shifted(shift);
    natural divisor = b.shifted(shift);
    divisor.trim();
    const std::size_t n = divisor.digits_.size();
    natural quotient;
    quotient.digits_.resize(rest.digits_.size() - n);
    for (std::size_t at = quotient.digits_.size(); at-- != 0;) {
      const std::uint64_t top = std::uint64_t{rest.digits_[at + n]} << 32 | rest.digits_[at + n - 1];
      std::uint64_t estimate = std::min<std::uint64_t>(top / divisor.digits_[n - 1], UINT32_MAX);
      while (!subtract(rest, divisor, at, estimate)) --estimate;
      quotient.digits_[at] = static_cast<std::uint32_t>(estimate);
    }
    quotient.trim();
    rest.trim();
    for (std::size_t i = 0; i < rest.digits_.size(); ++i)
      rest.digits_[i] =
          static_cast<std::uint32_t>((std::uint64_t{rest.digit(i + 1)} << 32 | rest.digits_[i]) >> shift);
    rest.trim();
    return {std::move(quotient), std::move(rest)};
  }

  // Takes `times` divisors from the rest, `at` digits further up; false, and nothing, if that is too much.
  static bool subtract(natural& rest, const natural& divisor, std::size_t at, std::uint64_t times) {
    std::vector<std::uint32_t> left;
    left.reserve(divisor.digits_.size() + 1);
    std::uint64_t carry = 0;
    std::int64_t borrow = 0;
    for (std::size_t i = 0; i <= divisor.digits_.size(); ++i) {
      carry += times * divisor.digit(i);
      borrow += std::int64_t{rest.digits_[at + i]} - static_cast<std::int64_t>(carry & UINT32_MAX);
      left.push_back(static_cast<std::uint32_t>(borrow));
      carry >>= 32;
      borrow >>= 32;
    }
    if (borrow != 0) return false;
    std::ranges::copy(left, rest.digits_.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
  }

  std::vector<std::uint32_t> digits_;
};

natural greatest_common_divisor(natural a, natural b) {
  while (!b.is_zero()) a = std::exchange(b, a % b);
  return a;
}

natural power(const natural& base, const natural& exponent, const natural& modulus) {
  natural result(1);
  for (std::size_t i = exponent.bits(); i-- != 0;) {
    result = result * result % modulus;
    if (exponent.bit(i)) result = result * base % modulus;
  }
  return result;
}

bool is_prime(const natural& n) {
  const natural one(1);
  const natural last = n - one;
  natural odd = last;
  std::size_t twos = 0;
  for (; !odd.is_odd(); ++twos) odd = odd.divided_by(2).first;
  for (const std::uint32_t base : {2u, 3u, 5u, 7u, 11u, 13u, 17u, 19u, 23u, 29u, 31u, 37u}) {
    natural x = power(natural(base), odd, n);
    if (x == one || x == last) continue;
    bool may_be = false;
    for (std::size_t i = 1; i < twos && !may_be; ++i) may_be = (x = x * x % n) == last;
    if (!may_be) return false;
  }
  return true;
}

// A divisor of a composite number between 1 and itself; null if this constant finds none.
natural rho(const natural& n, std::uint32_t constant) {
  const natural c(constant);
  const auto next = [&](const natural& x) { return (x * x + c) % n; };
  natural slow(2), fast(2), product(1);
  for (std::size_t power_of_two = 1;; power_of_two *= 2) {
    slow = fast;
    for (std::size_t i = 0; i < power_of_two; ++i) {
      fast = next(fast);
      const natural apart = slow < fast ? fast - slow : slow - fast;
      if (apart.is_zero()) return natural();
      const natural joined = product * apart % n;
      if (i % 64 != 63 && i + 1 != power_of_two && !joined.is_zero()) {
        product = joined;
        continue;
      }
      const natural divisor = greatest_common_divisor(joined.is_zero() ? apart : joined, n);
      if (!(divisor == natural(1))) return divisor == n ? natural() : divisor;
      product = natural(1);
    }
  }
}

void factorise(const natural& n, std::vector<natural>& into) {
  if (n == natural(1)) return;
  if (is_prime(n)) {
    into.push_back(n);
    return;
  }
  natural divisor;
  for (std::uint32_t constant = 1; divisor.is_zero(); ++constant) divisor = rho(n, constant);
  factorise(divisor, into);
  factorise(n / divisor, into);
}

std::vector<natural> factors_of(natural n) {
  std::vector<natural> found;
  for (std::uint32_t small = 2; small < 1000; ++small) {
    for (auto part = n.divided_by(small); part.second == 0; part = n.divided_by(small)) {
      found.emplace_back(small);
      n = std::move(part.first);
    }
  }
  factorise(n, found);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

// factor NUMBER...: each with its prime factors. Precondition: above 0.
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const natural n = natural::parse(argv[i]);
    std::printf("%s:", n.decimal().c_str());
    for (const natural& factor : factors_of(n)) std::printf(" %s", factor.decimal().c_str());
    std::printf("\n");
  }
  return argc > 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
