#include "journal/binary/binary_source.hpp"

#include <algorithm>

#include "journal/binary/section.hpp"
#include "journal/events/metadata.hpp"

namespace mallard::journal {
namespace {

constexpr std::size_t max_warnings = 16;
constexpr std::uint32_t max_threads = std::uint32_t{1} << 22;

std::string events_lost(const section_header& header) {
  if (header.type != sections::events) return {};
  return ", " + std::to_string(header.rows) + " events are lost";
}

bool is_section(byte_span bytes) { return parse_section_header(bytes).has_value(); }

}  // namespace

binary_source::binary_source(input from, std::string cut_off)
    : from_(std::move(from)), cut_off_(std::move(cut_off)) {
  constexpr std::size_t enough_for_any_header = 4096;
  from_.consume(check_file_header(from_.peek(enough_for_any_header)));
}

bool binary_source::next(event_batch& batch) {
  while (!ended_) {
    const byte_span head = from_.peek(section_header_size);
    if (head.empty()) break;
    const std::uint64_t start = from_.position();
    const auto header = parse_section_header(head);
    if (!header) {
      skip_to_section();
      continue;
    }
    const std::size_t whole = section_header_size + static_cast<std::size_t>(header->stored_size);
    const byte_span section = from_.peek(whole);
    const std::string place = "the section at byte " + std::to_string(start);
    if (section.size() < whole) {
      damage(place + " is cut off" + events_lost(*header));
      lose_events(*header);
      from_.consume(section.size());
      break;
    }
    const byte_span payload = section.subspan(section_header_size);
    if (checksum(payload) != header->payload_checksum) {
      damage(place + " is damaged" + events_lost(*header));
      lose_events(*header);
      // Its size can be trusted unless bytes are missing or added: then the search starts inside it.
      const byte_span behind = from_.peek(whole + section_header_size).subspan(whole);
      from_.consume(behind.empty() || is_section(behind) ? whole : section_header_size);
      continue;
    }
    bool delivered = false;
    try {
      delivered = take(*header, payload, batch);
    } catch (const malformed& reason) {
      damage(place + " cannot be used: " + reason.what() + events_lost(*header));
      lose_events(*header);
    }
    from_.consume(whole);
    if (delivered) return true;
  }
  finish();
  batch.resize(0);
  return false;
}

// Events that are lost keep their numbers.
void binary_source::lose_events(const section_header& header) {
  if (header.type == sections::events) passed_ += header.rows;
}

// Takes in one intact section; true if it filled `batch`. Throws malformed.
bool binary_source::take(const section_header& header, byte_span payload, event_batch& batch) {
  if (header.type == sections::metadata) {
    merge_metadata(about_, {reinterpret_cast<const char*>(payload.data()), payload.size()});
    return false;
  }
  const auto receiver = receivers_.find(header.type);
  const bool wanted = header.type == sections::events || header.type == sections::end ||
                      collected_tables::holds(header.type) || receiver != receivers_.end();
  if (!wanted) return false;
  decoder_.open(payload, header.rows);
  if (header.type == sections::events) {
    take_events(header, batch);
    return header.rows > 0;
  }
  if (header.type == sections::end) {
    take_end();
  } else {
    const table rows = decoder_.decode(header.type);
    if (collected_tables::holds(header.type))
      tables_.take(rows);
    else
      receiver->second(rows);
  }
  return false;
}

// Decodes a chunk of events, and makes sure that all it refers to exists.
void binary_source::take_events(const section_header& header, event_batch& batch) {
  decode_events(decoder_, header.rows, batch);
  batch.first = passed_;
  if (header.rows == 0) return;
  const std::uint32_t thread = *std::max_element(batch.thread.begin(), batch.thread.end());
  if (thread >= max_threads) throw malformed("a thread's index in it is too large");
  if (thread >= tables_.get().threads.size()) tables_.cover_thread(thread);
  const std::size_t contexts = tables_.get().contexts.size();
  if (*std::max_element(batch.context.begin(), batch.context.end()) >= contexts) {
    for (std::uint32_t& context : batch.context) {
      if (context < contexts) continue;
      context = 0;
      ++orphaned_;
    }
  }
  events_ += header.rows;
  passed_ += header.rows;
}

void binary_source::take_end() {
  const table totals = decoder_.decode(sections::end);
  has_end_ = true;
  ended_ = true;
  if (const auto* counts = totals.numbers(static_cast<std::uint16_t>(end_column::events))) {
    for (const std::uint64_t count : *counts) expected_ += count;
  }
}

// From a place where no intact section starts to the next where one does, or to the end.
void binary_source::skip_to_section() {
  const std::uint64_t start = from_.position();
  for (;;) {
    constexpr std::size_t window = std::size_t{1} << 16;
    const byte_span ahead = from_.peek(window);
    if (ahead.size() < section_header_size) {
      from_.consume(ahead.size());
      break;
    }
    auto at = ahead.begin() + (from_.position() == start ? 1 : 0);
    const auto last = ahead.end() - (section_header_size - 1);
    while (at != last) {
      at = std::find(at, last, section_marker.front());
      if (at == last || is_section(ahead.subspan(static_cast<std::size_t>(at - ahead.begin())))) break;
      ++at;
    }
    from_.consume(static_cast<std::size_t>(at - ahead.begin()));
    if (at != last) break;
  }
  damage(std::to_string(from_.position() - start) + " bytes from byte " + std::to_string(start) +
         " on are damaged");
}

// Says once what is wrong with the journal as a whole.
void binary_source::finish() {
  if (finished_) return;
  finished_ = true;
  ended_ = true;
  if (const std::string defect = from_.defect(); !defect.empty()) damage(defect);
  for (const char* fact : {incomplete_fact, unseen_fact})
    if (const auto told = about_.facts.find(fact); told != about_.facts.end())
      warnings_.push_back(told->second);
  if (orphaned_ > 0) damage("the contexts of " + std::to_string(orphaned_) + " events are lost");
  if (!has_end_) {
    if (!cut_off_.empty()) warnings_.push_back(cut_off_);
    return;
  }
  if (expected_ != events_) {
    damage("the recording wrote " + std::to_string(expected_) + " events, " + std::to_string(events_) +
           " can be read");
  }
  if (!from_.peek(1).empty()) damage("what stands behind the end of the journal is ignored");
}

void binary_source::damage(std::string line) {
  damaged_ = true;
  if (warnings_.size() < max_warnings) {
    warnings_.push_back(std::move(line));
  } else if (warnings_.size() == max_warnings) {
    warnings_.emplace_back("there is more damage than is listed here");
  }
}

}  // namespace mallard::journal
