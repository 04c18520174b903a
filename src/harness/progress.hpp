// progress: one line on a terminal's standard error that says what is being done; silent where
// standard error is not a terminal.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace mallard::harness {

class progress {
 public:
  progress() = default;
  ~progress() { clear(); }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  // Replaces the line.
  void show(const std::string& line) {
    if (!on_terminal_) return;
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    shown_ = true;
  }

  // Takes the line away, before something else is printed.
  void clear() {
    if (!shown_) return;
    std::fputs("\r\033[K", stderr);
    shown_ = false;
  }

 private:
  bool on_terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
};

}  // namespace mallard::harness
