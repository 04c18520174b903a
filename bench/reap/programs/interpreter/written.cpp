#include "programs/interpreter/written.hpp"

#include <charconv>
#include <string_view>

#include "programs/interpreter/dictionary.hpp"
#include "programs/interpreter/list.hpp"

namespace mallard::programs {

namespace {

// Counts characters, and writes them where there is a place.
class sink {
 public:
  explicit sink(char* to) : to_(to) {}
  [[nodiscard]] std::size_t length() const noexcept { return length_; }

  void put(std::string_view piece) noexcept {
    if (to_ != nullptr) piece.copy(to_ + length_, piece.size());
    length_ += piece.size();
  }

  void put(std::int64_t number) noexcept {
    char digits[24];
    const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, number);
    put({digits, static_cast<std::size_t>(end.ptr - digits)});
  }

 private:
  char* to_;
  std::size_t length_ = 0;
};

void put_inner(sink& out, const value& v);

void put_list(sink& out, const list& l) {
  out.put("[");
  for (std::uint32_t i = 0; i < l.count; ++i) {
    if (i != 0) out.put(", ");
    put_inner(out, l.items[i]);
  }
  out.put("]");
}

void put_dictionary(sink& out, const dictionary& d) {
  out.put("{");
  bool first = true;
  for (std::uint32_t i = 0; i < d.room; ++i) {
    if (d.entries[i].key.is == type::nil) continue;
    if (!first) out.put(", ");
    first = false;
    put_inner(out, d.entries[i].key);
    out.put(": ");
    put_inner(out, d.entries[i].held);
  }
  out.put("}");
}

void put_value(sink& out, const value& v) {
  switch (v.is) {
    case type::nil:
      return out.put("nil");
    case type::boolean:
      return out.put(v.integer != 0 ? "true" : "false");
    case type::integer:
      return out.put(v.integer);
    case type::string:
      return out.put(v.text->view());
    case type::list:
      return put_list(out, *v.list);
    case type::dictionary:
      return put_dictionary(out, *v.dictionary);
    case type::closure:
      return out.put("fn");
  }
}

void put_inner(sink& out, const value& v) {
  if (v.is == type::string) out.put("\"");
  put_value(out, v);
  if (v.is == type::string) out.put("\"");
}

}  // namespace

text* written(region& r, const value& v) {
  sink counted(nullptr);
  put_value(counted, v);
  text* const made = make_text(r, counted.length());
  sink out(made->characters());
  put_value(out, v);
  return made;
}

}  // namespace mallard::programs
