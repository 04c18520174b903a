// shortfall: what a recording lacks of its program's run, in one line for the user and for the journal.
#pragma once

#include <optional>
#include <string>

#include "journal/spool/spool.hpp"
#include "recorder/launcher/child.hpp"

namespace mallard::recorder {

// By the spool as the program has left it; `end` is empty if it is not known how the program ended. Empty if
// the recording lacks nothing.
[[nodiscard]] std::string find_shortfall(const journal::spool_header& spool,
                                         const std::optional<ending>& end);

// Which part of the program allocates past the recorder, as the spool knows it so far. Empty if none does.
[[nodiscard]] std::string find_unseen(journal::spool_header& spool);

}  // namespace mallard::recorder
