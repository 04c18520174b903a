// instances COUNT ELEMENTS: subsystems of the same three containers, whose elements were allocated in turns,
// are freed one subsystem after the other.
//
//     fill     elements to any subsystem          shuffle  elements leave one and join another
//     free     whole subsystems                   which leaves each spread over all memory
//
// The second benchmark of seed 000 in small. Strings are too long to be kept in place.
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

std::string text_of(unsigned number) { return "an element that has the number " + std::to_string(number); }

class subsystem {
 public:
  void add(unsigned number, const std::string& text) {
    names_[number] = text;
    queue_.push_back(number);
    index_.emplace(text, number);
  }

  // Its oldest element; false if there is none.
  bool remove() {
    if (queue_.empty()) return false;
    names_.erase(queue_.front());
    index_.erase(text_of(queue_.front()));
    queue_.pop_front();
    return true;
  }

 private:
  std::map<unsigned, std::string> names_;
  std::list<unsigned> queue_;
  std::unordered_map<std::string, unsigned> index_;
};

void live(unsigned count, unsigned elements) {
  std::mt19937 random(1);
  const auto any = [&] { return random() % count; };
  std::vector<std::unique_ptr<subsystem>> all;
  for (unsigned i = 0; i < count; ++i) all.push_back(std::make_unique<subsystem>());
  unsigned number = 0;
  const auto add = [&] {
    all[any()]->add(number, text_of(number));
    ++number;
  };
  while (number < count * elements) add();
  for (unsigned i = 0; i < count * elements / 4; ++i)
    if (all[any()]->remove()) add();
  for (std::unique_ptr<subsystem>& each : all) each.reset();
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 3) return 2;
  live(static_cast<unsigned>(std::atoi(arguments[1])), static_cast<unsigned>(std::atoi(arguments[2])));
}
