#include "journal/events/metadata.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "journal/bytes/wire.hpp"

namespace mallard::journal {
namespace {

using json = nlohmann::json;

template <class T>
void put(json& to, const char* name, const T& value) {
  if (value != T{}) to[name] = value;
}

template <class T>
void take(const json& from, const char* name, T& value) {
  const auto found = from.find(name);
  if (found == from.end()) return;
  if (std::is_integral_v<T> && !found->is_number_integer()) throw malformed("a number in it is not whole");
  value = found->get<T>();
}

template <class T>
void take_all(const json& from, const char* name, std::map<std::string, T>& to) {
  const auto found = from.find(name);
  if (found == from.end()) return;
  for (const auto& [key, value] : found->items()) take(*found, key.c_str(), to[key]);
}

}  // namespace

std::string metadata_to_json(const metadata& about) {
  json to = json::object();
  put(to, "program", about.program);
  put(to, "arguments", about.arguments);
  put(to, "directory", about.directory);
  put(to, "process", about.process);
  put(to, "parent_process", about.parent_process);
  put(to, "start_unix_ns", about.start_unix_ns);
  put(to, "ticks_per_second", about.ticks_per_second);
  put(to, "facts", about.facts);
  put(to, "figures", about.figures);
  return to.dump(-1, ' ', false, json::error_handler_t::replace);
}

void merge_metadata(metadata& about, std::string_view text) {
  try {
    metadata merged = about;
    const json from = json::parse(text);
    if (!from.is_object()) throw malformed("it is not a JSON object");
    take(from, "program", merged.program);
    take(from, "arguments", merged.arguments);
    take(from, "directory", merged.directory);
    take(from, "process", merged.process);
    take(from, "parent_process", merged.parent_process);
    take(from, "start_unix_ns", merged.start_unix_ns);
    take(from, "ticks_per_second", merged.ticks_per_second);
    take_all(from, "facts", merged.facts);
    take_all(from, "figures", merged.figures);
    if (!std::isfinite(merged.ticks_per_second) || merged.ticks_per_second <= 0) {
      throw malformed("its clock does not tick");
    }
    about = std::move(merged);
  } catch (const json::exception&) {
    throw malformed("its JSON is broken");
  }
}

}  // namespace mallard::journal
