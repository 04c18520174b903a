// lent_environment: the passed environment as the process's own, for as long as the object lives.
//
//     environ --> the user's          environ --> passed, one of the process's, kept and used again
//
// For popen, which hands on the process's environment and takes no other. Other threads that look at theirs
// meanwhile see it, too; what one of them changes stays changed. One thread at a time has it.
#pragma once

namespace mallard::recorder {

class lent_environment {
 public:
  lent_environment() noexcept;
  ~lent_environment() noexcept;
  lent_environment(const lent_environment&) = delete;
  lent_environment& operator=(const lent_environment&) = delete;
};

// In a forked child: what another thread of the parent had lent is over.
void take_lent_environment_back() noexcept;

}  // namespace mallard::recorder
