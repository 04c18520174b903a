// process_modules: the executable modules in the kernel's map of a running process.
//
// The program lists its modules itself when recording begins and when it exits; this is for what it
// loads in between, in case it is killed. Reads /proc and the head of each module's file.
#pragma once

#include <sys/types.h>

#include <vector>

#include "journal/events/process_tables.hpp"

namespace mallard::recorder {

// Without times; empty if the process is gone.
[[nodiscard]] std::vector<journal::module_info> read_process_modules(pid_t process);

// Reads the module's bias, from the address that its file is linked for, and its build id. Leaves both as
// they are if the file is no ELF file of this machine's word size.
void read_module_file(journal::module_info& module);

}  // namespace mallard::recorder
