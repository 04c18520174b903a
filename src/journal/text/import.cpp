#include "journal/text/import.hpp"

#include <memory>
#include <system_error>

#include "journal/binary/writer.hpp"
#include "journal/bytes/file.hpp"
#include "journal/events/event_source.hpp"
#include "journal/text/csapp_source.hpp"
#include "journal/text/text_form.hpp"

namespace mallard::journal {
namespace {

std::unique_ptr<event_source> open_as(import_form form, const std::filesystem::path& path) {
  input from = unpacked(input(open_file(path)));
  if (from.peek(1).empty()) throw error(from.defect().empty() ? "it is empty" : from.defect());
  if (form == import_form::csapp) return std::make_unique<csapp_source>(std::move(from));
  return std::make_unique<text_source>(std::move(from));
}

void append(const event_batch& batch, writer& out) {
  for (std::size_t row = 0; row < batch.count(); ++row) {
    out.append({.kind = batch.kind[row],
                .thread = batch.thread[row],
                .time = batch.time[row],
                .address = batch.address[row],
                .size = batch.size[row],
                .old_address = batch.old_address[row]});
  }
}

void copy(event_source& from, writer& out, const std::function<void(double)>& heard) {
  std::size_t threads = 0;
  event_batch batch;
  while (from.next(batch)) {
    const std::vector<thread_info>& known = from.tables().threads;
    for (; threads < known.size(); ++threads) static_cast<void>(out.add_thread(known[threads]));
    append(batch, out);
    if (heard) heard(from.progress());
  }
}

}  // namespace

imported import_journal(const std::filesystem::path& source, import_form form,
                        const std::filesystem::path& to, const std::function<void(double)>& heard) {
  const std::unique_ptr<event_source> from = open_as(form, source);
  metadata about = from->about();
  about.facts["imported_from"] = source.filename().string();
  writer out(to);
  try {
    out.describe(about);
    copy(*from, out, heard);
    if (from->complete()) {
      out.finish();
    } else {
      out.flush();
    }
  } catch (...) {
    std::error_code gone_already;
    if (std::filesystem::is_regular_file(to, gone_already)) std::filesystem::remove(to, gone_already);
    throw;
  }
  return {.events = out.events(), .warnings = from->warnings()};
}

}  // namespace mallard::journal
