// Many subsystems of the same containers, whose memory is shuffled: benchmark II of P0089, with plain new.
//
//     build    elements go to subsystems in random order        memory: [3][1][2][1][3][3][2]...
//     churn    each is replaced once, in random order                   [1][3][3][2][1][2][3]...
//     access   one subsystem after the other is walked through, PASSES times
//
// Giving each subsystem memory of its own makes the last phase faster. `--kinds` makes the subsystems
// of six classes, so that code tells them apart; without it, only their addresses do. It prints what each
// phase takes, in seconds of CPU time, and a sum that is the same under every malloc.
//
//     shuffled_subsystems COUNT ELEMENTS [PASSES] [--kinds]        ELEMENTS: of all subsystems together
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

class subsystem {
 public:
  virtual ~subsystem() = default;
  virtual void add(unsigned key) = 0;
  virtual void replace_one(unsigned key) = 0;
  [[nodiscard]] virtual unsigned long walk() const = 0;
};

std::string text_of(unsigned key) {
  std::string text = "the text of element ";
  text += std::to_string(key * 2654435761u % 1000000007u);
  return text;
}

// Of three containers, one for each third of the keys, whose nodes have other sizes in each kind.
template <std::size_t Kind>
class subsystem_of final : public subsystem {
 public:
  void add(unsigned key) override {
    switch (key % 3) {
      case 0:
        orders_.try_emplace(key * 2654435761u, order{text_of(key), {}});
        break;
      case 1:
        log_.push_back({text_of(key), {}});
        break;
      default:
        names_.try_emplace(text_of(key), order{text_of(key + 1), {}});
    }
    keys_.push_back(key);
  }

  // The one that `key` picks gives way to another.
  void replace_one(unsigned key) override {
    if (keys_.empty()) return add(key);
    unsigned& gone = keys_[key % keys_.size()];
    switch (gone % 3) {
      case 0:
        orders_.erase(gone * 2654435761u);
        break;
      case 1:
        log_.pop_front();
        break;
      default:
        names_.erase(text_of(gone));
    }
    gone = keys_.back();
    keys_.pop_back();
    add(key);
  }

  [[nodiscard]] unsigned long walk() const override {
    unsigned long sum = 0;
    for (const auto& [key, value] : orders_) sum += key + static_cast<unsigned char>(value.text.back());
    for (const order& value : log_) sum += static_cast<unsigned char>(value.text.back());
    for (const auto& [name, value] : names_)
      sum += static_cast<unsigned char>(name.back()) + static_cast<unsigned char>(value.text.back());
    return sum;
  }

 private:
  struct order {
    std::string text;
    std::array<unsigned, 4 + 6 * Kind> more;
  };
  std::map<unsigned, order> orders_;
  std::list<order> log_;
  std::unordered_map<std::string, order> names_;
  std::vector<unsigned> keys_;
};

std::unique_ptr<subsystem> make(std::size_t number, bool has_kinds) {
  switch (has_kinds ? number % 6 : 0) {
    case 1:
      return std::make_unique<subsystem_of<1>>();
    case 2:
      return std::make_unique<subsystem_of<2>>();
    case 3:
      return std::make_unique<subsystem_of<3>>();
    case 4:
      return std::make_unique<subsystem_of<4>>();
    case 5:
      return std::make_unique<subsystem_of<5>>();
    default:
      return std::make_unique<subsystem_of<0>>();
  }
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

int main(int count, char** arguments) {
  const bool has_kinds = count > 1 && std::strcmp(arguments[count - 1], "--kinds") == 0;
  if (has_kinds) --count;
  const std::size_t systems = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 0;
  const std::size_t elements = count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 0;
  const std::size_t passes = count > 3 ? std::strtoul(arguments[3], nullptr, 10) : 20;
  if (systems == 0 || elements == 0) {
    std::fprintf(stderr, "usage: shuffled_subsystems COUNT ELEMENTS [PASSES] [--kinds]\n");
    return 2;
  }
  std::vector<std::unique_ptr<subsystem>> all;
  for (std::size_t i = 0; i != systems; ++i) all.push_back(make(i, has_kinds));
  std::mt19937 random(1);

  const double begin = cpu_seconds();
  for (unsigned key = 0; key != elements; ++key) all[random() % systems]->add(key);
  const double built = cpu_seconds();
  for (std::size_t i = 0; i != elements; ++i)
    all[random() % systems]->replace_one(static_cast<unsigned>(elements + i));
  const double churned = cpu_seconds();
  unsigned long sum = 0;
  for (std::size_t pass = 0; pass != passes; ++pass)
    for (const auto& one : all) sum += one->walk();
  const double accessed = cpu_seconds();
  std::printf("sum %lu\n", sum);
  std::fprintf(stderr, "build %.3f churn %.3f access %.3f\n", built - begin, churned - built,
               accessed - churned);
  return 0;
}
