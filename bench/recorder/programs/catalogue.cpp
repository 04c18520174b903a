// What compilers are measured on: templates of the standard library, nested as in an ordinary source file.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <ranges>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

namespace {

template <int Shelf>
struct article {
  std::map<std::string, std::variant<int, std::string, std::vector<double>>> fields;
  std::set<std::pair<std::string, int>> tags;
  int shelf = Shelf;
};

template <int Shelf>
std::size_t index(const std::string& text) {
  std::unordered_map<std::string, article<Shelf>> known;
  const std::regex words("[a-z]+");
  for (auto i = std::sregex_iterator(text.begin(), text.end(), words); i != std::sregex_iterator(); ++i) {
    known[i->str()].fields[i->str()] = i->str();
    known[i->str()].tags.emplace(i->str(), Shelf);
  }
  std::vector<std::tuple<int, std::string, std::shared_ptr<article<Shelf>>>> rows;
  for (const auto& [name, value] : known)
    rows.emplace_back(Shelf, name, std::make_shared<article<Shelf>>(value));
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return std::get<1>(a) < std::get<1>(b); });
  auto lengths = rows | std::views::filter([](const auto& row) { return std::get<1>(row).size() > 3; }) |
                 std::views::transform([](const auto& row) { return std::get<1>(row).size(); });
  const std::function<std::size_t(std::size_t)> add = [&](std::size_t sum) {
    for (const std::size_t length : lengths) sum += length;
    return sum;
  };
  std::ostringstream out;
  out << add(0);
  return out.str().size();
}

}  // namespace

int main(int, char** arguments) { return static_cast<int>(index<0>(arguments[0])); }
