// lent_environment: makes the passed environment the process's own for the lifetime of the object.
//
//     environ --> the user's          environ --> passed, one of the process's, kept and used again
//
// For popen, which takes no environment but passes on the process's. Other threads see it meanwhile as well;
// what they change stays changed. One thread at a time has it.
#pragma once

namespace mallard::recorder {

class lent_environment {
 public:
  lent_environment() noexcept;
  ~lent_environment() noexcept;
  lent_environment(const lent_environment&) = delete;
  lent_environment& operator=(const lent_environment&) = delete;
};

// In a forked child: ends the loan that another thread of the parent had.
void take_lent_environment_back() noexcept;

}  // namespace mallard::recorder
