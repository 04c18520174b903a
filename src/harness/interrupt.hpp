// Ctrl-C as a question: long measurements ask interrupted() between workers and then end in order,
// with what they have. A second Ctrl-C ends the process at once.
#pragma once

namespace mallard::harness {

void watch_for_interrupt();

[[nodiscard]] bool interrupted() noexcept;

}  // namespace mallard::harness
