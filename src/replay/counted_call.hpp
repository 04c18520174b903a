// counted_call: calls something inside a function that callgrind knows by name.
//
// valgrind --tool=callgrind --toggle-collect=mallard_replay_counted counts exactly what runs between
// its entry and its return.
#pragma once

extern "C" void mallard_replay_counted(void (*call)(void*), void* argument);

namespace mallard::replay {

template <class F>
void counted_call(F f) {
  mallard_replay_counted([](void* argument) { (*static_cast<F*>(argument))(); }, &f);
}

}  // namespace mallard::replay
