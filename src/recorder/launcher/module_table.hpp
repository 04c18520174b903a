// module_table: the program's modules, from the list it keeps in the spool into the journal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>

#include "journal/writer.hpp"
#include "recorder/spool.hpp"

namespace mallard::recorder {

class module_table {
 public:
  // `program` is the path of the main module, which does not know its own.
  module_table(spool_header* spool, journal::writer& out, std::string program);

  // Adds what the program has listed since the last time.
  void update();

 private:
  spool_header* spool_;
  journal::writer* out_;
  std::string program_;
  std::size_t read_ = 0;  // bytes of the list
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::string>> known_;
};

}  // namespace mallard::recorder
