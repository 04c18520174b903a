// A module of one function, compiled twice: alike but for the size of its frame.
void one_frame(void (*inner)(char*));

void one_frame(void (*inner)(char*)) {
  char room[MALLARD_ROOM];
  inner(room);
  __asm__ volatile("" : : "r"(room) : "memory");
}
