// What a spool says of its process: of a child its folder, its program and its arguments, too, which stand
// in front of the names; of the root they stand in the journal alone.
#pragma once

#include "journal/events/metadata.hpp"
#include "journal/spool/spool.hpp"

namespace mallard::journal {

[[nodiscard]] metadata describe_process(spool_header* spool);

}  // namespace mallard::journal
