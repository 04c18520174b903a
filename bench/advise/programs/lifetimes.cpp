// Programs for which it matters when blocks end.
//
//     parser   all nodes of a tree end when the function that made it returns     [aaaaaaaa|........]
//     churn    four classes, each of one size; blocks end at random               [a][b][b][c][a]...
//     mixed    16 bytes to 32 KiB; blocks end at random                           [a][bbbbbbbbb][cc]...
//     fifo     bursts of messages of all sizes, which end in their order          [..........mmmmmmm]
//     kept     entries that stay until the program ends                           [eeeeeeeeeeeeeeeee]
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "truth.h"

namespace {

// --- parser ---

using names = std::unordered_map<std::string, std::uint64_t>;

struct node {
  virtual ~node() = default;
  [[nodiscard]] virtual std::uint64_t value(const names& of) const = 0;
};
using tree = std::unique_ptr<node>;

struct number final : node {
  explicit number(std::uint64_t n) : digits(n) {}
  [[nodiscard]] std::uint64_t value(const names& /*of*/) const override { return digits; }
  std::uint64_t digits;
};

struct name final : node {
  explicit name(std::string text) : spelled(std::move(text)) {}
  [[nodiscard]] std::uint64_t value(const names& of) const override { return of.find(spelled)->second; }
  std::string spelled;
};

struct sum final : node {
  sum(tree one, tree other) : left(std::move(one)), right(std::move(other)) {}
  [[nodiscard]] std::uint64_t value(const names& of) const override {
    return left->value(of) + 3 * right->value(of);
  }
  tree left, right;
  std::array<std::uint64_t, 3> place{};
};

struct call final : node {
  [[nodiscard]] std::uint64_t value(const names& of) const override {
    std::uint64_t all = 1;
    for (const tree& one : arguments) all = all * 31 + one->value(of);
    return all;
  }
  std::vector<tree> arguments;
  std::array<std::uint64_t, 6> place{};
};

// formula: term {+ term}     term: digits, name, or (formula, formula ...)
tree formula(const char*& at);

tree term(const char*& at) {
  if (*at == '(') {
    auto made = std::make_unique<call>();
    do made->arguments.push_back(formula(++at));
    while (*at == ',');
    ++at;
    return made;
  }
  const char* const begin = at;
  while (std::isalnum(static_cast<unsigned char>(*at)) != 0) ++at;
  if (std::isdigit(static_cast<unsigned char>(*begin)) != 0)
    return std::make_unique<number>(std::strtoull(begin, nullptr, 10));
  return std::make_unique<name>(std::string(begin, at));
}

tree formula(const char*& at) {
  tree made = term(at);
  while (*at == '+') made = std::make_unique<sum>(std::move(made), term(++at));
  return made;
}

// The tree is worked with here, and ends here.
NAMED std::uint64_t parse(const std::string& text, const names& of) {
  const char* at = text.c_str();
  const tree made = formula(at);
  std::uint64_t all = 0;
  for (int pass = 0; pass != 6; ++pass) all += made->value(of);
  return all;
}

void write_formula(input* in, std::string& text, std::uint64_t depth) {
  for (std::uint64_t terms = draw_between(in, 1, either(in, 5, 3)); terms != 0; --terms) {
    const std::uint64_t kind = draw(in) % 8;
    if (depth != 0 && kind < 5) {
      text += '(';
      for (std::uint64_t i = draw_between(in, 1, either(in, 3, 5)); i != 0; --i) {
        write_formula(in, text, depth - 1);
        text += i == 1 ? ')' : ',';
      }
    } else if (kind % 2 == 0) {
      text += std::to_string(draw(in) % 100'000);
    } else {
      text += "name of an operand " + std::to_string(draw(in) % 50);
      std::erase(text, ' ');
    }
    if (terms != 1) text += '+';
  }
}

std::uint64_t parser(input* in) {
  names of;
  for (std::uint64_t i = 0; i != 50; ++i) of.emplace("nameofanoperand" + std::to_string(i), draw(in));
  std::vector<std::string> texts(either(in, 12, 20));
  for (std::string& text : texts)
    while (text.size() < 20'000) {
      if (!text.empty()) text += '+';
      write_formula(in, text, either(in, 5, 4));
    }
  std::vector<std::unique_ptr<std::string>> results;  // stay, between the trees
  std::uint64_t all = 0;
  for (std::uint64_t i = 0; i != either(in, 90, 120); ++i) {
    all = all * 7 + parse(texts[draw(in) % texts.size()], of);
    results.push_back(std::make_unique<std::string>("the result is " + std::to_string(all)));
  }
  return all + results.size();
}

// --- churn ---

template <std::size_t Words>
struct thing {
  std::array<std::uint64_t, Words> words;
};

template <std::size_t Words>
NAMED std::unique_ptr<thing<Words>> make_thing(std::uint64_t value) {
  auto made = std::make_unique<thing<Words>>();
  made->words[0] = value;
  return made;
}

// Objects of one class, of which one at random is replaced in each turn.
template <std::size_t Words>
class things {
 public:
  things(input* in, std::size_t count) : all_(count) {
    for (auto& one : all_) one = make_thing<Words>(draw(in));
  }
  std::uint64_t turn(std::uint64_t random) {
    auto& one = all_[random % all_.size()];
    const std::uint64_t gone = one->words[0];
    one = nullptr;
    one = make_thing<Words>(random);
    return gone;
  }

 private:
  std::vector<std::unique_ptr<thing<Words>>> all_;
};

std::uint64_t churn(input* in) {
  const std::uint64_t count = either(in, 60'000, 100'000);
  things<4> events(in, count);
  things<7> orders(in, count / 2);
  things<11> items(in, count / 3);
  things<19> customers(in, count / 4);
  std::uint64_t all = 0;
  for (std::uint64_t i = either(in, 1'400'000, 1'600'000); i != 0; --i) {
    const std::uint64_t random = draw(in);
    switch (random >> 56 & 7) {
      case 0:
        all += customers.turn(random);
        break;
      case 1:
      case 2:
        all ^= items.turn(random);
        break;
      case 3:
      case 4:
        all += orders.turn(random);
        break;
      default:
        all ^= events.turn(random);
    }
  }
  return all;
}

// --- mixed ---

// As many blocks of 16 to 32 bytes as of 16 to 32 KiB.
NAMED char* make_block(input* in, std::size_t* size) {
  const std::uint64_t order = draw_between(in, 4, either(in, 14, 13));
  *size = (std::size_t{1} << order) + (draw(in) >> 20) % (std::size_t{1} << order);
  char* const made = static_cast<char*>(std::malloc(*size));
  made[0] = made[*size / 2] = made[*size - 1] = static_cast<char>(order);
  return made;
}

std::uint64_t mixed(input* in) {
  struct block {
    char* begin = nullptr;
    std::size_t size = 0;
  };
  std::vector<block> blocks(either(in, 4'000, 7'000));
  std::uint64_t all = 0;
  for (std::uint64_t i = either(in, 1'500'000, 1'800'000); i != 0; --i) {
    block& one = blocks[draw(in) % blocks.size()];
    if (one.begin != nullptr) all = all * 3 + static_cast<std::uint64_t>(one.begin[one.size - 1]);
    std::free(one.begin);
    one.begin = make_block(in, &one.size);
  }
  for (const block& one : blocks) std::free(one.begin);
  return all;
}

// --- fifo ---

struct message {
  std::size_t size;
  char* text;
};

NAMED message write_message(input* in) {
  const std::size_t size = draw_between(in, 24, either(in, 300, 180));
  message made{size, new char[size]};
  made.text[0] = made.text[size - 1] = static_cast<char>(draw(in));
  return made;
}

// The queue runs empty between bursts.
std::uint64_t fifo(input* in) {
  std::deque<message> queue;
  std::uint64_t all = 0;
  for (std::uint64_t burst = either(in, 300, 400); burst != 0; --burst) {
    for (std::uint64_t i = draw_between(in, 3'000, either(in, 9'000, 7'000)); i != 0; --i)
      queue.push_back(write_message(in));
    for (; !queue.empty(); queue.pop_front()) {
      const message& one = queue.front();
      all = steps(all + static_cast<unsigned char>(one.text[0]) + one.size, 20);
      delete[] one.text;
    }
  }
  return all;
}

// --- kept ---

struct entry {
  entry* next;
  std::uint64_t hash;
  std::uint64_t seen;
};

// Behind the entry stands its text.
NAMED entry* make_entry(std::uint64_t hash, std::size_t length) {
  entry* const made = static_cast<entry*>(std::malloc(sizeof(entry) + length));
  *made = {nullptr, hash, 0};
  std::memset(made + 1, static_cast<int>(hash), length);
  return made;
}

std::uint64_t kept(input* in) {
  std::vector<entry*> table(either(in, 1 << 17, 1 << 18));
  const std::uint64_t texts = either(in, 500'000, 600'000);
  std::uint64_t all = 0;
  for (std::uint64_t i = 0; i != 2 * texts; ++i) {
    const std::uint64_t hash = (draw(in) >> 20) % texts * 11400714819323198485u;
    entry** at = &table[hash >> 40 & (table.size() - 1)];
    while (*at != nullptr && (*at)->hash != hash) at = &(*at)->next;
    if (*at == nullptr) *at = make_entry(hash, 4 + hash % either(in, 60, 90));
    all += ++(*at)->seen;
  }
  for (entry* one : table)
    while (one != nullptr) {
      entry* const next = one->next;
      std::free(one);
      one = next;
    }
  return all;
}

constexpr truth cases[] = {
    {"parser", parser}, {"churn", churn}, {"mixed", mixed}, {"fifo", fifo}, {"kept", kept}};

}  // namespace

int main(int count, char** arguments) { return run_truth(count, arguments, cases, std::size(cases)); }
