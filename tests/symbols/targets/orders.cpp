// Prints where calls of known functions and lines are: LABEL LINE ADDRESS, the address as the file has it,
// of the last byte of the call. A label lists the functions, the innermost inlined one first.
#include <link.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#define MARK(label) mark(label, __LINE__)
#define INLINED [[gnu::always_inline]] inline
#define OWN [[gnu::noinline]]

namespace {

std::uintptr_t bias() {
  std::uintptr_t found = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* first, std::size_t, void* to) {
        *static_cast<std::uintptr_t*>(to) = first->dlpi_addr;
        return 1;
      },
      &found);
  return found;
}

void print(const char* label, int line, void* return_address) {
  const auto address = reinterpret_cast<std::uintptr_t>(return_address) - 1 - bias();
  std::printf("%s %d %lx\n", label, line, static_cast<unsigned long>(address));
}

OWN void mark(const char* label, int line) { print(label, line, __builtin_return_address(0)); }

[[noreturn]] OWN void mark_and_end(const char* label, int line) {
  print(label, line, __builtin_return_address(0));
  std::exit(0);
}

}  // namespace

extern "C" OWN void plain_c() {
  MARK("plain_c");
  std::fflush(stdout);
}

#ifdef MALLARD_ALIASES
// Other names of the same code; readers want the one that callers use.
extern "C" {
void __plain() __attribute__((alias("plain_c")));
[[gnu::used]] static void own() __attribute__((alias("plain_c")));
}
#endif

namespace shop {

INLINED void read_line(const char* label) { MARK(label); }

INLINED void read_order(const char* label) {
  read_line(label);
  std::fflush(stdout);
}

OWN void parse_orders() {
  MARK("shop::parse_orders");
  read_order("shop::read_line|shop::read_order|shop::parse_orders");
  read_line("shop::read_line|shop::parse_orders");
  std::fflush(stdout);
}

namespace {

INLINED void inlined_secret() { MARK("shop::(anonymous)::inlined_secret|shop::(anonymous)::secret"); }

OWN void secret() {
  inlined_secret();
  MARK("shop::(anonymous)::secret");
  std::fflush(stdout);
}

}  // namespace

template <class Item>
struct shelf {
  OWN void add(const Item& item) {
    MARK("shop::shelf<int>::add");
    items.push_back(item);
  }
  std::vector<Item> items;
};

OWN void count() {
  const auto local = [](const char* label) __attribute__((always_inline)) { MARK(label); };
  local("shop::count::{lambda}::operator()|shop::count");
  std::fflush(stdout);
}

OWN void tally() {
  std::map<std::string, std::vector<std::string>> words;
  for (int i = 0; i < 100; ++i) words[std::to_string(i % 7)].push_back(std::to_string(i));
  std::printf("words %zu 0\n", words.size());
}

// The call is the last instruction: what it returns to is the next function.
OWN void last_words() { mark_and_end("shop::last_words", __LINE__); }
OWN void behind_the_last() { MARK("never"); }

}  // namespace shop

int main(int argc, char**) {
  plain_c();
  shop::parse_orders();
  shop::secret();
  shop::shelf<int>().add(argc);
  shop::count();
  shop::tally();
  if (argc > 0) shop::last_words();
  shop::behind_the_last();
}
