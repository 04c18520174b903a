#include "harness/progress.hpp"

#include <unistd.h>

#include <cstdio>

namespace mallard::harness {

progress::progress() : on_terminal_(::isatty(STDERR_FILENO) == 1) {}

progress::~progress() { clear(); }

void progress::show(const std::string& line) {
  if (!on_terminal_) return;
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
  shown_ = true;
}

void progress::clear() {
  if (!shown_) return;
  std::fputs("\r\033[K", stderr);
  shown_ = false;
}

}  // namespace mallard::harness
