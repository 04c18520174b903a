// The program that ./dev demo looks at: JSON orders in, totals of each customer out.
//
//     json_orders COUNT        generates COUNT orders, parses them, and prints the ten largest customers
//
// Ordinary code over a widely used library, written for nobody's allocator: it knows nothing of mallard.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

struct line {
  std::string article;
  double price = 0;
  int pieces = 0;
};

struct order {
  std::uint64_t number = 0;
  std::string customer;
  std::vector<line> lines;
};

std::string generate_feed(int count) {
  std::mt19937 random(20);
  nlohmann::json feed = nlohmann::json::array();
  for (int number = 0; number < count; ++number) {
    nlohmann::json lines = nlohmann::json::array();
    for (unsigned i = 0; i < 1 + random() % 5; ++i) {
      lines.push_back({{"article", "article-" + std::to_string(random() % 5000)},
                       {"price", (random() % 100'000) / 100.0},
                       {"pieces", 1 + random() % 9}});
    }
    feed.push_back({{"number", number},
                    {"customer", "customer number " + std::to_string(random() % 2000)},
                    {"lines", std::move(lines)}});
  }
  return feed.dump();
}

order read_order(const nlohmann::json& from) {
  order read{.number = from["number"], .customer = from["customer"], .lines = {}};
  for (const nlohmann::json& each : from["lines"]) {
    read.lines.push_back({.article = each["article"], .price = each["price"], .pieces = each["pieces"]});
  }
  return read;
}

std::vector<order> parse_feed(const std::string& text) {
  std::vector<order> orders;
  for (const nlohmann::json& each : nlohmann::json::parse(text)) orders.push_back(read_order(each));
  return orders;
}

std::map<std::string, std::vector<order>> index_by_customer(std::vector<order> orders) {
  std::map<std::string, std::vector<order>> customers;
  for (order& each : orders) customers[each.customer].push_back(std::move(each));
  return customers;
}

double total_of(const std::vector<order>& orders) {
  double total = 0;
  for (const order& each : orders) {
    for (const line& l : each.lines) total += l.price * l.pieces;
  }
  return total;
}

void print_largest(const std::map<std::string, std::vector<order>>& customers) {
  std::vector<std::pair<double, std::string>> totals;
  for (const auto& [name, orders] : customers) totals.emplace_back(total_of(orders), name);
  std::sort(totals.rbegin(), totals.rend());
  totals.resize(std::min<std::size_t>(totals.size(), 10));
  for (const auto& [total, name] : totals) std::cout << name << ": " << total << '\n';
}

}  // namespace

int main(int count, char** arguments) {
  const int orders = count == 2 ? std::atoi(arguments[1]) : 0;
  if (orders <= 0) {
    std::cerr << "usage: json_orders COUNT\n";
    return 2;
  }
  print_largest(index_by_customer(parse_feed(generate_feed(orders))));
}
