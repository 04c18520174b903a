// Any bytes at all, as a spool, with and without a journal beside it: an error or events, never anything
// else.
//
//     input   [header | three ring headers | modules | names | contexts | words of rings 0, 1 and 2 |
//     journal]
//
// A spool is large and mostly empty, so the input holds only the parts that mean something; the rest of the
// file stays zero. The magic and the options are made right, or nothing else would be reached; the
// number of contexts is kept small, or most of the time would go into reading zeros.
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "journal/drain/memory_spool.hpp"
#include "journal/open.hpp"
#include "profile/summary.hpp"

namespace mallard::journal {
namespace {

class files {
 public:
  files() : journal_((std::filesystem::temp_directory_path() / "mallard-fuzz-XXXXXX").string()) {
    file_ = ::mkstemp(journal_.data());
    spool_ = ::open(spool_path().c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file_ < 0 || spool_ < 0 ||
        ftruncate(spool_, static_cast<off_t>(spool_bytes(spool_parts::options))) != 0)
      std::abort();
  }
  ~files() {
    ::close(file_);
    ::close(spool_);
    ::unlink(journal_.c_str());
    ::unlink(spool_path().c_str());
  }
  files(const files&) = delete;
  files& operator=(const files&) = delete;

  void fill(std::string_view input) {
    std::string header(input.substr(0, sizeof(spool_header)));
    header.resize(sizeof(spool_header));
    for (const spool_parts::part& p : spool_parts::all()) {
      std::string bytes(input.substr(0, p.size));
      input.remove_prefix(bytes.size());
      bytes.resize(p.size);
      write(spool_, bytes, p.at);
    }
    std::uint32_t contexts = 0;
    std::memcpy(&contexts, &header[offsetof(spool_header, contexts_used)], sizeof contexts);
    contexts %= 64;
    write(spool_, {reinterpret_cast<const char*>(&contexts), sizeof contexts},
          offsetof(spool_header, contexts_used));
    const std::uint64_t magic = spool_magic;
    write(spool_, {reinterpret_cast<const char*>(&magic), sizeof magic}, 0);
    const spool_options options = spool_parts::options;
    write(spool_, {reinterpret_cast<const char*>(&options), sizeof options}, offsetof(spool_header, options));
    if (ftruncate(file_, 0) != 0) std::abort();
    write(file_, input, 0);
  }

  [[nodiscard]] const std::string& journal_path() const noexcept { return journal_; }
  [[nodiscard]] std::string spool_path() const { return journal_ + spool_suffix; }

 private:
  static void write(int file, std::string_view bytes, std::size_t at) {
    if (pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(at)) !=
        static_cast<ssize_t>(bytes.size()))
      std::abort();
  }

  std::string journal_;
  int file_;
  int spool_;
};

void read(const std::string& path) {
  try {
    const auto source = open(path);
    event_batch batch;
    while (source->next(batch)) {
      const process_tables& known = source->tables();
      for (std::size_t row = 0; row < batch.count(); ++row) {
        if (batch.thread[row] >= known.threads.size()) std::abort();
        if (batch.context[row] >= known.contexts.size()) std::abort();
        if (row > 0 && source->recovered() != 0 && batch.time[row] < batch.time[row - 1]) std::abort();
      }
    }
    const process_tables& known = source->tables();
    for (std::size_t i = 1; i < known.contexts.size(); ++i) {
      if (known.contexts[i].parent >= i || known.contexts[i].name >= known.names.size()) std::abort();
    }
    if (to_json(profile::summarize(path)).empty()) std::abort();
  } catch (const error& reason) {
    if (reason.what()[0] == '\0') std::abort();
  }
}

}  // namespace
}  // namespace mallard::journal

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static mallard::journal::files files;
  files.fill({reinterpret_cast<const char*>(data), size});
  mallard::journal::read(files.journal_path());
  mallard::journal::read(files.spool_path());
  return 0;
}
