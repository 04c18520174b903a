// metadata_json: a description of the process to and from the JSON of a "meta" section.
#pragma once

#include <string>
#include <string_view>

#include "journal/metadata.hpp"

namespace mallard::journal {

// One JSON object, without what is unknown. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string metadata_to_json(const metadata& about);

// Adds what `text` says to `about`, overriding what both say; members it does not know are skipped.
// Throws malformed.
void merge_metadata(metadata& about, std::string_view text);

}  // namespace mallard::journal
