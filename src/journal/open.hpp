// open: a journal in any of its forms, recognised by its first bytes and not by its name: binary, text,
// CS:APP, or any of them as .xz.
#pragma once

#include <filesystem>
#include <memory>

#include "journal/bytes/file.hpp"
#include "journal/events/event_source.hpp"

namespace mallard::journal {

// Opens the journal at `path`. Where its recording was cut off or is going on, PATH.spool lies beside it:
// what is there is read after the journal's own events. The journal may be missing then, or `path` may be the
// spool's.
[[nodiscard]] std::unique_ptr<event_source> open(const std::filesystem::path& path);

// The journal in these bytes, without a spool.
[[nodiscard]] std::unique_ptr<event_source> open(input from);

}  // namespace mallard::journal
