// progress: one line on a terminal's standard error that says what is being done; silent where
// standard error is not a terminal.
#pragma once

#include <string>

namespace mallard::harness {

class progress {
 public:
  progress();
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  // Replaces the line.
  void show(const std::string& line);

  // Takes the line away, before something else is printed.
  void clear();

 private:
  bool on_terminal_;
  bool shown_ = false;
};

}  // namespace mallard::harness
