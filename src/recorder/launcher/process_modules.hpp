// The executable modules in a running process's map, as the kernel tells them.
//
// The program lists its modules itself when recording begins and when it exits; this is for what it
// loads in between, should it never come to exit. Reads /proc and the head of each module's file.
#pragma once

#include <sys/types.h>

#include <vector>

#include "journal/tables.hpp"

namespace mallard::recorder {

// Without times; empty if the process is gone.
[[nodiscard]] std::vector<journal::module_info> read_process_modules(pid_t process);

// What the module's file says about itself: the address it is linked for, as a bias, and its build id.
// Leaves both as they are where the file is no ELF file of this machine's word size.
void read_module_file(journal::module_info& module);

}  // namespace mallard::recorder
